import pytest

from sssd_demo.ui.token_text import TextStream, piece

FAMILY = "👩‍🚀🔥🇫🇷 中文 नमस्ते"


@pytest.mark.parametrize("cut", [1, 2, 3, 5])
def test_a_character_cut_over_tokens_appears_once_and_whole(cut: int):
    data = FAMILY.encode()
    texts = TextStream().push(data[at : at + cut] for at in range(0, len(data), cut))
    assert "".join(texts) == FAMILY
    assert not any("\ufffd" in text for text in texts)


def test_bytes_that_never_become_a_character_are_left_out():
    assert TextStream().push([b"\xe4", b"\xb8", b"a", b"\xff", b"b"]) == ["", "", "a", "", "b"]


def test_an_answer_that_ends_in_mid_character_shows_what_is_whole():
    assert TextStream().push([b"ok ", "中".encode()[:2]]) == ["ok ", ""]


def test_a_token_alone_is_text_or_its_bytes():
    assert piece("中".encode()) == "中"
    assert piece(b"\xe4\xb8") == [0xE4, 0xB8]
    assert piece(b"") == ""
