"""From a completion to a score: answer extraction, scorers, repeat aggregation."""
