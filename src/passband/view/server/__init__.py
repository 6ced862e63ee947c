"""Serve pages: addresses, guard, and the life of the server."""
