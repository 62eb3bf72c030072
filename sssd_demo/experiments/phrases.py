"""Numbers as parts of a sentence, so that a verdict says what was found and not what was hoped for."""

from __future__ import annotations


def moved(before: float, after: float) -> str:
    """ "rose from 1.90 to 2.31", "fell from … to …", or "stayed at 1.90"."""
    first, last = f"{before:.2f}", f"{after:.2f}"
    if first == last:
        return f"stayed at {first}"
    return f"{'rose' if after > before else 'fell'} from {first} to {last}"


def compared(value: float, other: float) -> str:
    """ "35 % more than", "12 % less than" or "as much as" the other."""
    if other <= 0:
        return "as much as" if value <= 0 else f"more ({value:.2f} against {other:.2f}) than"
    percent = round(100 * (value / other - 1))
    if percent == 0:
        return "as much as"
    return f"{abs(percent)} % {'more' if percent > 0 else 'less'} than"


def listed(parts: list[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
