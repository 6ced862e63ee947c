"""What was observed: arrays, tables and files become outcomes."""
