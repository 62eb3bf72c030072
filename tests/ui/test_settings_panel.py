import pytest

from sssd_demo.errors import UserError
from sssd_demo.service import Settings
from sssd_demo.ui.settings_panel import settings_from


def test_untouched_controls_give_the_services_defaults():
    assert settings_from() == Settings()


def test_values_of_controls_become_settings():
    settings = settings_from("prompt-lookup", "8", "base", 0.7, 40.0, 0.9, 100.0, 3.0)
    assert settings == Settings("prompt-lookup", 100, 0.7, 40, 0.9, 3, 8, "base")


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
    ],
)
def test_what_is_out_of_range_is_refused(wrong: dict):
    with pytest.raises(UserError):
        settings_from(**wrong)
