"""Comparisons of models, and their remarks."""
