"""Methods measured side by side on the same questions.

`lanes.py` and `library.py` answer, `runner.py` decides who answers what when, `figures.py` sums up.
"""

BASELINE = "autoregressive"  # always measured; every speed-up is against it
LIBRARY = "transformers-generate"  # the model library's own greedy decoding
