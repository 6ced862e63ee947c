"""Displays of a running run: a live table, plain lines, JSON events."""
