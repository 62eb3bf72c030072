"""Saguaro, or speculative speculative decoding (arXiv 2603.03251): drafts prepared while the target verifies."""
