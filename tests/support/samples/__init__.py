"""Small data of every kind that tests read."""
