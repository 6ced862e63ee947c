"""Adaptive tests: item banks, choosing the next item, and when to stop."""
