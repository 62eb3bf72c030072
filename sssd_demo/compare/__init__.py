"""The same questions through several methods, for a visitor to look at: traces and not only figures.

`plan.py` says who answers what in which order, `comparing.py` lets them, `comparison.py` is what came of it,
`figures.py` sums it up, `table.py` and `archive.py` make files of it. No screen here; the command `bench` measures more
questions and keeps figures only.
"""
