"""Every text a visitor reads, by key. A second language is a second dict with the same keys.

Keys starting with `view.`, `fate.`, `source.`, `fact.`, `legend.`, `head.` and `store.view.` also travel to the
browser.
"""

from __future__ import annotations

from sssd_demo.ui.words_compare import COMPARE_WORDS
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
    "fact.match": "match length",
    "fact.probability": "model's probability",
    "fact.draft_probability": "draft's probability",
    "fact.coin": "coin",
    "fact.score": "guess's score",
    "fact.id": "id",
    "fact.bytes": "bytes",
    "fact.round": "forward",
    # figures
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
    "verdict.source.prompt": "the prompt",
    "verdict.source.output": "the answer itself",
    "verdict.source.datastore": "the datastore",
    "verdict.source.recycled": "what the model found likely earlier",
    "verdict.source.model": "the draft model",
    "verdict.source.jacobi": "parallel guesses",
    # conversation
    "chat.conversation": "Conversation",
    "chat.empty": "Ask anything, or try one of these:",
    "chat.message": "Message",
    "chat.message_hint": "Write a message; Enter sends it",
    "chat.send": "Send",
    "chat.stop": "Stop",
    "chat.new": "New chat",
    "chat.undo": "Undo",
    "chat.settings": "More settings",
    "chat.export": "Save this answer's trace",
    "chat.import": "Replay a trace file",
    "chat.unfold": "Settings, stores, files",
    # where a visitor's text goes
    "text.title.kept.not_shared": "Your text: remembered on this page only",
    "text.title.not_kept.not_shared": "Your text: not remembered, not shared",
    "text.title.kept.shared": "Your text: remembered, and added to the shared store",
    "text.title.not_kept.shared": "Your text: added to the shared store",
    "text.remember": "remember this chat for later answers on this page",
    "text.remember_hint": (
        "Each finished answer becomes a source of guesses for the next ones. It is kept in this server's memory until"
        " the page is closed; a new chat keeps it."
    ),
    "text.share": "also draw from and add to the store shared by all visitors",
    "text.share_hint": (
        "Kept on disk for all visitors; cannot be taken back. What is kept are the model's answers to you, which may"
        " repeat what you wrote. Their text is never shown. A guess from it appears only where the model writes the"
        " same itself; so whoever writes the same beginning may get the same continuation sooner, and see that it came"
        " from a store: that is what sharing does."
    ),
    "text.rest": (
        "The conversation itself is kept in this browser tab. Stores chosen under “extra datastore” are only read, and"
        " programs that ask through the endpoint add nothing to any store."
    ),
    # refusals and notices
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
    "notice.model": "Getting {name} ready …",
    "notice.waiting": "Waiting for a free place …",
    "notice.stopped_waiting": "Stopped before it began; your message is back in the box.",
    "notice.removed": "Answered anew; {n} later messages were taken away.",
    "notice.forgotten": "Everything in this page's own store is gone, pasted text and files too.",
    "notice.trace_gone": "The tokens of that answer are no longer kept here.",
    "notice.replay": "Replaying {name}: recorded on {device}, {date}.",
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
    # the Datastore tab
    "tab.store": "Datastore",
    "store.lead": (
        "**How guessing gets better by use.** SSSD guesses the next tokens (words or pieces of words) by looking up"
        " where the last few stood before, and what came next there: in this conversation, and in a **datastore** of"
        " past text. A datastore begins empty and learns from every answer. No training, no second model."
    ),
    "store.loading": "The model is not ready yet; please try again in a moment.",
    "store.grow.title": "1 · Watch one grow from nothing",
    "store.grow.hint": (
        "The model answers one prompt after another, live. Each finished answer goes into a store, and the next answer"
        " may copy from it. Blue rising above the red dashed line (conversation only) is what the store is worth."
    ),
    "store.grow.play": "Play",
    "store.grow.pause": "Pause",
    "store.grow.resume": "Resume",
    "store.grow.again": "Start over",
    "store.grow.room": "size limit of the store",
    "store.grow.room_hint": "small on purpose, so that it fills while you watch",
    "store.grow.room_small": "4 × 1,000 tokens: forgets soon",
    "store.grow.room_large": "8 × 8,000 tokens: forgets nothing here",
    "store.now.idle": "Nothing has run yet. Play asks {planned} prompts, at most {longest} tokens an answer.",
    "store.now.running": "Conversation {n} of {planned}: “{question}” · {tokens} tokens so far",
    "store.now.waiting": "Conversation {n} of {planned} waits for a free place: others are being answered.",
    "store.now.pausing": "Pausing when this answer is finished … · {tokens} tokens so far",
    "store.now.paused": "Paused after {n} of {planned} conversations. The store is kept while this page is open.",
    "store.now.ended": "Finished: {n} of {planned} conversations.",
    "store.now.failed": "Stopped after {n} of {planned} conversations: {reason}",
    "store.run.engine_gone": "the model was changed or closed.",
    "store.run.too_many": (
        "As many stores as this server can grow at a time are growing now ({n}); please try again in a minute."
    ),
    "store.run.no_prompts": "The prompts for this run are missing: {reason}",
    "store.count.conversations": "conversations",
    "store.count.tokens": "tokens stored",
    "store.count.documents": "documents",
    "store.count.draft": "ms a draft, lookups included",
    "store.count.window": "tokens per forward, last {n}",
    "store.count.all": "tokens per forward, all",
    "store.count.adds": "the store adds, last {n}",
    "store.verdict.early": (
        "Too early to tell: {n} of the {window} conversations that one point of the curve sums up."
    ),
    "store.verdict.worth": (
        "Over the last {window} conversations: {both:.2f} tokens per forward with both sources, {prompt:.2f} with the"
        " conversation alone. The store is worth {gain} here."
    ),
    "store.verdict.useless": (
        "Over the last {window} conversations: {both:.2f} tokens per forward with both sources, {prompt:.2f} with the"
        " conversation alone. So far the store makes no difference."
    ),
    "store.fine": (
        "A forward is one run of the model; plain decoding gets 1 token from each. Greedy answers, s_q = {s_q} tokens a"
        " forward; a point sums up the last {window} conversations. The blue line is measured. The two others come"
        " from drafting each finished answer again with one source: exact for greedy answers, since a guess counts"
        " exactly where it is what the model wrote."
    ),
    "store.view.chart": "Tokens per forward while the store grows",
    "store.view.y": "tokens per forward",
    "store.view.x": "tokens given to the store so far",
    "store.view.both": "both sources",
    "store.view.prompt_only": "conversation only",
    "store.view.store_only": "store only",
    "store.view.plain": "plain decoding: 1",
    "store.view.no_points": "The curve appears here with the first finished answer.",
    "store.view.forgot": "the oldest part was dropped",
    "store.view.map": "What the store is made of",
    "store.view.map_hint": (
        "A store is a few sub-indices, each a sorted list of all places in its text. New text gets a small one of its"
        " own, so that it can be found at once; small ones are merged; full ones stay; past the limit the oldest is"
        " dropped."
    ),
    "store.view.map_why": "why several?",
    "store.view.map_empty": "Empty: no text in it yet.",
    "store.view.full": "full",
    "store.view.growing": "growing",
    "store.view.tail": "newest",
    "store.view.segment": "{kind}: {tokens} tokens, {documents} documents",
    "store.view.events": "What happened to it",
    "store.view.no_events": "Nothing yet.",
    "store.map.room": "room for {n} full ones of {tokens} tokens",
    "store.map.dropped": "{n} documents dropped so far",
    "store.map.waiting": "{n} documents not searchable yet",
    "store.map.building": "sorting in the background",
    "store.event.built": "built: {documents}, {tokens}, searchable after {ms}",
    "store.event.merged": "merged into one of {documents}, {tokens} ({ms})",
    "store.event.dropped": "dropped the oldest: {documents}, {tokens} forgotten",
    "store.event.saved": "saved to disk: {documents}, {tokens} ({ms})",
    "store.event.failed": "failed, the version before stays in use: {reason}",
    # looking something up
    "store.look.title": "2 · Look something up",
    "store.look.hint": (
        "A draft looks up the last {most} tokens; where that finds too little, one less, down to the last one. Inside a"
        " sentence words begin with a space."
    ),
    "store.look.text": "text",
    "store.look.placeholder": "the words to look up, e.g. “ The cat sat”",
    "store.look.store": "in",
    "store.look.go": "Look up",
    "store.look.chat": "Last words of my chat",
    "store.look.mine": "my own store",
    "store.look.run": "the store grown above",
    "store.look.shared": "the shared store (a few counts only)",
    "store.look.empty_text": "Write one word or more to look up.",
    "store.look.not_text": "What is looked up, and the name of the store, must be texts.",
    "store.look.too_long": "The text to look up is too long: at most {most} characters.",
    "store.look.empty_mine": "Your store is empty: ask something in the Chat tab, or put text into it below.",
    "store.look.empty_run": "No store has been grown on this page yet: press Play above.",
    "store.look.empty_store": "This store is empty.",
    "store.look.no_chat": "There is no answer in your chat yet.",
    "store.look.none": (
        "“{text}” does not occur here, not even its last token. A draft would find nothing in this store and use the"
        " conversation alone."
    ),
    "store.look.found": "“{text}” occurs {times}; most often followed by “{next}” ({count} of {of}).",
    "store.look.found_end": "“{text}” occurs {times}, each time at the end of a document: nothing follows.",
    "store.look.shared_why": (
        "The shared store tells only how often a single token occurs: it holds text of others, and from counts of"
        " longer matches, or of what follows, that text could be read out token by token."
    ),
    "store.look.shared_few": "fewer than {n} times, or not at all",
    "store.look.shared_hidden": "not shown for the shared store",
    "store.look.shortened": "Only the last {n} of the {all} tokens you gave occur together. ",
    "store.look.once": "once",
    "store.look.times": "{n:,} times",
    "store.view.query": "Looked up",
    "store.view.not_used": "grey: not used, a draft looks at the last {n} tokens",
    "store.view.lengths": "What follows, by how much matched",
    "store.view.lengths_shared": "How often it occurs, by how much matched",
    "store.view.length": "{n} tokens",
    "store.view.length_one": "1 token",
    "store.view.occurs": "{n}×",
    "store.view.absent": "does not occur",
    "store.view.others": "{n} others",
    "store.view.ended": "end of a document",
    "store.view.looked_at": "counted in {n} evenly spaced ones",
    "store.view.places": "where",
    "store.view.place": "sub-index {i}, document {d}, token {t}",
    "store.view.trie": "The tree of guesses it makes",
    "store.view.trie_hint": "{n} samples, taken as for a draft; a number = how many of them go on like this",
    "store.view.trie_shorter": "includes shorter matches: {list}",
    "store.view.trie_hidden": "Not shown: this store holds text of others.",
    "store.view.trie_none": "No guesses: nothing was found.",
    "store.view.look_nothing": "Write a few words above, or take the last ones of your chat.",
    # filling
    "store.fill.title": "3 · Put text into your own store",
    "store.fill.where": (
        "Where it goes: into a store in this server's memory that only this page draws from and can look into. An"
        " uploaded file is deleted as soon as it has been read. All is gone when you close or reload this page, or"
        " empty the store."
    ),
    "store.fill.text": "text",
    "store.fill.placeholder": "Paste text here: your code, your notes, answers of the model …",
    "store.fill.add": "Add this text",
    "store.fill.files": "Add files",
    "store.fill.files_hint": "text, traces, recorded answers (.jsonl); up to {mb} MB together",
    "store.fill.stdlib": "Add Python's own library",
    "store.fill.cancel": "Cancel",
    "store.fill.clear": "Empty this page's own store",
    "store.fill.reading": "Reading {what}: {share:.0%} · {tokens} tokens so far",
    "store.fill.sorting": "Sorting {tokens} tokens; until then they cannot be found.",
    "store.fill.done": "Added {documents}, {tokens} from {what}; guesses in your chat can use them now.",
    "store.fill.dropped": (
        "Added {documents}, {tokens} from {what}. That is more than your store has room for, some {room} tokens, so"
        " the oldest were dropped ({dropped}); guesses in your chat can use the rest now."
    ),
    "store.fill.still_sorting": "Added {documents}, {tokens} from {what}; they can be found once they are sorted.",
    "store.fill.cut": " It was cut there: your store takes {most} tokens at a time.",
    "store.fill.cancelled": "Cancelled; nothing was added and your store is as it was.",
    "store.fill.cleared": "Your store is empty now.",
    "store.fill.nothing": "There is no text to add.",
    "store.fill.busy": "Text is being added already; wait for it or cancel it.",
    "store.fill.too_big": "That is too much at once: {mb:.1f} MB, and at most {most} MB are taken.",
    "store.fill.not_text": "Only text can be added: {reason} Nothing was added.",
    "store.fill.pasted": "the pasted text",
    "store.fill.the_stdlib": "Python's own library",
    "store.fill.mine": "Your store",
    "store.documents": "{n:,} documents",
    "store.document": "1 document",
    "store.tokens": "{n:,} tokens",
    "store.token": "1 token",
    # experiments
    "store.lab.title": "4 · Measured before, by command",
    "store.lab.made": "{device} · {model} · {date} · {command}",
    # tabs whose texts stand in a file of their own
    **COMPARE_WORDS,
    **ROOFLINE_WORDS,
    **SAGUARO_WORDS,
}

_SENT_TO_BROWSER = ("view.", "fate.", "source.", "fact.", "legend.", "head.", "store.view.")


def browser_words() -> dict[str, str]:
    """The texts that are put in place in the browser."""
    return {key: text for key, text in WORDS.items() if key.startswith(_SENT_TO_BROWSER)}
