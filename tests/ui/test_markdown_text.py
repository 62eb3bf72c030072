import random
import time

import pytest

from sssd_demo.ui.markdown_text import plain, shown


@pytest.mark.parametrize(
    ("written", "markdown"),
    [
        ("<img src=x onerror=alert(1)>", r"\<img src=x onerror=alert(1)>"),
        ("a </script> b", r"a \</script> b"),
        ("<!-- hidden -->", r"\<!-- hidden -->"),
        ("![](http://elsewhere/x.png)", r"\![](http://elsewhere/x.png)"),
        ("&lt;b&gt; &#60; R&D", r"\&lt;b\&gt; \&#60; R&D"),
        (r"\<b>", r"\\\<b>"),
        ("1 < 2 and <|im_end|>", "1 < 2 and <|im_end|>"),
        ("use `<b>` here", "use `<b>` here"),
        ("```html\n<b>\n```\n<b>", "```html\n<b>\n```\n\\<b>"),
        ("```html\n<b>", "```html\n<b>"),
        ("an `open <b>", r"an `open \<b>"),
    ],
)
def test_what_would_open_a_tag_or_load_a_picture_is_made_literal_outside_of_code(written: str, markdown: str):
    assert shown(written) == markdown
    assert plain(markdown) == written


def test_any_text_comes_back_as_it_was():
    source = random.Random(7)
    parts = ["<b>", "</p>", "`", "``", "```", "~~~", "\\", "\n", "\n\n", " ", "a", "![", "<", "!", "&lt;", "    "]
    for _ in range(3000):
        text = "".join(source.choice(parts) for _ in range(source.randrange(14)))
        assert plain(shown(text)) == text


def test_the_time_grows_with_the_length_and_not_with_its_square():
    for part in ("` a `` b ", "```\n", "<b> \\", "`\n\n``", "~~~ `\n"):
        text = part * 40_000
        begun = time.process_time()
        assert plain(shown(text)) == text
        assert time.process_time() - begun < 5
