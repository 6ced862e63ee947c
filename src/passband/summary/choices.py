"""What was chosen about the data: how many first trials are used, and which findings accepted."""

from __future__ import annotations

from collections.abc import Sequence


def choice_lines(first: int | None, accept: Sequence[str]) -> list[str]:
    """Return what to say of a result that rests on such choices.

    >>> choice_lines(2, ["drift", "trials-related"])
    ['only the first 2 trials of each problem are used', 'accepted: drift, trials-related']
    """
    lines = []
    if first is not None:
        trials = "trial" if first == 1 else f"{first} trials"
        used = "is" if first == 1 else "are"
        lines.append(f"only the first {trials} of each problem {used} used")
    if accept:
        lines.append(f"accepted: {', '.join(dict.fromkeys(accept))}")
    return lines
