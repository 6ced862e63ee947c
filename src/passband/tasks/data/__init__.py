"""Rows of data sets, and the problems made of them."""
