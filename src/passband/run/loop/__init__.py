"""The run loop: ask, score, record."""
