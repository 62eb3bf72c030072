"""Questions and answers that are measured on, kept apart from the stores."""

import pytest

from sssd_demo.errors import UserError
from sssd_demo.experiments.held_out import check_held_out, questions_of, unrelated
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from tests.experiments.toy_answers import VOCABULARY, fresh, phrased

SYSTEM = tuple(range(900, 930))  # a template longer than what counts as shared


def store(documents):
    return Datastore.build(documents, fingerprint="f", vocab_size=VOCABULARY)


def asked(question, output):
    return RecordedAnswer((*SYSTEM, *question, 8, 9), tuple(output))


HELD_OUT = [asked(range(500, 520), range(600, 640)), asked((7, 7), range(700, 760))]


def test_who_was_asked_the_same_is_left_out_however_the_answer_begins():
    same_question = asked(range(500, 520), range(2000, 2040))
    part_of_it = asked((1, *range(503, 516), 2), range(2040, 2080))
    same_short_question = asked((7, 7), range(2080, 2120))
    assert unrelated([same_question, part_of_it, same_short_question], HELD_OUT) == []


def test_who_repeats_the_question_in_an_answer_to_another_is_left_out():
    assert unrelated([asked((1,), (*range(2000, 2030), *range(503, 516)))], HELD_OUT) == []


def test_who_answered_the_same_is_left_out_even_if_it_differs_in_its_first_word():
    assert unrelated([asked((1,), (5, *range(601, 640)))], HELD_OUT) == []
    assert unrelated([asked((1,), (*range(2000, 2050), *range(710, 742)))], HELD_OUT) == []


def test_a_shared_template_and_turns_of_phrase_are_no_relation():
    others = [
        asked((1, *range(503, 515), 2), range(2000, 2040)),  # 12 tokens of a question
        asked((2, 3), (*range(2040, 2050), *range(710, 741))),  # 31 of an answer
        asked((7, 7, 7), range(2050, 2090)),
    ]
    assert unrelated(others, HELD_OUT) == others
    assert unrelated(others, HELD_OUT[:1]) == others  # a single prompt has a template too


def test_answers_whose_questions_are_not_known_are_judged_by_their_text():
    unknown = [RecordedAnswer((), answer.output) for answer in fresh(2)]
    assert unrelated(unknown, [RecordedAnswer((), tuple(range(50)))]) == unknown
    assert unrelated(unknown, fresh(1)) == unknown[1:]
    assert unrelated(unknown, []) == unknown
    assert unrelated([], []) == []


def test_questions_are_prompts_without_what_all_of_them_share():
    prompts = [(1, 2, 50, 51, 9), (1, 2, 60, 9), (1, 2, 50, 70, 71, 9)]
    answers = [RecordedAnswer(prompt, (5,)) for prompt in prompts]
    assert questions_of(answers) == [(50, 51), (60,), (50, 70, 71)]
    assert questions_of(answers[:1]) == [()]


def test_a_store_that_knows_an_answer_or_its_question_is_refused():
    asked = RecordedAnswer(tuple(range(500, 520)), tuple(range(600, 640)))
    check_held_out([asked], store([range(600, 612), range(500, 512)]), "fine")
    with pytest.raises(UserError, match="known holds an answer to question 2"):
        check_held_out([*phrased(1), asked], store([asked.output]), "known")
    with pytest.raises(UserError, match="known holds 13 tokens in a row of question 1 of answers"):
        check_held_out([asked], store([asked.prompt]), "known", " of answers")
    short = RecordedAnswer((), (*range(600, 620), 0))  # 0 is the end of text, which a store of prose has not
    with pytest.raises(UserError, match="known holds an answer to question 1"):
        check_held_out([short], store([range(590, 640)]), "known")
