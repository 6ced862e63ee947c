"""Shards of a run: parts that processes of their own ask for, on this machine or on others."""
