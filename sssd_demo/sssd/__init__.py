"""SSSD (Simply-Scalable Speculative Decoding, arXiv 2411.05894): drafts from text that was seen before.

Reading order: `constants`, `trie` (this conversation), `datastore` and `sampled` (past text), `merge` (one draft
tree out of both), `drafter` (all of it for one sequence). Nothing here knows a model or a tokenizer.
"""
