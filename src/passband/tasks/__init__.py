"""Tasks: files, data sets, prompts, and the scorers of the answers."""
