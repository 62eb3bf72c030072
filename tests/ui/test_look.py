"""Colours, words and scripts belong together."""

import re
from pathlib import Path
from typing import get_args

from sssd_demo.trace import Fate, Source
from sssd_demo.ui import words
from sssd_demo.ui.components import SCRIPTS, STATIC, STYLES, script_head
from sssd_demo.ui.palette import COLOURS, Shade, css_variables
from sssd_demo.ui.words import WORDS, browser_words

WORDS_FILES = list(Path(words.__file__).parent.glob("words*.py"))


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_can_be_read_on_its_background_in_both_themes():
    def check(text: Shade, ground: Shade, least: float) -> None:
        assert contrast(text.light, ground.light) >= least
        assert contrast(text.dark, ground.dark) >= least

    for name in ("accepted", "bonus", "rejected", "plain"):
        check(COLOURS[name], COLOURS["panel"], 5.5)
    for name in ("quiet", "ignored"):
        check(COLOURS[name], COLOURS["page"], 4.5)


def test_every_colour_that_the_style_sheets_use_is_in_the_palette():
    used = set(re.findall(r"var\(--c-([a-z-]+)\)", "".join((STATIC / name).read_text() for name in STYLES)))
    assert used <= set(COLOURS)
    assert all(f"--c-{name}:" in css_variables() for name in used)


def test_every_word_that_a_script_asks_for_exists():
    for name in SCRIPTS:
        asked = re.findall(r'words\["([a-z_.]+)"\]', (STATIC / name).read_text())
        assert set(asked) <= set(browser_words()), name


def test_fates_and_sources_have_words():
    for fate in (*get_args(Fate), "bonus", "plain"):
        assert {f"fate.{fate}.name", f"fate.{fate}.rule"} <= set(WORDS)
    for source in get_args(Source):
        assert f"source.{source}" in WORDS


def test_no_text_is_written_in_two_places():
    keys = re.findall(r'^    "([^"]+)":', "".join(path.read_text() for path in WORDS_FILES), re.MULTILINE)
    assert sorted(keys) == sorted(WORDS)


def test_scripts_never_parse_text_as_markup():
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script_head())
