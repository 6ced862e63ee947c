"""Runs and commands of tests, and what is on disk afterwards."""
