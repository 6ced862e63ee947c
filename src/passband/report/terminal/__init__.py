"""Display a run in progress: a live table, plain lines, JSON events."""
