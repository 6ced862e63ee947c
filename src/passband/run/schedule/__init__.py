"""Which trials are asked for next."""
