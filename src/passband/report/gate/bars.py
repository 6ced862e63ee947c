"""Differences of a gate drawn with letters: interval, zero and tolerance of each comparison.

                   -0.1                  0                   0.1
    sums   pass@1  ┊             ╎   ────┼─●─────              ┊
    words  pass@1  ┊   ──────●───╎──     │                     ┊

`─` is the interval, `●` the difference, `│` or `┼` zero, `╎` the loss that is tolerated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from passband.report.rendering import printable
from passband.summary import GateLine

GATE_LEGEND = (
    "● the difference new - base, ─ its interval, │ or ┼ zero, ╎ the loss that is tolerated"
)
GATE_SIGNS = "─●│┼╎┊"  #: that the encoding of the terminal must have
_WIDTH = 45  # letters; odd, so that zero has a place of its own
_STEPS = (1.0, 2.0, 5.0, 10.0)
_LONGEST = 32  # letters of the name of a task


def difference_bars(lines: Sequence[GateLine]) -> list[str]:
    """Return a line for each comparison on a scale that all share, and one with the scale above.

    Comparisons on other scales than shares of 1, and those without an interval, are left out.
    """
    drawn = [line for line in lines if line.is_share and line.low is not None]
    if not drawn:
        return []
    reach = _reach(drawn)
    tasks = [_cut(printable(line.task)) for line in drawn]
    metrics = [printable(line.metric) for line in drawn]
    widths = [max(map(len, names)) for names in (tasks, metrics)]
    head = f"{'':{widths[0]}}  {'':{widths[1]}}  {_axis(reach)}"
    return [
        head,
        *(
            f"{task:{widths[0]}}  {metric:{widths[1]}}  {_bar(line, reach)}"
            for task, metric, line in zip(tasks, metrics, drawn, strict=True)
        ),
    ]


def _reach(lines: Sequence[GateLine]) -> float:
    """Return how far the scale goes to either side: 1, 2 or 5 times a power of ten."""
    far = max(
        max(abs(end) for end in (line.low, line.high, line.tolerance) if end is not None)
        for line in lines
    )
    power = 10.0 ** math.floor(math.log10(far))
    return next(step * power for step in _STEPS if step * power >= far - 1e-12)


def _axis(reach: float) -> str:
    left, right = f"{-reach:g}", f"{reach:g}"
    middle = _WIDTH // 2
    return f"{left:<{middle}}0{right:>{_WIDTH - middle - 1}}"


def _bar(line: GateLine, reach: float) -> str:
    """Draw one difference, its value over everything else."""
    signs = [" "] * _WIDTH
    signs[0] = signs[-1] = "┊"
    zero = _place(0.0, reach)
    signs[zero] = "│"
    if line.low is not None and line.high is not None:
        low, high = _place(line.low, reach), _place(line.high, reach)
        signs[low : high + 1] = "─" * (high - low + 1)
        signs[zero] = "┼" if low <= zero <= high else "│"
    tolerated = line.tolerance if line.lower_is_better else -line.tolerance
    signs[_place(tolerated, reach)] = "╎"
    if line.difference is not None:
        signs[_place(line.difference, reach)] = "●"
    return "".join(signs)


def _place(value: float, reach: float) -> int:
    share = (min(max(value, -reach), reach) + reach) / (2 * reach)
    return math.floor(share * (_WIDTH - 1) + 0.5)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
