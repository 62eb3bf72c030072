"""The texts of the Datastore tab, by key; see `words.py`."""

from __future__ import annotations

DATASTORE_WORDS = {
    "tab.store": "Datastore",
    "store.lead": (
        "**How guessing gets better by use.** SSSD guesses the next tokens (words or pieces of words) by looking up"
        " where the last few stood before, and what came next there: in this conversation, and in a **datastore** of"
        " past text. A datastore begins empty and learns from every answer. No training, no second model."
    ),
    "store.loading": "The model is not ready yet; please try again in a moment.",
    # watching one grow
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
        " forward; a point sums up the last {window} conversations. All lines come from drafting each finished answer"
        " again, with both sources or one: exact for greedy answers, since a guess counts exactly where it is what the"
        " model wrote. Decoding itself also learned from refused guesses, and mostly did a little better."
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
    # counts
    "store.documents": "{n:,} documents",
    "store.document": "1 document",
    "store.tokens": "{n:,} tokens",
    "store.token": "1 token",
    # experiments
    "store.lab.title": "4 · Measured before, by command",
    "store.lab.made": "{device} · {model} · {date} · {command}",
}
