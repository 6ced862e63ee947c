"""Reports: results as rows, and rows as text."""
