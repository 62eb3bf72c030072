"""Every method of drafting behind one small protocol; one file per method.

To add a method: write one file with a class that has `propose` (and `begin`, `observe`, `end` as needed) and
name it in `registry.py`. A speculator never sees the target's logits before it proposes and never decides what
is accepted.
"""
