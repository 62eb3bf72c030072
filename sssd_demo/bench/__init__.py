"""Methods measured side by side on the same questions.

`lanes.py` and `library.py` answer, `runner.py` decides who answers what when, `figures.py` sums up.
"""

BASELINE = "autoregressive"  # always measured; every speed-up is against it
LOOKUP = "transformers-prompt-lookup"
ASSISTED = "transformers-assisted"  # needs a draft model
LIBRARY = ("transformers-generate", LOOKUP, ASSISTED)  # the model library's own decoding, all greedy, one at a time
