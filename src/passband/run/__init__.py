"""Asking: what is missing, one attempt after another, into the trials table."""
