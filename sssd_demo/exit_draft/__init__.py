"""A draft model for a model without a small sibling: its own first layers, then a few trained ones with an early exit.

`model.py` says what such a model is and builds it, `data.py` turns recorded answers into examples, `train.py` learns
from them. Saved, it is a folder that loads by name like any other draft model.
"""
