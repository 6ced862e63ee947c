"""Bootstrap intervals."""
