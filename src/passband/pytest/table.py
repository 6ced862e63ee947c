"""The table at the end of a session: a line for each assertion on a success rate."""

from __future__ import annotations

from collections.abc import Sequence

from passband.pytest.result import RateResult
from passband.report.render import Row, render
from passband.stats.interval.rounding import Rounding, common_rounding

__all__ = ["table_lines"]


def table_lines(found: Sequence[tuple[str, str]]) -> list[str]:
    """Return the lines for (test, property) pairs, in the order of the tests."""
    results = [(test, RateResult.from_property(text)) for test, text in sorted(found)]
    rounding = common_rounding((one.value, one.low, one.high) for _, one in results)
    return render([_row(test, one, rounding) for test, one in results], "table").splitlines()


def _row(test: str, result: RateResult, rounding: Rounding) -> Row:
    return {
        "test": f"{test} {result.name}".rstrip(),
        "verdict": result.verdict,
        "wanted": result.wanted,
        "value": rounding.value(result.value),
        "interval": rounding.interval(result.low, result.high),
        "level": result.level,
        "trials": result.trials,
        "at most": result.most,
    }
