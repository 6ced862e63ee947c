"""What is computed from outcomes: credit vectors, their kernel, and the metrics by name."""
