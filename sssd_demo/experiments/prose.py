"""Real text that every Python brings along: the language's own documentation, as prose that no model wrote."""

from __future__ import annotations

from pydoc_data.topics import topics


def python_documentation() -> list[str]:
    """One text a topic, by the topics' names: some 80 texts, 450,000 characters."""
    return [topics[name] for name in sorted(topics)]
