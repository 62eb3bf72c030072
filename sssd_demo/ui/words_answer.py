"""The texts about one answer, by key: its tokens, guesses, verification, figures and verdict; see `words.py`.

Chat and Compare show the same views of an answer, so these belong to neither.
"""

from __future__ import annotations

ANSWER_WORDS = {
    # tokens, forwards, guesses
    "view.title": "Tokens of the answer",
    "view.title_live": "Tokens of this answer · {method}",
    "view.recorded": "recorded",
    "view.recorded_on": "on {device}, {date} · {method} · “{question}”",
    "view.rule": (
        "A token is a word or a piece of one. Between two bars stands what one forward added: one run of the whole"
        " model, which checks all guesses at once. Many tokens between two bars = fast."
    ),
    "view.nothing": "Ask something: every token of the answer appears here with its fate.",
    "view.show_rejected": "show rejected",
    "view.show_ignored": "show ignored",
    "view.tokens": "Tokens of the answer",
    "view.prompt": "Tokens of the prompt",
    "view.prompt_count": "what the model read: {n} tokens",
    "view.end_token": "end",
    "view.no_bytes": "(no text)",
    "view.rounds": "Forwards",
    "view.rounds_hint": "one bar each: above the line what it added, below wrong guesses; click or use ← →",
    "view.tree": "Guesses of a forward",
    "view.sources": (
        "P prompt · O own answer · D datastore · R found likely earlier · M draft model · number = model's probability,"
        " q = draft's"
    ),
    "view.root": "start",
    "view.round": "forward {n}",
    "view.round_of": "forward {n} of {all}",
    "view.reading": "reading the prompt",
    "view.lost": "not",
    "view.more_right": "more ›",
    "view.more_below": "more ⌄",
    "view.round_summary": "{kept} added · {accepted} accepted · {rejected} rejected · {ignored} ignored",
    "view.no_round": "Open a forward: click a bar or a token.",
    "view.prefill": "Here the prompt was read, and the model added its first token itself.",
    "view.withheld": "{n} guesses from a datastore, not shown while you share",
    "view.withheld_one": "1 guess from a datastore, not shown while you share",
    "view.no_drafts": "Nothing was guessed for this forward: the model added one token itself.",
    "view.beside": "Beside these guesses, {n} tokens of the method's window were computed, for later guesses.",
    "view.beside_only": "No guess was tested here; {n} tokens of the method's window were computed, for later guesses.",
    "view.cut": "The answer ended here, so the model's own token was not needed.",
    "view.previous": "Previous forward",
    "view.next": "Next forward",
    "view.play": "play",
    "view.pause": "pause",
    "view.hover": "Point at a token, or tab to it, to see where it came from.",
    "view.probability": "model's probability {p}",
    "view.draft_probability": "draft's probability {q}",
    "view.from_match": "from {source}, match length {n}",
    "view.from_store": "From the datastore: past text, whose words are not shown here.",
    "view.copied_from": "copied from:",
    "view.finished": "Answer complete: one token from reading the prompt, {tokens} in {forwards} forwards.",
    # verification, and whether it agrees when it is done again
    "view.check.title": "Verification, step by step",
    "view.check.previous": "Previous check",
    "view.check.next": "Next check",
    "view.check.count": "{n} of {all}",
    "view.check.lead.greedy": (
        "At every place the model says which token it finds most likely. A guess stays if it is that one."
    ),
    "view.check.lead.point": (
        "The model chooses by chance, by its own probabilities; a coin, here a random number from 0 to 1, decides. A"
        " guess stays if it is what the model chose."
    ),
    "view.check.lead.chain": (
        "A guess stays with probability p / q: the model's probability for it, divided by the draft model's. A coin,"
        " here a random number from 0 to 1, decides. So every token comes exactly as often as from the model alone."
    ),
    "view.check.lead.tree": (
        "A guess stays with probability p / q: the model's probability for it, divided by the draft model's. A coin,"
        " here a random number from 0 to 1, decides. If it is refused, its neighbour is judged by what is left of the"
        " model's probabilities. So every token comes exactly as often as from the model alone."
    ),
    "view.check.lead.block": (
        "The guesses are judged as one row. For every length it could be kept to there is a coin, here a random number"
        " from 0 to 1, and the last yes counts. On average that keeps as many as judging one by one, or more, and every"
        " token still comes exactly as often as from the model alone."
    ),
    "view.check.lead.traversal": (
        "The guesses are judged from the ends of the branches inwards, each with the whole way to it. The first yes of"
        " a coin, here a random number from 0 to 1, keeps a guess and all before it. Every token still comes exactly as"
        " often as from the model alone."
    ),
    "view.check.formula.point": (
        "one coin draws the model's token; for each guess it is measured from where the guess's own stretch of the line"
        " begins, so that it lies below p iff that guess was drawn"
    ),
    "view.check.formula.chain": "accepted iff coin < p / q; then P = [p − q]⁺, made to sum to 1",
    "view.check.formula.tree": "accepted iff coin < P / Q; after a refusal P = [P − Q]⁺, made to sum to 1",
    "view.check.formula.block": (
        "w = min(1, w before · p / q); yes iff coin < S / (S + 1 − w), where S = Σ [w · p − q]⁺ of the next place;"
        " at the end of the row, coin < w"
    ),
    "view.check.formula.traversal": (
        "w = min(1, w before · P / Q); after a refused child P = [w · P − Q]⁺, made to sum to 1, and w = S / (S + 1 −"
        " w), where S = Σ [w · P − Q]⁺; yes iff coin < w"
    ),
    "view.check.greedy.accepted": "is the model's most likely token here ({p}): accepted",
    "view.check.greedy.rejected": "the model gives it {p}, but “{chosen}” {best}: rejected",
    "view.check.point.accepted": "the model gives it {p}; the coin was {coin}, below that: accepted",
    "view.check.point.rejected": "the model gives it {p}; the coin was {coin}, not below that: rejected",
    "view.check.point.ignored": "the model gives it {p}; the coin was {coin}; the answer had ended before",
    "view.check.gives": "the model gives it {p}, the draft drew it with {q}",
    "view.check.gives_left": "what is left of the model's probabilities gives it {p}, the draft drew it with {q}",
    "view.check.sure": "{gives}: accepted, whatever the coin says ({coin})",
    "view.check.tree.passed": (
        "{gives}; accepted with probability {p} / {q} = {threshold}; the coin was {coin}: accepted"
    ),
    "view.check.tree.refused": (
        "{gives}; accepted with probability {p} / {q} = {threshold}; the coin was {coin}: rejected"
    ),
    "view.check.block.passed": "{gives}; kept up to here with probability {threshold}; the coin was {coin}: yes",
    "view.check.block.refused": "{gives}; kept up to here with probability {threshold}; the coin was {coin}: no",
    "view.check.traversal.passed": (
        "{gives}; kept, and all before it, with probability {threshold}; the coin was {coin}: yes"
    ),
    "view.check.traversal.refused": "{gives}; kept with probability {threshold}; the coin was {coin}: no",
    "view.check.bonus.best": "comes next: the model's most likely token there ({p})",
    "view.check.bonus.unknown": "comes next: drawn by the model, which gives it {p}",
    "view.check.bonus.law": (
        "comes next: drawn from the model's own probabilities; the coin was {coin}, and {from} to {to} means this token"
    ),
    "view.check.bonus.residual": (
        "comes next: drawn from what the refused guess left of the model's probabilities; the coin was {coin}, and"
        " {from} to {to} means this token"
    ),
    "view.check.left": "What is left of the model's probabilities once this guess is refused, for a few tokens",
    "view.check.column.token": "token",
    "view.check.column.p": "model, p",
    "view.check.column.q": "draft, q",
    "view.check.column.left": "left",
    "view.check.fact.p": "model's p",
    "view.check.fact.q": "draft's q",
    "view.check.fact.weight": "weight w before",
    "view.check.fact.threshold": "threshold",
    "view.check.fact.coin": "coin u",
    "view.check.fact.mass": "residual mass",
    "view.recheck.agrees": "done again from the recorded numbers: agrees",
    "view.recheck.disagrees": "Done again from the recorded numbers: does not agree.",
    "view.recheck.weight": "“{token}”: the weight is recorded as {recorded}, but follows as {found}.",
    "view.recheck.p": "“{token}”: the model's probability is recorded as {recorded}, but elsewhere as {found}.",
    "view.recheck.q": "“{token}”: the draft's probability is recorded as {recorded}, but elsewhere as {found}.",
    "view.recheck.mass": "“{token}”: what is left is recorded as {recorded}, but follows as {found}.",
    "view.recheck.residual": "“{token}”: what is left of the model's probabilities does not follow from p and q.",
    "view.recheck.threshold": "“{token}”: the threshold is recorded as {recorded}, but follows as {found}.",
    "view.recheck.coin": "“{token}”: the coin is recorded as {recorded}, but elsewhere as {found}.",
    "view.recheck.missing": "“{token}”: a number that is needed is not recorded.",
    "view.recheck.order": "The tests are recorded in another order than the rule's.",
    "view.recheck.fate": "“{token}”: its fate is not what the test gives.",
    "view.recheck.likelier": "“{token}”: was more likely ({recorded}) than what was chosen ({found}).",
    "view.recheck.text": "The text that was added is not what the tests give.",
    "view.recheck.stretch": "“{token}”: the coin ({recorded}) does not mean this token.",
    "view.recheck.bonus": "“{token}”: was drawn with {recorded}, but the probability of it follows as {found}.",
    # fates and sources
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
    "source.recycled": "what the model found likely earlier",
    "source.model": "the draft model",
    "source.jacobi": "parallel guesses",
    # facts about a token
    "fact.match": "match length",
    "fact.probability": "model's probability",
    "fact.draft_probability": "draft's probability",
    "fact.coin": "coin",
    "fact.score": "guess's score",
    "fact.id": "id",
    "fact.bytes": "bytes",
    "fact.round": "forward",
    # figures and verdict
    "figure.none": "–",
    "figure.per_forward": "tokens per forward",
    "figure.per_second": "tokens per second",
    "figure.baseline": "plain decoding here ({speed:.1f} tokens per second, measured {when})",
    "figure.no_baseline": "plain decoding here (not measured yet)",
    "figure.first": "first token after {first:.0f} ms",
    "figure.counts": (
        "{first}, then {tokens} tokens ÷ {forwards} forwards · guessed {drafted} = accepted {accepted} + rejected"
        " {rejected} + ignored {ignored}"
    ),
    "figure.withheld": " + not shown {n}",
    "verdict.too_short": "Too short to say anything about speed.",
    "verdict.plain": "Speculation off: one forward for each token. This is the yardstick.",
    "verdict.switched_off": "Speculation switched itself off: on this machine guessing would not have paid here.",
    "verdict.no_match": "No match found: nothing was guessed, so this ran like plain decoding.",
    "verdict.none_accepted": "None of {drafted} guesses was right, so this was no faster than plain decoding.",
    "verdict.faster": "Faster here: {ratio:.2f}×.",
    "verdict.same": "No faster and no slower here: {ratio:.2f}×.",
    "verdict.slower": "Slower here: {ratio:.2f}×, at {per_forward:.2f} tokens per forward.",
    "verdict.busier": (
        "Slower here: {ratio:.2f}×, at {per_forward:.2f} tokens per forward: the machine is busier than when plain"
        " decoding was measured ({when})."
    ),
    "verdict.why": "{accepted} of {tokens} tokens ({share:.0%}) were right guesses, most of them from {source}.",
    "verdict.stopped": "Stopped after {tokens} tokens.",
}
