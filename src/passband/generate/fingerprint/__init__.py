"""Fingerprints of Python models: a digest of their source code."""
