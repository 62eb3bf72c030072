from typing import cast

import pytest

from sssd_demo.errors import UserError
from sssd_demo.service import Service, Settings
from sssd_demo.ui.settings_panel import choices, for_method, settings_from, text_title
from sssd_demo.ui.words import WORDS
from tests.ui.fakes import FakeService


def test_untouched_controls_give_the_services_defaults():
    assert settings_from() == Settings()


def test_values_of_controls_become_settings():
    settings = settings_from("prompt-lookup", "8", "base", 0.7, 40.0, 0.9, 100.0, 3.0)
    assert settings == Settings("prompt-lookup", 100, 0.7, 40, 0.9, 3, 8, "base", share=False)
    assert settings_from(share=True) == Settings(share=True)


def test_controls_of_a_draft_model_become_settings():
    settings = settings_from("speculative", k="4", rule="block", draft_temperature="0.7")
    assert settings == Settings("speculative", k=4, rule="block", draft_temperature=0.7)
    for blank in (None, "", "  "):
        assert settings_from(draft_temperature=blank).draft_temperature is None
    assert settings_from(draft_temperature=0.0).draft_temperature == 0.0
    assert settings_from(k=None, rule=None) == settings_from(k="auto", rule="chain") == Settings()


def test_only_a_method_that_drafts_with_a_model_shows_what_such_a_one_goes_by():
    visible = [[update["visible"] for update in for_method(method)] for method in ("sssd", "speculative", None)]
    assert visible == [[True, True, False, False, False, False], [False, False, True, True, True, True], visible[0]]
    assert for_method("speculative")[0]["value"] == "auto"  # a length that is not seen does not bind


def test_hierarchical_is_refused_with_the_name_of_what_it_is_when_exact():
    with pytest.raises(UserError, match="block"):
        settings_from(rule="hierarchical")


def test_the_base_store_is_chosen_where_this_model_can_use_it(monkeypatch):
    service = FakeService()
    _, store = choices(cast(Service, service))
    assert store["value"] == "base"
    monkeypatch.setattr(service, "store_names", lambda: ["mine"])
    assert choices(cast(Service, service))[1]["value"] == "none"

    def refuse(name: str) -> None:
        raise UserError("made for another tokenizer")

    monkeypatch.undo()
    monkeypatch.setattr(service.stores, "open", refuse)
    assert choices(cast(Service, service))[1]["value"] == "none"


def test_every_choice_of_where_text_goes_has_its_own_title():
    titles = {text_title(remember, share) for remember in (True, False) for share in (True, False)}
    assert len(titles) == 4
    assert WORDS["text.title.kept.not_shared"] in titles


@pytest.mark.parametrize(
    "wrong",
    [
        {"s_q": "many"},
        {"s_q": "0"},
        {"temperature": None},
        {"temperature": 5},
        {"top_k": 1.5},
        {"top_p": 0},
        {"max_tokens": 0},
        {"max_tokens": 5000},
        {"seed": -1},
        {"seed": float("inf")},
        {"k": "0"},
        {"k": 17},
        {"k": "some"},
        {"rule": "kindly"},
        {"draft_temperature": "warm"},
        {"draft_temperature": 3},
    ],
)
def test_what_is_out_of_range_is_refused(wrong: dict):
    with pytest.raises(UserError):
        settings_from(**wrong)
