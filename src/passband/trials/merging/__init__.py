"""Merge run directories."""
