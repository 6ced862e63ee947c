"""Posterior intervals."""
