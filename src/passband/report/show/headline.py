"""The first line of what is shown: how many trials were found, and of what."""

from __future__ import annotations

from collections.abc import Sequence

from passband.report.rendering import printable
from passband.report.words import counted


def headline(
    name: str,
    found: tuple[int, int],
    total: tuple[int, int],
    conditions: Sequence[str] = (),
) -> str:
    """Return how many of all trials and problems were found under some conditions.

    >>> headline("sums by tiny", (49, 16), (80, 20), ["wrong"])
    'sums by tiny: 49 of 80 trials are wrong (16 of 20 problems)'
    >>> headline("sums by tiny", (80, 20), (80, 20))
    'sums by tiny: 80 trials of 20 problems'
    """
    if found == total and not conditions:
        text = f"{counted(total[0], 'trial')} of {counted(total[1], 'problem')}"
    else:
        what = f" {'is' if found[0] == 1 else 'are'} {' and '.join(conditions)}"
        text = (
            f"{found[0]:,} of {counted(total[0], 'trial')}{what if conditions else ''} "
            f"({found[1]:,} of {counted(total[1], 'problem')})"
        )
    return printable(f"{name}: {text}")
