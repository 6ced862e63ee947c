"""Plain tables: CSV, JSON Lines, matrices and passband's own exports."""
