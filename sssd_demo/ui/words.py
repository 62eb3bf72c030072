"""Every text a visitor reads, by key. A second language is a second dict with the same keys.

Keys starting with `view.`, `fate.`, `source.`, `fact.`, `legend.` and `head.` also travel to the browser.
"""

from __future__ import annotations

WORDS = {
    # frame
    "head.name": "sssd_demo",
    "head.tagline": "faster answers from a language model, every token still its own choice",
    "head.theme": "Switch between light and dark",
    "head.help": "What is this?",
    "head.about": (
        "A language model writes one token at a time, and each takes a whole run of the model. Speculation guesses the"
        " next few tokens cheaply, here by looking them up in earlier text, and has the model check them all in one"
        " run. Right guesses are kept, the first wrong one is replaced by the model's own token, so the answer is the"
        " one the model would have written anyway. Everything on this page is computed now on this machine, or"
        " labelled as recorded."
    ),
    "head.progress": "Loading the model",
    "title": "sssd_demo: speculative decoding, seen token by token",
    "tab.chat": "Chat",
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
    # the answer view
    "view.title": "Tokens of the answer",
    "view.title_live": "Tokens of this answer · {method}",
    "view.recorded": "recorded",
    "view.recorded_on": "on {device}, {date} · {method} · “{question}”",
    "view.rule": (
        "A token is a word or a piece of one. Between two bars stands one round: cheap guesses, then one run of the"
        " model that checks them all at once. Many tokens between two bars = fast."
    ),
    "view.nothing": "Ask something: every token of the answer appears here with its fate.",
    "view.show_rejected": "show rejected",
    "view.show_ignored": "show ignored",
    "view.tokens": "Tokens of the answer",
    "view.prompt": "Tokens of the prompt",
    "view.prompt_count": "what the model read: {n} tokens",
    "view.end_token": "end",
    "view.no_bytes": "(no text)",
    "view.rounds": "Rounds",
    "view.rounds_hint": "one bar a round: above the line what it added, below wrong guesses; click or use ← →",
    "view.tree": "Guesses of a round",
    "view.sources": (
        "P prompt · O own answer · D datastore · R recycled · M draft model · number = the model's probability"
    ),
    "view.root": "start",
    "view.round": "round {n}",
    "view.round_of": "round {n} of {all}",
    "view.round_summary": "{kept} added · {accepted} accepted · {rejected} rejected · {ignored} ignored",
    "view.no_round": "Open a round: click a bar or a token.",
    "view.prefill": "Round 0 reads the prompt; the model then adds its first token itself.",
    "view.no_drafts": "Nothing was guessed in this round: the model added one token itself.",
    "view.cut": "The answer ended here, so the model's own token was not needed.",
    "view.previous": "Previous round",
    "view.next": "Next round",
    "view.play": "play",
    "view.pause": "pause",
    "view.hover": "Point at a token, or tab to it, to see where it came from.",
    "view.probability": "model's probability {p}",
    "view.from_match": "from {source}, match length {n}",
    "view.from_store": "From the datastore: past text, whose words are not shown here.",
    "view.copied_from": "copied from:",
    "view.finished": "Answer complete: {tokens} tokens in {rounds} rounds.",
    "legend.sample": "word",
    "fate.accepted.name": "accepted",
    "fate.accepted.rule": "a right guess",
    "fate.bonus.name": "bonus",
    "fate.bonus.rule": "the model's own token",
    "fate.rejected.name": "rejected",
    "fate.rejected.rule": "a wrong guess",
    "fate.ignored.name": "ignored",
    "fate.ignored.rule": "behind a wrong guess",
    "fate.plain.name": "plain",
    "fate.plain.rule": "no guess was made",
    "fate.prompt.name": "prompt",
    "source.prompt": "the prompt",
    "source.output": "the answer itself",
    "source.datastore": "the datastore",
    "source.recycled": "recycled predictions",
    "source.model": "the draft model",
    "source.jacobi": "parallel guesses",
    "fact.match": "match length",
    "fact.probability": "model's p",
    "fact.coin": "coin",
    "fact.score": "guess's score",
    "fact.id": "id",
    "fact.bytes": "bytes",
    "fact.round": "round",
    # figures
    "figure.none": "–",
    "figure.per_forward": "tokens per run of the model",
    "figure.per_second": "tokens per second",
    "figure.baseline": "plain decoding here ({speed:.1f} tokens per second, measured {when})",
    "figure.no_baseline": "plain decoding here (not measured yet)",
    "figure.counts": (
        "{tokens} tokens from {forwards} runs · guessed {drafted} = accepted {accepted} + rejected {rejected}"
        " + ignored {ignored} · first token after {first:.0f} ms"
    ),
    "verdict.too_short": "Too short to say anything about speed.",
    "verdict.plain": "Speculation off: one run of the model for each token. This is the yardstick.",
    "verdict.switched_off": "Speculation switched itself off: on this machine guessing would not have paid here.",
    "verdict.no_match": "No match found: nothing was guessed, so this ran like plain decoding.",
    "verdict.none_accepted": "None of {drafted} guesses was right, so this was no faster than plain decoding.",
    "verdict.faster": "Faster here: {ratio:.2f}×.",
    "verdict.same": "No faster and no slower here: {ratio:.2f}×.",
    "verdict.slower": "Slower here: {ratio:.2f}×; checking the guesses cost more than they saved.",
    "verdict.why": "{accepted} of {tokens} tokens ({share:.0%}) were right guesses, most of them from {source}.",
    "verdict.stopped": "Stopped after {tokens} tokens.",
    "verdict.source.prompt": "the prompt",
    "verdict.source.output": "the answer itself",
    "verdict.source.datastore": "the datastore",
    "verdict.source.recycled": "the model's own earlier predictions",
    "verdict.source.model": "the draft model",
    "verdict.source.jacobi": "parallel guesses",
    # conversation
    "chat.conversation": "Conversation",
    "chat.empty": "Ask anything, or try one of these:",
    "chat.message": "Message",
    "chat.message_hint": "Write a message. Enter sends, Shift+Enter starts a new line.",
    "chat.send": "Send",
    "chat.stop": "Stop",
    "chat.new": "New chat",
    "chat.undo": "Undo",
    "chat.settings": "More settings",
    "chat.export": "Save this answer's trace",
    "chat.import": "Replay a trace file",
    "chat.privacy": (
        "Your text stays in this chat: the stores that guesses come from are read-only here, and nothing you write is"
        " added to them or shown to others. The conversation is kept in this browser tab only."
    ),
    # refusals and notices
    "refuse.empty": "The message is empty; please write something.",
    "refuse.message": "The message must be a text.",
    "refuse.history": "The history must be a list of turns, each with a role and a content that are texts.",
    "refuse.loading": "The model is not ready yet; your message is still in the box.",
    "refuse.busy": "An answer is being written; stop it or wait for its end.",
    "refuse.fault": "Something went wrong here; it was noted, and the app goes on.",
    "refuse.model_busy": "Answers are being written; the model can be changed once they have ended.",
    "refuse.port": "Port {port} is in use; choose another with --port.",
    "refuse.no_port": "No port could be opened; choose one with --port.",
    "refuse.no_trace": "There is no answer to save yet.",
    "refuse.too_long": "An answer here may have at most {longest} tokens, but {asked} were asked for.",
    "refuse.whole": "{name} must be a whole number, but is {value!r}.",
    "refuse.number": "{name} must be a number, but is {value!r}.",
    "notice.model": "Getting {name} ready …",
    "notice.waiting": "Waiting for a free place …",
    "notice.stopped_waiting": "Stopped before it began; your message is back in the box.",
    "notice.removed": "Answered anew; {n} later messages were taken away.",
    "notice.trace_gone": "The tokens of that answer are no longer kept here.",
    "notice.replay": "Replaying {name}: recorded on {device}, {date}.",
    # settings
    "set.method": "method",
    "set.s_q": "length s_q",
    "set.s_q_auto": "auto",
    "set.store": "datastore",
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
    "set.seed": "seed",
    "set.seed_hint": "same seed, same answer",
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
}

_SENT_TO_BROWSER = ("view.", "fate.", "source.", "fact.", "legend.", "head.")


def browser_words() -> dict[str, str]:
    """The texts that are put in place in the browser."""
    return {key: text for key, text in WORDS.items() if key.startswith(_SENT_TO_BROWSER)}
