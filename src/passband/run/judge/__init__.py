"""Asking judges: which models, with what patience and at what price, and the record of it."""
