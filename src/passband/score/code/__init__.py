"""Score programs that a model wrote: extraction, tests, verdicts, re-runs."""
