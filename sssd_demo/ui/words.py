"""Every text a visitor reads, by key. A second language is a second dict with the same keys.

Here are the texts that several tabs have, or none; those of one tab, and those about one answer, have their own files.
Keys starting with `view.`, `fate.`, `source.`, `fact.`, `legend.`, `head.` and `store.view.` also travel to the
browser.
"""

from __future__ import annotations

from sssd_demo.ui.words_answer import ANSWER_WORDS
from sssd_demo.ui.words_chat import CHAT_WORDS
from sssd_demo.ui.words_compare import COMPARE_WORDS
from sssd_demo.ui.words_datastore import DATASTORE_WORDS
from sssd_demo.ui.words_roofline import ROOFLINE_WORDS
from sssd_demo.ui.words_saguaro import SAGUARO_WORDS

WORDS = {
    # frame
    "head.name": "sssd_demo",
    "head.tagline": "faster answers from a language model, every token still its own choice",
    "head.theme": "Switch between light and dark",
    "head.help": "What is this?",
    "head.about": (
        "A language model writes one token at a time, and each takes a whole run of the model, called a forward."
        " Speculation guesses the next few tokens cheaply, here by looking them up in earlier text and in what the"
        " model found likely earlier, and has the model check them all in one forward. Right guesses are kept, the"
        " first wrong one is replaced by the model's own token, so the answer is the one the model would have written"
        " anyway. Everything on this page is computed now on this machine, or labelled as recorded."
    ),
    "head.progress": "Loading the model",
    "title": "sssd_demo: speculative decoding, seen token by token",
    "status.loading": "{stage} …",
    "status.starting": "getting the model ready",
    "status.baseline": "measuring plain decoding",
    "status.ready": "{model} · {device} · {dtype} · ready",
    "status.about": (
        "Model: {model}, from {source}, licence {licence}; computes in {dtype}: {reason}. In float32 the text is that"
        " of plain decoding exactly; in 16 bits rounding can turn a near-tie between two tokens, and then the text"
        " goes on differently."
    ),
    "status.busy": "{model} · {device} · {dtype} · busy ({n})",
    "status.refused": "{status} · {reason}",
    "status.failed": "no model: {reason}",
    "status.fault": "it could not be loaded; a recorded run can be looked at",
    # refusals
    "refuse.empty": "The message is empty; please write something.",
    "refuse.message": "The message must be a text.",
    "refuse.inputs": "This takes {needed} values, but got {got}.",
    "refuse.request": "This request asks for something that the app does not have.",
    "refuse.history": "The history must be a list of turns, each with a role and a content that are texts.",
    "refuse.loading": "The model is not ready yet; your message is still in the box.",
    "refuse.busy": "An answer is being written; stop it or wait for its end.",
    "refuse.no_page": "This request does not say which page it comes from, so nothing can be kept for it.",
    "refuse.fault": "Something went wrong here; it was noted, and the app goes on.",
    "refuse.model_busy": "Answers are being written; the model can be changed once they have ended.",
    "refuse.port": "Port {port} is in use; choose another with --port.",
    "refuse.no_port": "No port could be opened; choose one with --port.",
    "refuse.no_trace": "There is no answer to save yet.",
    "refuse.too_long": "An answer here may have at most {longest} tokens, but {asked} were asked for.",
    "refuse.whole": "{name} must be a whole number, but is {value!r}.",
    "refuse.number": "{name} must be a number, but is {value!r}.",
    # settings
    "set.method": "method",
    "set.s_q": "guesses per forward (s_q)",
    "set.s_q.auto": "auto",
    "set.s_q.knee": "knee",
    "set.s_q.roofline": "roofline",
    "set.k": "guesses in a row (K)",
    "set.rule": "judged by",
    "set.rule_hint": (
        "**chain** judges the small model's guesses one by one; **block** as one row, which keeps more (what HSD calls"
        " hierarchical, made exact; the same at temperature 0); **tree** and **traversal** let it guess in branches."
    ),
    "set.draft_temperature": "draft temperature",
    "set.draft_temperature_hint": "of the small model's guesses; blank = the answer's",
    "set.store": "extra datastore",
    "set.own_store": "\\+ this page's own store ({tokens})",  # Markdown: a plus alone would begin a list
    "set.store_none": "none",
    "set.model": "model",
    "set.model_hint": "changes it for everybody who has this app open; a new one may have to be fetched first",
    "set.temperature": "temperature",
    "set.temperature_hint": "0 = always the most likely token",
    "set.top_k": "top-k",
    "set.top_k_hint": "0 = off",
    "set.top_p": "top-p",
    "set.top_p_hint": "1 = off",
    "set.max_tokens": "longest answer (tokens)",
    "set.answer_tokens": "longest answer",
    "set.answer_tokens_hint": "tokens",
    "set.seed": "seed",
    "set.seed_hint": "same seed, same answer",
    # measuring
    "measure.asked": "Asked: “{question}”",
    "measure.next": "About to begin …",
    "measure.queued_one": "Waiting: another visitor's measurement runs, and two at once would not be fair.",
    "measure.queued": "Waiting: {n} measurements of other visitors come first; two at once would not be fair.",
    "measure.quiet": "Waiting until others have been answered: times are fair on an idle machine only.",
    # example prompts
    "example.sentence.title": "The sceptic's test: one sentence, six times",
    "example.sentence.text": "Write a numbered list from 1 to 6. Every item is the sentence: The cat sat on the mat.",
    "example.paragraph.title": "A paragraph, three times: most can be copied",
    "example.paragraph.text": (
        "Copy this paragraph three times:\n\nIn spring the river rises. The meadow by the old mill turns to a lake, and"
        " the herons come back to fish between the drowned fences."
    ),
    "example.code.title": "Code to change a little: most of it stays",
    "example.code.text": (
        "Rename the function 'area' to 'surface' and repeat the whole code:\n\n```python\ndef area(width, height):\n"
        "    if width < 0 or height < 0:\n        raise ValueError('negative size')\n    return width * height\n\n\n"
        "def volume(width, height, depth):\n    return area(width, height) * depth\n```"
    ),
    "example.poem.title": "A poem: the answer's own lines become guesses",
    "example.poem.text": "Write a short poem about the sea. Then write the same poem again, word for word.",
    "example.loses.title": "Where it loses: new words, little to copy",
    "example.loses.text": "Why is the sky blue? Answer in three sentences.",
    # in files of their own
    **ANSWER_WORDS,
    **CHAT_WORDS,
    **COMPARE_WORDS,
    **DATASTORE_WORDS,
    **ROOFLINE_WORDS,
    **SAGUARO_WORDS,
}

_SENT_TO_BROWSER = ("view.", "fate.", "source.", "fact.", "legend.", "head.", "store.view.")


def browser_words() -> dict[str, str]:
    """The texts that are put in place in the browser."""
    return {key: text for key, text in WORDS.items() if key.startswith(_SENT_TO_BROWSER)}
