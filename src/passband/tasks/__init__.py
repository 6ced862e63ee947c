"""Tasks: what is asked, of which data, and how the answers are scored."""
