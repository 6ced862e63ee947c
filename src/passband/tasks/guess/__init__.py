"""Tasks from plain data files: guess the question, answer and choice columns."""
