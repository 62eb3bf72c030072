"""Languages: what is asked, how tokens and milliseconds become those of a character, what is refused."""

import pytest

from sssd_demo.errors import UserError
from sssd_demo.experiments.language_prompts import FIRST_LANGUAGE, LANGUAGE_PROMPTS
from sssd_demo.experiments.languages import NOTES, Budget, run
from tests.experiments.fakes import ExperimentService, as_service

PROMPTS = {
    "English": ("one two three four five six", "seven eight nine ten eleven", "never asked"),
    "Greek": ("ένα δύο τρία τέσσερα πέντε", "έξι επτά οκτώ εννέα δέκα", "ποτέ"),
    "Never": ("asked either", "nor this"),
}


def measured(service, store="mine", max_new_tokens=100):
    budget = Budget(languages=2, questions=2, max_new_tokens=max_new_tokens, repeats=1)
    return run(as_service(service), PROMPTS, store=store, budget=budget, s_q=8, tell=lambda line: None)


def test_every_language_says_the_same_as_often():
    assert next(iter(LANGUAGE_PROMPTS)) == FIRST_LANGUAGE
    assert {len(prompts) for prompts in LANGUAGE_PROMPTS.values()} == {12}
    assert all(len(set(prompts)) == 12 for prompts in LANGUAGE_PROMPTS.values())


def test_each_question_of_the_budget_is_asked_with_and_without_drafts():
    service = ExperimentService()
    measured(service)
    asked = {(prompt, settings.method) for prompt, settings, _ in service.asked[2:]}  # after a warm-up of each
    chosen = [*PROMPTS["English"][:2], *PROMPTS["Greek"][:2]]
    assert asked == {(prompt, method) for prompt in chosen for method in ("autoregressive", "sssd")}
    assert {settings.datastore for _, settings, _ in service.asked if settings.method == "sssd"} == {"mine"}


def test_milliseconds_and_tokens_are_those_of_a_character():
    waiting, tokens, _ = measured(ExperimentService())
    plain, drafted = waiting.series
    # A forward takes 10 ms and gives one byte, or two with a draft; a Greek letter is two bytes.
    assert waiting.kind == tokens.kind == "bar"
    assert plain.x == ("English", "Greek")
    assert plain.y[0] == pytest.approx(10, rel=0.1)
    assert plain.y[1] == pytest.approx(20, rel=0.15)
    for before, after in zip(plain.y, drafted.y, strict=True):
        assert after == pytest.approx(before / 2, rel=0.1)
    questions, answers = tokens.series
    greek = "".join(PROMPTS["Greek"][:2])
    assert questions.y == (1, len(greek.encode()) / len(greek))
    assert answers.y == pytest.approx(questions.y)
    assert "times as many in Greek" in tokens.verdict
    assert f"{drafted.y[1]:.1f} ms a character in Greek instead of {plain.y[1]:.1f}" in waiting.verdict


def test_a_model_that_is_weak_in_other_languages_is_said_to_be():
    service = ExperimentService()
    assert "note" not in measured(service)[0].settings
    service.model.name = "smollm2-135m"
    figure = measured(service)[0]
    assert figure.settings["note"] == NOTES["smollm2-135m"]
    assert NOTES["smollm2-135m"] in figure.verdict


def test_the_second_languages_growth_is_measured_too():
    growth = measured(ExperimentService())[2]
    assert [series.name for series in growth.series] == ["Greek, after an English store", "Greek alone"]
    assert growth.settings["store"] == "mine"


def test_answers_too_short_to_be_drafted_again_leave_out_the_growth_alone():
    figures = measured(ExperimentService(), max_new_tokens=19)
    assert [figure.experiment for figure in figures] == ["languages", "languages-tokens"]


def test_what_would_mean_nothing_is_refused():
    with pytest.raises(UserError, match="no datastore 'gone'"):
        measured(ExperimentService(), store="gone")
    with pytest.raises(UserError, match="mine holds 13 tokens in a row of question 2"):
        measured(ExperimentService([PROMPTS["English"][1].encode()]))
    with pytest.raises(UserError, match="No answer in English was long enough to be timed"):
        measured(ExperimentService(), max_new_tokens=1)
