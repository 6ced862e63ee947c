"""Task files in YAML: their schema, how they are loaded, and the code that they may name."""
