"""The texts of the Compare tab, by key; see `words.py`."""

from __future__ import annotations

COMPARE_WORDS = {
    "tab.compare": "Compare",
    "compare.lead": (
        "**The same question, method by method.** Each method answers alone on this machine, one after another, so that"
        " times are fair; then all answers are played on one clock. Plain decoding (*autoregressive*) always runs too:"
        " it is the yardstick."
    ),
    "compare.prompt": "Question",
    "compare.prompt_hint": "What all methods are asked",
    "compare.lanes": "methods",
    "compare.lanes_hint": "autoregressive runs in any case",
    "compare.lanes_hint_draft": (
        "autoregressive runs in any case · speculative drafts with a small model; chain, block, tree and traversal are"
        " the rules by which its guesses are judged"
    ),
    "compare.lanes_hint_none": "autoregressive runs in any case · this model has no draft model for speculative",
    "compare.s_q": "guesses per forward (s_q)",
    "compare.s_q_hint": "several: a lane for each",
    "compare.k": "guesses in a row (K)",
    "compare.k_hint": "of a draft model; several: a lane for each",
    "compare.store": "datastore",
    "compare.repeats": "repeats",
    "compare.repeats_hint": "of everything, in rotating order",
    "compare.more": "More settings, own question file",
    "compare.run": "Run",
    "compare.stop": "Stop",
    "compare.save_table": "Save table (CSV)",
    "compare.save_all": "Save with traces",
    "compare.load": "Replay a saved one",
    "compare.file": "Use a question file",
    "compare.file_hint": (
        "Spec-Bench's format: a line of JSON with question_id, category and turns for each question; the first turn is"
        " asked. At most {most} questions, spread over the categories."
    ),
    "compare.file_none": "No question file: the question above is asked.",
    "compare.file_used": "**{name}**: {n} of {all} questions are asked instead of the one above.",
    "compare.file_drop": "Ask the question above",
    "compare.shown": "answers on show",
    "compare.shown_repeat": "repeat {n}",
    "compare.shown_question": "question {question}, repeat {n}",
    "compare.own_question": "your question",
    # what is happening
    "compare.now.idle": "Nothing has run yet. Choose methods and press Run; it takes some seconds for each.",
    "compare.now.warming": "Warming up {lane}; this does not count.",
    "compare.now.running": "{lane} is answering: answer {n} of {all}.",
    "compare.now.ended": "Finished: {n} answers. Drag the clock or press play to see them race.",
    "compare.now.stopped": "Stopped after {n} of {all} answers.",
    "compare.now.failed": "Ended after {n} of {all} answers: {reason}",
    "compare.now.recorded": "Recorded on {device} · {dtype} · {model}, {date}: {n} answers.",
    "compare.lane.waiting": "waits for its turn",
    "compare.lane.none": "was not measured",
    # verdicts
    "compare.race.none": "Two answers are needed for a race.",
    "compare.race.first": "{name} finished first, after {seconds:.1f} s; {plain} took {plain_seconds:.1f} s.",
    "compare.race.plain_first": "{plain} finished first, after {seconds:.1f} s: nothing was gained here.",
    "compare.race.lengths": "The answers differ in length, so look at tokens per second, not at who ends first.",
    "compare.same.all": "Identical text: every method wrote plain decoding's answer, token for token ({n} compared).",
    "compare.same.tie": (
        "{name}: first difference at token {position}: “{token}” ({p}) where plain decoding wrote “{plain}”"
        " ({plain_p}), gap {gap}: a near-tie that the rounding of {dtype} decided."
    ),
    "compare.same.coin": (
        "{name}: first difference at token {position}: “{token}” ({p}) where plain decoding wrote “{plain}”"
        " ({plain_p}). The same coin decided in both, but with the rounding of {dtype} the border between two tokens"
        " can lie a little elsewhere."
    ),
    "compare.same.differs": (
        "{name}: first difference at token {position}: “{token}” ({p}) where plain decoding wrote “{plain}”"
        " ({plain_p}), gap {gap}. That is more than rounding explains."
    ),
    "compare.same.more": "In all, {differ} of {n} answers differ somewhere; for each, see its lane.",
    "compare.same.law": (
        "{names}: the small model's guesses are drawn by chance, so the text follows the same law as plain decoding's"
        " but is another draw of it."
    ),
    "compare.same.ended": "end of the answer",
    "compare.speed.none": "Nothing to compare yet.",
    "compare.speed.faster": "{name} was the fastest here: {ratio:.2f}× plain decoding.",
    "compare.speed.same": "Nothing was clearly faster than plain decoding here; {name} came nearest with {ratio:.2f}×.",
    "compare.speed.slower": " Slower than plain decoding: {names}.",
    "compare.speed.single": " One answer each: a few per cent may be chance; repeats tell.",
    "compare.speed.median": " Medians of {n} answers, with quartiles.",
    "compare.forward.best": "{name} got the most out of a forward: {per_forward:.2f} tokens; plain decoding gets 1.",
    "compare.forward.dear": (
        " It is not the fastest all the same: drafting, and checking more guesses at once, take time too."
    ),
    "compare.forward.none": "No method got more than one token out of a forward here.",
    "compare.places.told": (
        "Of {name}'s guesses for the very next token {first:.0%} were right, of those {depth} tokens ahead {last:.0%},"
        " where a guess counts only if all before it were right too."
    ),
    "compare.places.one": "Of {name}'s guesses for the very next token, {first:.0%} were right.",
    "compare.places.none": "Nobody guessed anything here: there was nothing to accept.",
    # warnings
    "compare.note.shared": (
        "Under load: others used the model during {n} of {all} answers, so these times are not those of an idle"
        " machine."
    ),
    "compare.note.unsteady": (
        "Unsteady: plain decoding's forwards took from {low:.0f} to {high:.0f} ms, though each computes the same."
        " Something else was using this machine, so its times mean little."
    ),
    "compare.note.known": (
        "The datastore {store} holds the answer already, so methods that draw from it look better here than on new"
        " text."
    ),
    "compare.note.known_some": (
        "The datastore {store} holds the answers to {n} of {all} questions already, so methods that draw from it look"
        " better here than on new text."
    ),
    "compare.note.skipped": "{n} questions were left out, for all methods alike: {reason}",
    # the table
    "compare.column.method": "method",
    "compare.column.speed": "tokens/s",
    "compare.column.ratio": "× plain",
    "compare.column.per_forward": "tokens / forward",
    "compare.column.places": "right, 1 … 8 ahead",
    "compare.column.counts": "guessed = accepted + rejected + ignored",
    "compare.column.draft": "draft ms",
    "compare.column.verify": "verify ms",
    "compare.column.first": "first token ms",
    "compare.column.training": "training needed",
    "compare.column.memory": "extra memory",
    "compare.column.same": "same text",
    "compare.cell.quartiles": "{low} to {high}",
    "compare.cell.yardstick": "yardstick",
    "compare.cell.yes": "yes: a draft model",
    "compare.cell.no": "no",
    "compare.cell.unknown": "not stated",
    "compare.cell.no_memory": "none",
    "compare.cell.same": "✓",
    "compare.cell.same_of": "✓ {n} of {n}",
    "compare.cell.differs_of": "{same} of {n}",
    "compare.cell.law": "same law",
    "compare.memory.draft_model": "{size} draft model",
    "compare.memory.draft_cache": "{size} per token",
    "compare.memory.datastore": "{size} datastore {name}",
    "compare.table.count": (
        "{questions} × {repeats}, at most {tokens} tokens, temperature {temperature:g}, seed {seed}, datastore {store}"
        " · {model}, {dtype}, {device}"
    ),
    "compare.question": "1 question",
    "compare.questions": "{n} questions",
    "compare.repeat": "1 repeat",
    "compare.repeats_n": "{n} repeats",
    "compare.table.rule": (
        "Tokens per second count the tokens after the first, over the time after the prompt was read; × plain is the"
        " median of ratios to autoregressive's own measurement of the same question. What a conversation's own table"
        " of words takes is small and not counted as memory."
    ),
    # refusals
    "compare.refuse.running": "A comparison runs already; stop it first, or wait for its end.",
    "compare.refuse.empty": "The question is empty; please write one, or use a question file.",
    "compare.refuse.nothing": "There is no finished comparison to save yet.",
    "compare.refuse.file_too_big": "{name} has {mb:.1f} MB; a question file may have at most {most} MB.",
    # drawn in the browser
    "view.compare.recorded": "recorded",
    "view.compare.race": "Race",
    "view.compare.race_hint": (
        "one row a method on one clock, from measured times: a bar is one forward, as wide as it took, as high as the"
        " tokens it added (blue: right guesses, gold: the model's own)"
    ),
    "view.compare.clock": "Moment of the race",
    "view.compare.seconds": "{s} s",
    "view.compare.speed": "speed",
    "view.compare.speed_1": "real time",
    "view.compare.speed_2": "half as fast",
    "view.compare.speed_4": "a quarter as fast",
    "view.compare.tokens": "{n} tokens",
    "view.compare.done": "{n} tokens in {s} s",
    "view.compare.per_forward": "{x} per forward",
    "view.compare.per_second": "{x} tokens/s",
    "view.compare.shared": "under load",
    "view.compare.hover": "Point at a token, or tab to it, to see where it came from; click it to set the clock there.",
    "view.compare.differs": "the first token that is not plain decoding's",
    "view.compare.table": "Figures",
    "view.compare.speed_title": "Tokens per second",
    "view.compare.forward_title": "Tokens per forward",
    "view.compare.places_title": "Right guesses, by how many tokens ahead",
    "view.compare.place": "{n} ahead: {accepted} of {drafted}",
    "view.compare.no_guesses": "no guesses",
    "view.compare.scroll": "Table of figures",
}
