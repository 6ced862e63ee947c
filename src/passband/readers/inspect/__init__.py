"""Logs of Inspect AI: .eval and .json."""
