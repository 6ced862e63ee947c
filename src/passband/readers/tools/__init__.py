"""Logs of other tools, one module per format; none imports another."""
