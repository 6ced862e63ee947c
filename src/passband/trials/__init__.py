"""The trials table: one row per trial, one score per row and scorer, on disk."""
