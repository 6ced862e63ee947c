"""Queries on a trials table: filters, pages, counts, search."""
