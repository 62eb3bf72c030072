"""The texts of the Saguaro tab, and those about speculation caches elsewhere, by key; see `words.py`."""

from __future__ import annotations

SAGUARO_WORDS = {
    "tab.saguaro": "Saguaro",
    "sag.lead": (
        "**Guessing while it is still being checked.** A small model, the *drafter*, guesses the next tokens, a"
        " *draft*; the large one, the *target*, checks them all at once: that is a *round*. Drafting in turn, each"
        " waits for the other. Saguaro lets the drafter use the time of the check: it prepares the next draft for"
        " every outcome that the check is likely to have. If the outcome is among them (a **hit** ●), the next draft"
        " lies ready at once; if not (a **miss** ○), one is made as usual. The text stays the target's own in any"
        " case."
    ),
    "sag.question": "Question",
    "sag.question_hint": "What both are asked",
    "sag.method": "method",
    "sag.method_hint": "with SSSD: looked-up text (n-grams) joins in and covers misses",
    "sag.k": "guesses in a row (K)",
    "sag.k_hint": "of the drafter, the same for both",
    "sag.fan_out": "spread of outcomes",
    "sag.fan_out_hint": "which outcomes are prepared",
    "sag.fan_out.uniform": "uniform: as many everywhere",
    "sag.fan_out.geometric": "geometric: by acceptance",
    "sag.fan_out.logits": "logits: the likeliest",
    "sag.fan_out.confident": "confident: none unlikely",
    "sag.fan_out.sized": "sized: by batch, hit rate",
    "sag.budget": "outcomes prepared",
    "sag.budget_hint": "in a round; auto: as many as pay by measured times",
    "sag.more": "More settings: sampling, misses, limits",
    "sag.bend": "Saguaro sampling",
    "sag.bend_hint": "drafts so that refusals are easier to foresee; at temperature 0 it does nothing",
    "sag.bend.off": "off",
    "sag.bend.c": "C: prepared tokens are drafted less often",
    "sag.bend.root": "√: towards what the target added in the past",
    "sag.c": "C",
    "sag.c_hint": "1: unchanged; 0: prepared tokens are hardly drafted",
    "sag.fallback": "on a miss",
    "sag.fallback_hint": "what is served instead",
    "sag.fallback.policy.auto": "by the number of sequences",
    "sag.fallback.policy.immediate": "draft anew at once",
    "sag.fallback.policy.batched": "draft anew for all misses together",
    "sag.fallback.policy.partial": "n-grams, or nothing",
    "sag.nearest": "offer the nearest prepared draft",
    "sag.nearest_hint": "where nothing better is there",
    "sag.roll_back": "misses before rolling back",
    "sag.roll_back_hint": "after so many in a row nothing is prepared for a while; 0: never",
    "sag.late": "longest wait for a draft",
    "sag.late_hint": "milliseconds; blank: as long as it takes",
    "sag.run": "Run",
    "sag.stop": "Stop",
    "sag.sweep": "Sweep C",
    "sag.save": "Save this run",
    "sag.load": "Load traces",
    "sag.example.code": "Code",
    "sag.example.code.text": (
        "Write a Python function that returns the n-th Fibonacci number iteratively, with a docstring."
    ),
    "sag.example.list": "List",
    "sag.example.list.text": "List the months of the year, each with its number of days.",
    "sag.example.story": "Story",
    "sag.example.story.text": "Tell a short story about a lighthouse keeper who collects sounds.",
    # what is happening
    "sag.now.idle": "Nothing has run yet. Press Run: it takes some seconds, and the first time the drafter must start.",
    "sag.now.no_model": "The model is still being loaded.",
    "sag.now.no_draft": (
        "The model {model} has no draft model, and without one nothing can be prepared. Choose a preset that is a pair"
        " ({pairs}), or look at a recorded run."
    ),
    "sag.now.warming": "Warming up {method}; this does not count.",
    "sag.now.starting": "The drafter is starting in a process of its own …",
    "sag.now.timing": "Timing forwards of both models, each alone ({n} of {all}); this is done once on a machine.",
    "sag.now.in_turn": "Drafting in turn ({method}): {tokens} tokens so far.",
    "sag.now.ahead": "Preparing ahead ({method}): {tokens} tokens so far.",
    "sag.now.ended": "Finished.",
    "sag.now.stopped": "Stopped. What was measured until then is shown.",
    "sag.now.failed": "It could not go on: {reason}",
    "sag.now.loaded": "From a file.",
    "sag.now.shared": "Others were answered meanwhile, so the times measured here mean little.",
    "sag.now.changed": "The model was changed or closed while this ran.",
    "sag.now.fault": "an internal error; the log has the details.",
    "sag.now.dead": "The drafter died during this run; the answer was finished without it, and a new one will start.",
    "sag.recorded": "Recorded on {device} · {dtype} · {model}, {date}",
    # clocks
    "sag.clock.measured": "measured here",
    "sag.clock.computed": "two devices, computed",
    "sag.clock.measured.note": (
        "Times as they were on this machine, where drafter and target share the processor: the drafter's work slows"
        " the target's down."
    ),
    "sag.clock.computed.note": (
        "Computed for two devices from times measured here: the same rounds, hits and misses, but each forward takes"
        " what it takes alone, on a device of its own. Messages and looking up are included."
    ),
    "sag.clock.none.waiting": "This clock needs times of forwards measured alone; they are taken by the next run.",
    "sag.clock.none.recorded": (
        "This clock needs times of forwards measured alone on the same machine; the file has none."
    ),
    "sag.lane.in_turn": "In turn: {method}",
    "sag.lane.ahead": "Ahead: {method}",
    "sag.lane.told": "{tokens} tokens in {seconds:.2f} s · {speed:.1f} tokens/s",
    # verdicts
    "sag.verdict.won.measured": (
        "Overlap won {ratio:.2f}× on this machine: {ahead:.1f} tokens/s instead of {in_turn:.1f}."
    ),
    "sag.verdict.won.computed": (
        "Overlap would win {ratio:.2f}× on two devices: {ahead:.1f} tokens/s instead of {in_turn:.1f}."
    ),
    "sag.verdict.even.measured": "Overlap changed nothing on this machine ({ratio:.2f}×).",
    "sag.verdict.even.computed": "Overlap would change nothing on two devices ({ratio:.2f}×).",
    "sag.verdict.lost.measured": (
        "Overlap lost on this machine, {ratio:.2f}×: {ahead:.1f} tokens/s instead of {in_turn:.1f}."
    ),
    "sag.verdict.lost.computed": (
        "Overlap would lose on two devices, {ratio:.2f}×: {ahead:.1f} tokens/s instead of {in_turn:.1f}."
    ),
    "sag.verdict.hid": (
        "{share:.0%} of the outcomes were foreseen, and of {drafting:.0f} ms of drafting a round {hidden:.0f} ms were"
        " hidden."
    ),
    "sag.verdict.not_hid": (
        "No drafting was hidden, though: of {drafting:.0f} ms a round there was little to hide. A round brought"
        " {mine:.1f} tokens instead of {other:.1f}, and a verification took {s:.2f}× as long."
    ),
    "sag.verdict.short": "The answers are too short to tell.",
    "sag.verdict.only_ahead": "There is no answer drafted in turn to compare with.",
    "sag.verdict.only_in_turn": "There is no answer that was prepared ahead yet.",
    "sag.because.cores": (
        "Verification took {s:.1f}× as long, because drafter and target share {cores} cores of one machine."
    ),
    "sag.because.wider": "Verification took {s:.1f}× as long, because its drafts were larger.",
    "sag.because.misses": "Only {p:.0%} of the outcomes were foreseen.",
    "sag.because.late": (
        "Preparing took {t_p:.1f}× as long as verification, so the target waited even where it was a hit."
    ),
    "sag.because.fewer": "A round brought {mine:.1f} tokens instead of {other:.1f}.",
    "sag.because.little": "Drafting takes only {d:.2f} of a verification, so there was little to hide.",
    "sag.fact.hits": "of the outcomes foreseen ({hits} of {rounds})",
    "sag.fact.rolled_back": "rounds rolled back, among them",
    "sag.fact.measured": "against drafting in turn, measured here",
    "sag.fact.computed": "against drafting in turn, two devices, computed",
    # one round
    "sag.round.hit": "hit",
    "sag.why.first": "first round",
    "sag.why.miss": "miss",
    "sag.why.late": "too late",
    "sag.why.rolled back": "rolled back",
    "sag.why.no drafter": "no drafter",
    "sag.cache.rank": "{token} (rank {rank})",
    "sag.said.came": "Of the {drafted} tokens of round {n} the target kept {k}, and added “{token}” itself.",
    "sag.said.hit": (
        "That outcome{rank} was one of {n} that had been prepared meanwhile, so the next draft was there after"
        " {waited:.1f} ms."
    ),
    "sag.said.rank": ", the drafter's guess no. {rank},",
    "sag.said.first": "Before the first round there was nothing to prepare for.",
    "sag.said.miss": "For {k} kept, {n} tokens had been prepared, and it was none of them: its rank is {rank}.",
    "sag.said.no_rank": "not known",
    "sag.said.late": "The drafter had not answered in time.",
    "sag.said.rolled back": "Nothing had been prepared: there were too many misses in a row before.",
    "sag.said.no drafter": "The drafter was not there: it has died, or is still starting.",
    "sag.served.immediate": "So a draft was made at once, and the target waited {waited:.1f} ms for it.",
    "sag.served.batched": "So drafts were made for all that had missed, and the target waited {waited:.1f} ms.",
    "sag.served.backup": "So n-grams were looked up instead, ready after {waited:.1f} ms.",
    "sag.served.nearest": "So the draft of the most similar outcome was offered, ready after {waited:.1f} ms.",
    "sag.served.nothing": "So the target went on without a draft.",
    "sag.fallback.immediate": "drafted at once",
    "sag.fallback.batched": "drafted for all misses",
    "sag.fallback.backup": "n-grams (SSSD)",
    "sag.fallback.nearest": "nearest prepared draft",
    "sag.fallback.nothing": "no draft",
    # figures
    "sag.share": "{share:.2f} ({part} of {whole})",
    "sag.panel.k": "Hits by the number kept",
    "sag.panel.k.said": "How often the outcome was foreseen when so many drafted tokens were kept.",
    "sag.bar.k": "{n} kept",
    "sag.panel.fan_out": "Hits by fan-out",
    "sag.panel.fan_out.said": "How often it was foreseen with so many tokens prepared for that number kept.",
    "sag.bar.fan_out": "{n} prepared",
    "sag.panel.ranks": "Rank of the bonus",
    "sag.panel.ranks.said": "The token that the target added, by its place among the drafter's guesses there.",
    "sag.panel.ranks.without": "In {n} rounds the drafter had made no guesses.",
    "sag.panel.fallbacks": "Served instead, and why",
    "sag.panel.fallbacks.said": "The first round of an answer is always a miss and not in the hit rate.",
    "sag.bar.why": "because: {why}",
    "sag.tail.title": "How much a wider fan-out helps",
    "sag.tail.x": "tokens prepared, F",
    "sag.tail.y": "share of bonus tokens of higher rank",
    "sag.tail.measured": "this answer",
    "sag.tail.law": "{c:.2f} · F^−{r:.2f}",
    "sag.tail.said": (
        "Misses fall about as {c:.2f} · F^−{r:.2f} with the fan-out F, fitted to the ranks of {n} rounds."
    ),
    "sag.tail.few": (
        "No power law from {n} bonus tokens: it takes {least}, two of them beyond the drafter's second guess."
    ),
    "sag.tail.none": "Every bonus was the drafter's first guess.",
    "sag.figures.note": (
        "Hit rate = hits ÷ all rounds after the first. Rounds that were rolled back count as rounds, and are also told"
        " apart."
    ),
    "sag.times.what": "time of a round, measured here",
    "sag.times.busy": "how busy",
    "sag.times.rounds": "rounds",
    "sag.times.p50": "half take at most",
    "sag.times.p95": "95 % take at most",
    "sag.times.hits": "with a hit",
    "sag.times.misses": "with a miss",
    "sag.times.drafter": "drafter busy",
    "sag.times.target": "target busy",
    "sag.times.waited": "target waited, in all",
    "sag.times.ngrams": "target looked n-grams up, in all",
    "sag.times.exposed": "… of that, after the drafter was done",
    # theory
    "sag.theory.title": "What theory expects",
    "sag.theory.head": "quantity",
    "sag.theory.meaning": "what it is",
    "sag.theory.p": "p",
    "sag.theory.p.is": "hit rate",
    "sag.theory.d": "d",
    "sag.theory.d.is": "time of a draft made in turn, in verifications",
    "sag.theory.s": "s",
    "sag.theory.s.is": "verification beside the drafter, as a multiple of that in turn",
    "sag.theory.t_p": "T_p",
    "sag.theory.t_p.is": "time of preparing, in verifications",
    "sag.theory.t_b": "T_b",
    "sag.theory.t_b.is": "what the target waits after a miss, in verifications",
    "sag.theory.e_hit": "E_hit",
    "sag.theory.e_hit.is": "tokens a round brings on a hit",
    "sag.theory.e_miss": "E_miss",
    "sag.theory.e_miss.is": "… on a miss",
    "sag.theory.verify_ms": "one verification",
    "sag.theory.verify_ms.is": "the unit of the times above, drafting in turn",
    "sag.theory.in_turn_predicted": "against drafting in turn, predicted",
    "sag.theory.in_turn_predicted.is": "(1 + d) ÷ (1 + (1 − p) · d), at most 1 + d; leaves s out",
    "sag.theory.in_turn_found": "… as it came out",
    "sag.theory.in_turn_found.is": "tokens per second, ahead ÷ in turn",
    "sag.theory.plain_predicted": "against plain decoding, predicted",
    "sag.theory.plain_predicted.is": "[p · E_hit + (1 − p) · E_miss] ÷ [p · max(1, T_p) + (1 − p) · (1 + T_b)]",
    "sag.theory.plain_found": "… as it came out",
    "sag.theory.plain_found.is": "against the speed of plain decoding on the same clock",
    "sag.theory.condition": "s + (1 − p) · T_b < 1 + d",
    "sag.theory.condition.is": "where this holds, preparing ahead should win",
    "sag.theory.waiting": "waiting after a miss pays",
    "sag.theory.waiting.is": "(p · E_hit + (1 − p) · E_miss) ÷ (1 + (1 − p) · T_b), tokens per verification",
    "sag.theory.going_on": "not waiting pays at least",
    "sag.theory.going_on.is": "p · E_hit + (1 − p) · 1, where n-grams bring nothing",
    "sag.theory.break_even": "not waiting pays more from",
    "sag.theory.break_even.is": "tokens that a round with n-grams alone must bring for that; more favours “partial”",
    "sag.theory.note": (
        "Published for comparison, one sequence, greedy: Llama-3.1-70B with a 3.2-1B drafter made 54.7 tokens/s"
        " plainly, 161.8 drafting in turn and 255.8 preparing ahead, on 4 H100 and one more H100 for the drafter"
        " (arXiv 2603.03251)."
    ),
    # sweep of C
    "sag.sweep.heading": "Foreseen or accepted: the constant C",
    "sag.sweep.hint": (
        "With Saguaro sampling, drafted tokens avoid those whose refusal is prepared. A lower C makes outcomes easier"
        " to foresee, and drafts worse. This asks the question above once for each C, at a temperature above 0."
    ),
    "sag.sweep.title": "Hit rate against acceptance",
    "sag.sweep.x": "drafted tokens accepted, of those tested",
    "sag.sweep.y": "hit rate",
    "sag.sweep.c": "C",
    "sag.sweep.hits": "foreseen",
    "sag.sweep.accepted": "accepted",
    "sag.sweep.per_forward": "tokens per forward",
    "sag.sweep.now": "C = {c:g}: {tokens} tokens so far.",
    "sag.sweep.said": (
        "From C = {c:g} to {low:g} the hit rate goes from {hits:.2f} to {low_hits:.2f} and acceptance from"
        " {accepted:.2f} to {low_accepted:.2f}. One answer for each C is little: look at the direction."
    ),
    # refusals
    "sag.refuse.empty": "Please write a question.",
    "sag.refuse.running": "A run of this page is under way; stop it first.",
    "sag.refuse.greedy": "At temperature 0 nothing is sampled, so C has no effect; please set a temperature above 0.",
    "sag.refuse.nothing": "There is nothing to save yet.",
    "sag.refuse.method": "There is no method {method} here; there are {known}.",
    "sag.refuse.file": (
        "{name} holds neither a run of this tab nor a trace of a method that drafts with a model or ahead."
    ),
    # what travels to the browser
    "view.sag.clock": "clock",
    "view.sag.measured": "measured here",
    "view.sag.computed": "two devices, computed",
    "view.sag.drafter": "D",
    "view.sag.target": "T",
    "view.sag.who": "D drafter, T target",
    "view.sag.d": "drafting, while the target waits",
    "view.sag.p": "preparing for what may come",
    "view.sag.l": "looking up",
    "view.sag.w": "waiting for a draft",
    "view.sag.n": "n-grams",
    "view.sag.v": "verifying",
    "view.sag.hit": "hit: the draft lay ready",
    "view.sag.miss": "miss",
    "view.sag.timeline": "Rounds of the answer prepared ahead; arrow keys open one after another",
    "view.sag.scroll": "Timelines of drafter and target",
    "view.sag.empty": "Two timelines appear here, one above the other: drafting in turn, and preparing ahead.",
    "view.sag.cache": "What was prepared for round {n}",
    "view.sag.cache_none": "Open a round to see which outcomes were prepared for it, and which came true.",
    "view.sag.nothing_prepared": "Nothing was prepared for this round.",
    "view.sag.kept": "kept",
    "view.sag.added": "tokens prepared as the target's next, likeliest first",
    "view.sag.came": "came true",
    "view.sag.not_prepared": "came true, not prepared",
    "view.sag.previous": "previous round",
    "view.sag.next": "next round",
    "view.sag.wider": "wider",
    "view.sag.narrower": "narrower",
    "view.sag.bar": "{what}: {ms} ms, round {n}",
    # marks in the Chat and Compare tabs
    "view.cache.hit": "● hit: this draft lay ready, one of {n} prepared outcomes",
    "view.cache.miss": "○ miss: the outcome was not among {n} prepared; {served}",
    "view.cache.late": "○ the drafter was late; {served}",
    "view.cache.rolled_back": "○ rolled back, nothing prepared; {served}",
    "view.cache.no_drafter": "○ no drafter; {served}",
    "view.cache.first": "first round, nothing prepared yet",
    "view.cache.served.immediate": "drafted at once",
    "view.cache.served.batched": "drafted for all misses",
    "view.cache.served.backup": "n-grams instead",
    "view.cache.served.nearest": "nearest prepared draft instead",
    "view.cache.served.nothing": "no draft",
    "view.cache.legend": "● hit ○ miss of the speculation cache",
}
