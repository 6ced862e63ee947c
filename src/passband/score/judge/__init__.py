"""Judges: models that score answers by a rubric, and how their verdicts are asked for and read."""
