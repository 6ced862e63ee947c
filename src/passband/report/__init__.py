"""What people and programs read: results as rows, and rows as text."""
