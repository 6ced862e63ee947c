"""Fresh trials until a gate can decide."""
