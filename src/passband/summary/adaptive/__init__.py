"""Summaries of adaptive tests."""
