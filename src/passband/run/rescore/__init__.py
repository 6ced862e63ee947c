"""Score recorded trials again: other scorers, prices, programs, clusters."""
