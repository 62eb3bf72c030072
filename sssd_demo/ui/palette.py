"""Every colour of the app, once: feeds the style sheet here and figures elsewhere.

A fate is never told by colour alone; the cues (underline, double underline and +, strike and ×, small) are in
`static/app.css`. The pairs keep a contrast of at least 6:1 on their background and stay apart for colour-blind eyes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shade:
    """One colour for light and one for dark backgrounds."""

    light: str
    dark: str


COLOURS = {
    "accepted": Shade("#004488", "#6699cc"),
    "bonus": Shade("#7a5f00", "#eecc66"),
    "rejected": Shade("#994455", "#ee99aa"),
    "ignored": Shade("#5c6370", "#a3aab8"),
    "plain": Shade("#1c2430", "#e8ecf2"),
    "page": Shade("#f6f7f9", "#12161c"),
    "panel": Shade("#ffffff", "#1a1f27"),
    "line": Shade("#d7dce3", "#343c49"),
    "quiet": Shade("#545d6b", "#a3aab8"),
    "accepted-wash": Shade("#e6eef7", "#1d2f45"),
    "bonus-wash": Shade("#f7f0d8", "#3a3218"),
    "open-wash": Shade("#eef1f5", "#262d38"),
    "match-wash": Shade("#cdebd9", "#1f4a37"),
    "good": Shade("#1b6b3a", "#7cc99a"),
}


def css_variables() -> str:
    """The colours as CSS custom properties, `--c-accepted` and so on, for both themes."""

    def block(selector: str, theme: str) -> str:
        return (
            f"{selector} {{ {' '.join(f'--c-{name}: {getattr(shade, theme)};' for name, shade in COLOURS.items())} }}"
        )

    return block(":root", "light") + "\n" + block(".dark", "dark")


# For figures that are drawn once for both themes: each at least 3:1 on either background.
FIGURE_COLOURS = ("#3f7fc1", "#a07d1c", "#bd5f73", "#3f8f63")
