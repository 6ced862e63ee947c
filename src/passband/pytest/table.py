"""The table at the end of a session: a line for each assertion on a success rate."""

from __future__ import annotations

from collections.abc import Sequence

from passband.pytest.result import RateResult
from passband.report import Cell, Row, interval_head, render
from passband.stats.interval import Rounding, common_rounding


def table_lines(found: Sequence[tuple[str, str]]) -> list[str]:
    """Return the lines for (test, property) pairs, in the order of the tests."""
    results = [(test, RateResult.from_property(text)) for test, text in sorted(found)]
    rounding = common_rounding((one.value, one.low, one.high) for _, one in results)
    levels = {one.level for _, one in results}
    rows = [_row(test, one, rounding, len(levels) == 1) for test, one in results]
    return render(rows, "table").splitlines()


def _row(test: str, result: RateResult, rounding: Rounding, is_one_level: bool) -> Row:
    row: dict[str, Cell] = {
        "test": f"{test} {result.name}".rstrip(),
        "verdict": result.verdict,
        "wanted": result.wanted,
        "value": rounding.value(result.value),
    }
    interval = rounding.interval(result.low, result.high)
    if is_one_level:
        row[interval_head(result.level)] = interval
    else:
        row |= {"interval": interval, "level": result.level}
    return {**row, "trials": f"{result.trials}/{result.most}"}
