"""Run functions that may hang in worker processes that can be killed."""
