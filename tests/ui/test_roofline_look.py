"""Words, colours and code of the Roofline tab belong together."""

from __future__ import annotations

import re
from pathlib import Path

from sssd_demo.ui.components import STATIC
from sssd_demo.ui.words_roofline import ROOFLINE_WORDS

UI = Path(__file__).parents[2] / "sssd_demo" / "ui"
CODE = "\n".join(path.read_text(encoding="utf-8") for path in sorted(UI.glob("roofline_*.py")))


def test_every_text_that_the_code_asks_for_exists_and_none_is_left_over():
    named = set(re.findall(r'["\'](roof\.[a-z_.0-9]+)["\']', CODE))
    # Keys are also put together, as in WORDS[f"roof.column.{name}"].
    begun = set(re.findall(r'f["\'](roof\.[a-z_.]+)\{', CODE))
    assert named <= set(ROOFLINE_WORDS)
    left_over = [
        key
        for key in ROOFLINE_WORDS
        if key not in named and key != "tab.roof" and not any(key.startswith(start) for start in begun)
    ]
    assert left_over == []


def test_what_a_series_looks_like_is_in_the_style_sheet():
    style = (STATIC / "roofline.css").read_text(encoding="utf-8")
    for look in ("plain", "first", "second", "third", "path", "other", "chosen", "roof-here", "roof-there"):
        assert f".rc-{look}" in style, look
