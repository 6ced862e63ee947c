"""Damage to a store: audit, backup, salvage."""
