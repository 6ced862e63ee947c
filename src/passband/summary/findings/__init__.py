"""The values of a report, computed from the trials table: numbers and names, nothing drawn."""
