"""What is measured on must be new to the stores that it is measured with (see `contamination.py`).

A store of which nothing but the text is known is refused. Of recorded answers the questions are known too, so those
that are related to what is held out are left out of a store before it is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sssd_demo.bench.contamination import check_answer, check_question, holds_answer, holds_question
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.drafter import Store
from sssd_demo.sssd.recorded_answers import RecordedAnswer


def check_held_out(answers: Sequence[RecordedAnswer], store: Store, name: str, of: str = "") -> None:
    """Raises `UserError` if the store `name` knows an answer or the question to it.

    A question is named by its number and, where there may be several sets of them, by what it is one `of`.
    """

    def count(query: Sequence[int]) -> int:
        return occurrences(store, query)

    for number, answer in enumerate(answers, start=1):
        check_question(f"{number}{of}", answer.prompt, count, name)
        # Its last token may be the end of text, which the store need not have.
        check_answer(f"{number}{of}", answer.output[:-1], count, name)


def unrelated(others: Sequence[RecordedAnswer], held_out: Sequence[RecordedAnswer]) -> list[RecordedAnswer]:
    """`others` without those that have the same prompt as one of `held_out`, or a part of its question or answer.

    Who was asked something else but repeats a part of the question in the answer is left out as well. How long a part
    counts, `contamination.py` says; the template, which all prompts share, is no part of a question.
    """
    questions = questions_of([*others, *held_out])
    asked, held = questions[: len(others)], questions[len(others) :]
    known_questions = _indexed(held)
    known_answers = _indexed(answer.output for answer in held_out)
    prompts = {answer.prompt for answer in held_out if answer.prompt}
    return [
        answer
        for answer, question in zip(others, asked, strict=True)
        if answer.prompt not in prompts
        and not holds_question(question, known_questions.count)
        and not holds_question(answer.output, known_questions.count)
        and not holds_answer(answer.output, known_answers.count)
    ]


def questions_of(answers: Sequence[RecordedAnswer]) -> list[Sequence[int]]:
    """The prompts without what all of them share at their beginning and end, which is the template's."""
    if not answers:
        return []
    prompts = [answer.prompt for answer in answers]
    shortest, longest = min(prompts), max(prompts)  # of sorted sequences, the first and last share the least
    before = _common(shortest, longest)
    backwards = [prompt[::-1] for prompt in prompts]
    after = _common(min(backwards), max(backwards))
    return [prompt[before : max(before, len(prompt) - after)] for prompt in prompts]


def occurrences(store: Store, query: Sequence[int]) -> int:
    """How often `store` holds `query`."""
    return sum(len(sub_index.find(query)) for sub_index in store.sub_indices)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Length of the longest beginning that both share."""
    differ = (n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    return next(differ, min(len(one), len(other)))


def _indexed(texts: Iterable[Sequence[int]]) -> Datastore:
    documents = [text for text in texts if text]
    highest = max((max(document) for document in documents), default=0)
    return Datastore.build(documents, fingerprint="", vocab_size=highest + 1)
