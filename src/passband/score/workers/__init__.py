"""Functions that may hang, run in worker processes that can be killed."""
