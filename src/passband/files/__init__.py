"""Bytes to rows and back: records, archives, JSON streams, spreadsheets. Knows no trials."""
