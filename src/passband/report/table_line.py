"""Order the lines of a summary for a table: groups first, then the means over groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from passband.report.rendering import Cell
from passband.report.style import Figure
from passband.stats.interval import Estimate
from passband.summary import Group, Line, Summary

_TAKEN = (
    "metric", "value", "low", "high", "se", "level", "over", "method", "problems", "left out",
    "no score", "trials", "percent", "truncated", "coverage",
)  # fmt: skip


class TableLine(NamedTuple):
    """A line of a summary, or of a mean over its groups, as a table has it."""

    by: Mapping[str, str]  # what sets it apart
    line: Line
    truncated: int  # trials of its group
    figure: Figure | None

    @property
    def estimate(self) -> Estimate | None:
        """The estimate of the line."""
        return self.line.estimate

    def counts(self) -> dict[str, Cell]:
        """Return the numbers of problems and trials behind the line."""
        estimate = self.estimate
        return {
            "problems": None if estimate is None else estimate.n_problems,
            "left out": None if estimate is None else estimate.left_out,
            "no score": None if estimate is None else estimate.n_unscored,
            "truncated": self.truncated,
            "trials": None if estimate is None else estimate.n_trials,
        }


def table_lines(summary: Summary) -> list[TableLine]:
    """Return the lines of groups, then the means over them.

    A metric is a share of 1 in all of its lines or in none: models in one column have one scale.
    """
    shares: dict[str, bool] = {}
    for group, line in summary.lines():
        share = line.estimate is None or _is_share(group, line)
        shares[line.metric] = share and shares.get(line.metric, True)
    lines = [
        TableLine(group.by, line, group.n_truncated, _figure(line, shares[line.metric]))
        for group, line in summary.lines()
    ]
    for combined, by, line in summary.combined_lines():
        truncated = sum(g.n_truncated for g in summary.groups if g.name in combined.strata)
        figure = _figure(line, shares.get(line.metric, False))
        lines.append(TableLine(by, line, truncated, figure))
    return lines


def _is_share(group: Group, line: Line) -> bool:
    """Return whether a line is a share of 1; one of an unknown scale is, if its numbers can be."""
    if group.adaptive is not None:
        return "accuracy" in line.metric
    if line.is_share is not None:
        return line.is_share
    numbers = [] if line.estimate is None else _numbers(line.estimate)
    return all(0 <= number <= 1 for number in numbers if number is not None)


def _figure(line: Line, is_share: bool) -> Figure | None:
    return None if line.estimate is None else Figure(*_numbers(line.estimate), is_share)


def _numbers(estimate: Estimate) -> tuple[float, float | None, float | None]:
    return estimate.value, estimate.low, estimate.high


def column_head(name: str) -> str:
    """Return the head of a source's column, distinct from the table's own columns."""
    taken = name in _TAKEN or name.endswith("% interval")
    return f"{name} (column)" if taken else name
