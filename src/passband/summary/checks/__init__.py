"""Checks of a run that end up as notes: known bad keys, shared wrong answers, programs, shards."""
