"""Distributions of success probabilities, fitted to counts."""
