"""Report the result of an assertion on success rates, in messages and in the final table."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from passband.report import Cell, Row, interval_head, render
from passband.stats.interval import Rounding, common_rounding, rounded

PROPERTY = "passband_pass_rate"  #: the name of the property of a test's report
_EXAMPLES = 3  # shown


@dataclass(frozen=True)
class RateResult:
    """The measured rate, its interval, and the verdict."""

    verdict: Literal["pass", "fail", "undecided"]
    value: float  #: the rate, or the difference of two
    low: float
    high: float
    level: float
    trials: int  #: in all; of two functions: of each
    most: int  #: allowed
    threshold: float  #: the value below which the test fails
    lowest: float  #: the value above which it passes
    cases: int = 1
    name: str = ""
    examples: tuple[str, ...] = ()  #: of failed trials
    refused: str = ""  #: why the trials allow no verdict, so that it is undecided

    def message(self) -> str:
        """Return the result in lines for a person."""
        lines = [f"{self._headline()} {self._measured()}"]
        if self.refused:
            lines.append(f"No verdict: {self.refused}.")
        elif self.verdict == "undecided":
            lines.append(self._how_many_more())
        return "\n".join([*lines, *self._shown_examples()])

    def _headline(self) -> str:
        subject = self.name or ("the difference" if self.is_pair else "the pass rate")
        if self.verdict == "pass":
            return f"{subject} is above {self.lowest:g}:"
        if self.verdict == "fail":
            return f"{subject} is below {self.threshold:g}:"
        if self.lowest == self.threshold:
            return f"undecided whether {subject} is at least {self.threshold:g}:"
        return f"undecided whether {subject} is below {self.threshold:g} or above {self.lowest:g}:"

    @property
    def is_pair(self) -> bool:
        """Whether it is a difference of two rates."""
        return self.threshold == 0.0

    @property
    def wanted(self) -> str:
        """The claim, in short."""
        if self.is_pair:
            return f"> {self.lowest:g}"
        tolerance = self.threshold - self.lowest
        return f">= {self.threshold:g}" + (f" - {tolerance:g}" if tolerance else "")

    def _measured(self) -> str:
        each = f", {self.trials // self.cases} of each of {self.cases} cases"
        numbers = rounded(self.value, self.low, self.high)
        return (
            f"{numbers} at level {self.level:g} after {self.trials} "
            f"trial{'s' if self.trials != 1 else ''}{each if self.cases > 1 else ''} "
            f"(at most {self.most})."
        )

    def _how_many_more(self) -> str:
        more = self.more_trials
        if more is None:
            return "It is so close that no reasonable number of trials would decide it."
        return f"About {more} more trials would decide it, if it stays at {self.value:.3g}."

    @property
    def more_trials(self) -> int | None:
        """Roughly how many more trials would decide it; None if unreasonably many."""
        above = (self.value - self.lowest) / max(self.value - self.low, 1e-9)
        below = (self.threshold - self.value) / max(self.high - self.value, 1e-9)
        ratio = max(above, below)  # of the distance to show to the reach of the interval
        if ratio <= 0.03:
            return None
        return max(_two_digits(self.trials * (1.0 / ratio**2 - 1.0)), 1)

    def _shown_examples(self) -> list[str]:
        shown = [f"  {line}" for line in self.examples[:_EXAMPLES]]
        return ["failed trials:", *shown] if shown and self.verdict != "pass" else []

    def as_property(self) -> tuple[str, str]:
        """Return the result as a property of a test's report, which travels between processes."""
        return PROPERTY, json.dumps(asdict(self))

    @classmethod
    def from_property(cls, text: str) -> RateResult:
        content: dict[str, Any] = json.loads(text)
        return cls(**{**content, "examples": tuple(content["examples"])})


def _two_digits(number: float) -> int:
    """Return a number with two digits, rounded up."""
    unit = 10.0 ** max(math.floor(math.log10(max(number, 1.0))) - 1, 0)
    return math.ceil(number / unit) * int(unit)


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
