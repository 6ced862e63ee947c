"""The command line: one short file per verb."""

from passband.cli.app import app, main

__all__ = ["app", "main"]
