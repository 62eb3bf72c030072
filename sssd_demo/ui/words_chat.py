"""The texts of the Chat tab, by key; see `words.py`."""

from __future__ import annotations

CHAT_WORDS = {
    "tab.chat": "Chat",
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
    # notices
    "notice.model": "Getting {name} ready …",
    "notice.waiting": "Waiting for a free place …",
    "notice.stopped_waiting": "Stopped before it began; your message is back in the box.",
    "notice.removed": "Answered anew; {n} later messages were taken away.",
    "notice.forgotten": "Everything in this page's own store is gone, pasted text and files too.",
    "notice.trace_gone": "The tokens of that answer are no longer kept here.",
    "notice.replay": "Replaying {name}: recorded on {device}, {date}.",
}
