"""Fuzz targets, mutations and bit flips."""
