"""Judges in a summary: numbers that are a judge's, numbers corrected by labels, agreement."""
