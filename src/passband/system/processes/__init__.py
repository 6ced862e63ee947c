"""Processes that passband starts: launching, what they may do, and a pool that reuses them."""
