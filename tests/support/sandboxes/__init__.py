"""Sandboxes, wheels and the canary key of tests."""
