"""What a growing store's view says of the figures."""

from sssd_demo.sssd.growth import WINDOW, Conversation
from sssd_demo.sssd.replay import Yielded
from sssd_demo.ui.growth_value import counts, growth_value, verdict


def conversation(both: int, prompt: int = 10) -> Conversation:
    """Ten forwards with these many tokens."""
    return Conversation(0, 0, Yielded(both, 10), Yielded(prompt, 10), Yielded(10, 10), 0.1)


def test_the_verdict_is_computed_and_waits_for_a_full_window():
    assert verdict(()) == ""
    assert "Too early" in verdict((conversation(20),))
    assert "worth +0.50" in verdict((conversation(20, 15),) * WINDOW)
    assert "worth \N{MINUS SIGN}0.10" in verdict((conversation(14, 15),) * WINDOW)
    assert "no difference" in verdict((conversation(15, 15),) * WINDOW)


def test_what_the_store_adds_is_a_figure_of_its_own():
    shown = [number for number, label in counts((conversation(20, 15),)) if "the store adds" in label]
    assert shown == ["+0.50"]
    assert [number for number, label in counts(()) if "the store adds" in label] == ["–"]


def test_before_a_run_the_view_says_what_would_happen():
    value = growth_value(None, planned=200, longest=64)
    assert value["phase"] == "idle"
    assert "200 prompts" in value["now"]
    assert value["curve"]["x"] == []
