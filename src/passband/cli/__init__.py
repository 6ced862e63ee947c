"""The command line: one short file per verb."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the `passband` command; Ctrl-C while it is still being imported ends it quietly."""
    try:
        from passband.cli.app import main
    except KeyboardInterrupt:
        sys.exit(130)
    main()
