"""The texts of the Roofline tab, by key; see `words.py`."""

from __future__ import annotations

ROOFLINE_WORDS = {
    "tab.roof": "Roofline",
    "roof.lead": (
        "**How much guessing pays depends on how many answers share the machine.** One run of the model, a *forward*,"
        " reads all its weights once, however many tokens it checks. While reading is what takes the time, checking a"
        " few guesses more is nearly free. Once arithmetic takes over, every guess costs; and every answer that is"
        " written in the same forward uses some of the free room. Here one can see where that happens, let a rule"
        " choose how many tokens go into a forward, and run it to find out whether the rule was right."
    ),
    "roof.loading": "The model is not ready yet; please try again in a moment.",
    "roof.stop": "Stop",
    # this machine
    "roof.machine.title": "1 · What this machine can do",
    "roof.machine.measure": "Measure this machine",
    "roof.machine.waiting": "The model is being loaded; then its forwards can be measured here.",
    "roof.machine.none": (
        "Nothing has been measured on this machine yet. Measure it: the model's forwards are timed for all batch"
        " sizes, between the answers of other visitors, which takes a minute or two."
    ),
    "roof.machine.quick": (
        "So far only forwards of one sequence were timed, in a second at the start; larger batches are taken as one"
        " long sequence, which is not exact. Measure this machine to know them (a minute or two)."
    ),
    "roof.machine.whole": (
        "Forwards of 1 to {batch} sequences were timed ({n} sizes). A large matrix product gives the operations a"
        " second, a buffer larger than any cache the bytes a second. Their ratio is the **knee**: so many operations"
        " for every byte must be done before arithmetic is what takes the time."
    ),
    "roof.machine.busy": (
        "While it was measured, the machine was busy with something else: one token took {ms:.0f} ms, but {usual:.0f}"
        " ms when plain decoding was measured ({when}). Measure again when it is quiet."
    ),
    "roof.machine.experts": (
        "This model is a mixture of experts: how many weights a forward reads depends on the text, so it has no place"
        " in the picture of the roof; measured times hold all the same."
    ),
    "roof.fact.flops": "GFLOP/s, {dtype}",
    "roof.fact.bandwidth": "GB/s from memory",
    "roof.fact.knee": "operations a byte at the knee",
    "roof.fact.tokens": "tokens in a forward at the knee, by the weights alone",
    "roof.fact.one": "ms, one forward of one token",
    "roof.when": "Measured {when} UTC.",
    "roof.measuring": "Measuring: {batch} × {length} tokens after {context} others. Answers of visitors go first.",
    "roof.measured": "Measured and kept for later starts; every choice below rests on it now, in the chat too.",
    "roof.measure_stopped": "Stopped; what was known before stays in use.",
    "roof.busy": "Another measurement is running here; please wait for its end.",
    "roof.failed": "It ended early: {reason}",
    "roof.fault": "something went wrong here; it was noted, and the app goes on.",
    # the plan
    "roof.plan.title": "2 · What a rule would choose",
    "roof.plan.hint": (
        "Move the slider: the length s_q, so many tokens of each sequence in a forward (its last one and the guesses"
        " behind it), is chosen anew at once."
    ),
    "roof.plan.batch": "sequences that share a forward (batch size b)",
    "roof.plan.live": "live: what visitors run now",
    "roof.plan.context": "tokens written so far",
    "roof.plan.hardware": "machine",
    "roof.plan.here": "this one (measured)",
    "roof.plan.elsewhere": "{name} (computed)",
    "roof.plan.model": "model on it",
    "roof.plan.this_model": "this model",
    "roof.plan.bits": "bits a weight",
    "roof.plan.as_here": "as here",
    "roof.rule.off": "plain decoding",
    "roof.rule.roofline": "roofline: knee ÷ b",
    "roof.rule.knee": "knee: 20 % longer",
    "roof.rule.auto": "goodput (auto)",
    "roof.rule.letter.off": "1",
    "roof.rule.letter.roofline": "R",
    "roof.rule.letter.knee": "K",
    "roof.rule.letter.auto": "G",
    "roof.column.rule": "rule",
    "roof.column.s_q": "s_q",
    "roof.column.forward": "a forward takes",
    "roof.column.tokens": "and brings, a sequence",
    "roof.column.all": "all sequences together",
    "roof.column.ratio": "× plain",
    "roof.column.why": "why",
    "roof.why.off": "one token of each sequence, no guesses",
    "roof.why.roofline": "{knee:.1f} tokens at the knee ÷ {batch} = {share:.1f}; at least 1, at most {most}",
    "roof.why.roofline_none": "needs the peaks, which were not measured",
    "roof.why.knee": "the most that take no longer than {ride:g} times one token each",
    "roof.why.auto": "the most tokens a second; chosen anew every round ({low} to {high} here)",
    "roof.why.auto_always": "the most tokens a second; chosen anew every round, here always the same",
    "roof.why.auto_assumed": "the most tokens a second, if the assumption below holds",
    "roof.why.auto_none": "needs to know how many guesses are right: press Run once",
    "roof.value.ms": "{ms:.1f} ms",
    "roof.value.tokens": "{tokens:.2f} tokens",
    "roof.value.speed": "{speed:,.0f} tokens/s",
    "roof.value.ratio": "{ratio:.2f}×",
    "roof.yield.measured": (
        "How many guesses are right was measured here: {answers} answers drafted with {s_q} tokens a forward and never"
        " cut, {rounds} forwards; the rules are played through on them. On average a forward brought {curve}."
    ),
    "roof.yield.assumed": (
        "How many guesses are right is **assumed**, not measured: as when recorded answers of {model} were drafted"
        " again ({store}; benchmarks/results/calibration.json). A forward then brings {curve}. Press Run and it is"
        " measured."
    ),
    "roof.yield.assumed.store": "with the store that comes with the app",
    "roof.yield.assumed.none": "without a store",
    "roof.yield.unknown": "How many guesses are right is not known yet: press Run once, and it is measured.",
    "roof.yield.point": "{tokens:.2f} tokens at s_q = {s_q}",
    "roof.yield.drafting": (
        " Drafting and learning from it take {ms:.2f} ms for each sequence and forward; the plan includes that."
    ),
    "roof.plan.nothing": "Nothing is known of this machine yet, so nothing can be chosen.",
    "roof.plan.pays": (
        "At {batch}, goodput puts {s_q} of each into a forward: planned are {speed:,.0f} tokens a second instead of"
        " {plain:,.0f}, {ratio:.2f}× plain decoding."
    ),
    "roof.plan.does_not_pay": (
        "At {batch}, guessing is not planned to pay: {speed:,.0f} tokens a second against {plain:,.0f} of plain"
        " decoding, {ratio:.2f}×. Goodput puts {s_q} of each into a forward."
    ),
    "roof.plan.drafting": (" Drafting takes {ms:.1f} ms of a round, also where the drafts are then given up."),
    "roof.plan.no_yield": "At {batch}, plain decoding is planned at {plain:,.0f} tokens a second.",
    "roof.plan.against.off": " The Roofline's rule would switch guessing off there.",
    "roof.plan.against.more": " The Roofline's rule would take {s_q}, and be planned at {ratio:.2f}×.",
    "roof.plan.against.same": " The Roofline's rule chooses alike.",
    "roof.plan.computed": (
        "**Computed from the vendor's figures, not measured:** on {device}, {model} with {bits}-bit weights. Real"
        " forwards are slower than the roof."
    ),
    "roof.plan.does_not_fit": " It would not fit into the {memory:.0f} GB of one of them ({needs:.0f} GB are needed).",
    "roof.sequences": "{n} sequences",
    "roof.sequence": "1 sequence",
    "roof.tokens": "{n} tokens",
    "roof.token": "1 token",
    # what visitors are doing now
    "roof.live.idle": "Live: nobody is being answered now; the last choice of the slider holds.",
    "roof.live.now": "Live: {sequences} being answered now, in the last forward together: {batch}.",
    "roof.live.rounds": (
        " Over their last {n} forwards: s_q {s_q:.1f}, {tokens:.2f} tokens a forward of each, {ms:.1f} ms a forward;"
        " the profile says {planned:.1f} ms for that."
    ),
    # the pictures of the plan
    "roof.chart.roof": "The roof: operations a second against operations a byte",
    "roof.chart.roof_x": "operations for every byte read",
    "roof.chart.roof_y": "GFLOP/s",
    "roof.chart.roof_here": "roof of this machine, measured",
    "roof.chart.roof_there": "roof of {device}, computed",
    "roof.chart.path": "{batch}: s_q from 1 to {most}, by measured times",
    "roof.chart.path_there": "{batch}: s_q from 1 to {most}, computed",
    "roof.chart.knee": "knee {knee:.3g}",
    "roof.chart.choices": "what is chosen: 1 plain, R roofline, K knee, G goodput",
    "roof.chart.time": "How long a forward takes",
    "roof.chart.time_x": "tokens of each sequence (s_q)",
    "roof.chart.time_y": "ms",
    "roof.chart.batch": "b = {batch}",
    "roof.chart.this_batch": "{batch}",
    "roof.chart.limit": "20 % longer than one token each",
    "roof.chart.none": "Nothing was measured yet.",
    "roof.said.memory": (
        "With {s_q} of {batch} a forward does {intensity:.1f} operations for every byte it reads. The knee is at"
        " {knee:.1f}, so reading is what takes the time, and more tokens are nearly free."
    ),
    "roof.said.arithmetic": (
        "With {s_q} of {batch} a forward does {intensity:.1f} operations for every byte it reads. That is beyond the"
        " knee ({knee:.1f}): arithmetic takes the time, and every further token costs."
    ),
    "roof.said.below": (
        " It reaches {attained:,.0f} GFLOP/s, {share:.0%} of the roof there: what this picture leaves out (attention,"
        " small operations between the large ones) takes the rest, so lengths are better chosen by the measured times."
    ),
    "roof.said.computed": " Computed from the vendor's figures; every point stands on the roof.",
    "roof.said.computed_time": " Computed from the vendor's figures.",
    "roof.said.time": (
        "At {batch} a forward of one token each takes {one:.1f} ms, of {longer} tokens {more:.1f} ms ({ratio:.2f}×);"
        " up to {knee} tokens take at most 20 % longer."
    ),
    "roof.said.time_free": (
        "At {batch} a forward of one token each takes {one:.1f} ms, of {longer} tokens {more:.1f} ms ({ratio:.2f}×):"
        " not even a second token takes less than 20 % longer."
    ),
    "roof.said.time_guess": " Only one sequence was timed: this is one sequence of as many tokens.",
    # the run
    "roof.run.title": "3 · Run it, and see whether the plan was right",
    "roof.run.hint": (
        "So many different prompts are answered together, at most {longest} tokens each counted, plainly and with the"
        " methods chosen. Figures are taken while all of them are being written. Before the first run, {sample}"
        " answers are drafted with {s_q} tokens a forward to see how many guesses are right."
    ),
    "roof.run.methods": "besides plain decoding",
    "roof.run.one": "Run b = {batch}",
    "roof.run.sweep": "Run 1, 2, 4, 8, 16",
    "roof.run.idle": "Nothing has been run here yet; dashed lines are the plan.",
    "roof.run.sampling": "First, how many guesses of {method} are right: {tokens} tokens of each of {n} answers.",
    "roof.run.running": "{sequences}, {method}: {tokens} tokens of each so far.",
    "roof.run.done": "Finished.",
    "roof.run.stopped": "Stopped; what was measured before stays.",
    "roof.run.too_many": (
        "This machine decodes at most {most} sequences at once, so {batch} cannot be run; the plan above goes further."
    ),
    "roof.run.no_method": "There is no method called {method!r} here; the methods are {known}.",
    "roof.run.no_prompts": "The prompts for this are missing: {reason}",
    "roof.run.others": "Another visitor is measuring here: {now}",
    "roof.run.too_short": "{batch} with {method}: the answers ended too early to tell anything.",
    "roof.chart.speed": "All sequences together",
    "roof.chart.wait": "What one sequence waits for a token",
    "roof.chart.gain": "Gain over plain decoding",
    "roof.chart.pareto": "Many or fast: both at once",
    "roof.chart.b": "sequences together (b)",
    "roof.chart.speed_y": "tokens/s",
    "roof.chart.wait_y": "ms a token (bar: to the 95th percentile)",
    "roof.chart.gain_y": "× plain",
    "roof.chart.pareto_x": "tokens/s that one sequence sees",
    "roof.chart.pareto_y": "tokens/s of all together",
    "roof.chart.measured": "{method}, measured",
    "roof.chart.planned": "{method}, planned",
    "roof.chart.even": "no gain",
    "roof.run.verdict": (
        "At {batch} this machine writes {speed:,.0f} tokens a second with {method} and {plain:,.0f} plainly: guessing"
        " gains {ratio:.2f}×."
    ),
    "roof.run.verdict_loses": (
        "At {batch} this machine writes {speed:,.0f} tokens a second with {method} and {plain:,.0f} plainly: guessing"
        " loses here, {ratio:.2f}×."
    ),
    "roof.run.verdict_even": (
        "At {batch} this machine writes {speed:,.0f} tokens a second with {method} and {plain:,.0f} plainly: guessing"
        " neither gains nor loses, {ratio:.2f}×."
    ),
    "roof.run.drafting": " Of a round of {took:.1f} ms, drafting took {ms:.1f} ms.",
    "roof.run.agrees": " Planned were {planned:,.0f}, {off}: the plan holds.",
    "roof.run.disagrees": " Planned were {planned:,.0f}, {off}.",
    "roof.run.off.high": "{share:.0%} too many",
    "roof.run.off.low": "{share:.0%} too few",
    "roof.run.off.times": "{times:.1f} times as many as it were",
    "roof.run.off.none": "as many",
    "roof.run.because.slow": " The reason: a round took {took:.1f} ms, not {planned:.1f}.",
    "roof.run.because.fast": " The reason: a round took only {took:.1f} ms, not {planned:.1f}.",
    "roof.run.because.load": " Others were answered in the same forwards (under load).",
    "roof.run.because.drafting": " Most of that was drafting and learning from it ({ms:.1f} ms), not the forward.",
    "roof.run.because.quick": " Batches of this size had not been timed: measure this machine and run again.",
    "roof.run.because.busy": " The machine is busier than when its forwards were timed.",
    "roof.run.because.quiet": " The machine is less busy than when its forwards were timed.",
    "roof.run.because.fewer": (
        " The reason: fewer guesses were right, {tokens:.2f} tokens a forward of each instead of {planned:.2f}. The"
        " plan rests on a sample of answers, and texts differ."
    ),
    "roof.run.because.more": (
        " The reason: more guesses were right, {tokens:.2f} tokens a forward of each instead of {planned:.2f}. The"
        " plan rests on a sample of answers, and texts differ."
    ),
    "roof.run.because.assumed": (
        " The reason: {tokens:.2f} tokens a forward of each instead of {planned:.2f}, which was assumed."
    ),
    "roof.run.no_plan": " There was no plan for it.",
    "roof.said.speed": (
        "With {method} the machine writes {first:,.0f} tokens a second at {few} and {last:,.0f} at {many}:"
        " {times:.1f}× as many."
    ),
    "roof.said.wait": (
        "One sequence waited {first:.0f} ms for a token at {few} and {last:.0f} ms at {many}, with {method}."
    ),
    "roof.said.gain_always": "Guessing gains at every batch size measured: {least:.2f}× to {most:.2f}×.",
    "roof.said.gain_until": "Guessing gains up to {batch}; from {beyond} on it does not: {ratio:.2f}×.",
    "roof.said.gain_never": "Guessing gains at none of the batch sizes measured: at best {most:.2f}×.",
    "roof.said.gain_mixed": "Guessing gains at the batch sizes {gains}, and not at the others that were measured.",
    "roof.said.pareto": (
        "Further right is faster for each, further up more for all. At {batch} {method} gives each sequence {fast:.1f}"
        " tokens a second and all together {all:,.0f}."
    ),
    "roof.said.planned_only": "Only the plan so far; Run fills in what is true.",
    "roof.said.one_only": "Measured at {batch} only; a sweep shows the whole curve.",
    "roof.table.title": "The figures",
    "roof.column.batch": "b",
    "roof.column.method": "method",
    "roof.column.measured": "tokens/s",
    "roof.column.planned": "planned",
    "roof.column.gain": "× plain",
    "roof.column.wait": "ms a token, p50 · p95",
    "roof.column.per_forward": "tokens a forward",
    "roof.column.verify": "verify ms",
    "roof.column.draft": "draft ms",
    "roof.column.shared": "really together",
    "roof.column.when": "UTC",
    "roof.value.shared": "{forwards} forwards of {sizes}",
    "roof.value.load": " · under load",
    "roof.value.pair": "{value} (planned {planned})",
    "roof.run.fine": (
        "Greedy answers to {prompts} prompts written for this project ({store}); {model}, {dtype}, {device}. Tokens a"
        " second are those of all sequences while all of them were being written, drafting and everything else"
        " included; a sequence's wait is that time by its own tokens. Small batches are run up to {waves} times, with"
        " other prompts. Planned: forward times as measured in part 1, texts of {shortest} to {longest} tokens, and"
        " the rule that the chat uses played through on the drafts of the sample."
    ),
    "roof.run.store": "with the store {name}",
    "roof.run.no_store": "without a store",
    # other devices
    "roof.there.title": "4 · On other machines, by their vendor's figures",
    "roof.there.hint": (
        "Nothing here was measured: peak and bandwidth are what the vendor says, for dense 16-bit matrices, and the"
        " length is the knee shared by the batch. A weight of w bytes is read once and serves two operations a token,"
        " so the knee stands at I_knee · w / 2 tokens: 4-bit weights reach it four times as soon as 16-bit ones."
    ),
    "roof.column.device": "device",
    "roof.column.peak": "TFLOP/s",
    "roof.column.memory": "GB/s",
    "roof.column.knee": "knee (operations a byte)",
    "roof.column.knee_tokens": "knee (tokens)",
    "roof.column.at": "s_q at b = {batch}",
    "roof.column.fits": "fits",
    "roof.column.source": "vendor's figures",
    "roof.fits.yes": "yes",
    "roof.fits.no": "no",
    "roof.fits.unknown": "–",
    "roof.there.verdict": (
        "With {bits}-bit weights and {batch}, the rule would put {most} tokens of each into a forward on {widest} and"
        " {least} on {narrowest}."
    ),
    "roof.there.verdict_same": "With {bits}-bit weights and {batch}, the rule would choose {most} on all of them.",
    "roof.there.capped": "No more than {most} tokens of a sequence are ever chosen.",
}
