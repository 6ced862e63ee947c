"""Several models and tasks in one run directory."""
