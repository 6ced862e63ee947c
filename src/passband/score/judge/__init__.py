"""Judges: models that score answers by a rubric."""
