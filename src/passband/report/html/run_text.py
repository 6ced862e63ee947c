"""Format the numbers of a run with one rounding for table, chart and prose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from passband.errors import InvalidInput
from passband.report.style import PLAIN
from passband.report.table_line import TableLine, table_lines
from passband.stats.interval import Estimate, Rounding
from passband.stats.metric import families, parse_name
from passband.summary import Findings, Line

_ADAPTIVE = {
    "theta": "ability on the scale of the bank",
    "bank accuracy": "share of all items of the bank",
    "bank accuracy (random items)": "the same, from random items alone",
}


@dataclass(frozen=True)
class RunText:
    """The findings on a run, and how their numbers are written."""

    findings: Findings
    index: int = 0  #: of the run on its page
    source: str = ""  #: where it is from, if another run has the same task and model

    @property
    def label(self) -> str:
        """The task and the model, with the source where they do not tell runs apart."""
        found = self.findings
        return found.name + (f" ({self.source})" if self.source else "")

    @cached_property
    def lines(self) -> list[TableLine]:
        """The lines of the run's table."""
        return table_lines(self.findings.summary)

    @cached_property
    def rounding(self) -> Rounding:
        """How shares of 1 are written, or whatever the lines are."""
        figures = [one.figure for one in self.lines if one.figure is not None]
        shares = [figure for figure in figures if figure.is_share]
        return PLAIN.rounding(shares or figures)

    @cached_property
    def roundings(self) -> list[Rounding]:
        """How each line is written; lines of one scale alike."""
        return PLAIN.roundings([one.figure for one in self.lines])

    @property
    def is_share(self) -> bool:
        """Whether the number that leads is a share of 1."""
        lead = self.findings.headline
        return any(
            one.line is lead and one.figure is not None and one.figure.is_share
            for one in self.lines
        )

    @property
    def counts_successes(self) -> bool:
        """Whether the number that leads counts solved problems: its scores are 0 or 1."""
        return self.is_share and self.findings.group.is_binary

    @property
    def percent(self) -> Rounding:
        """How shares are written as percentages: the decimals of the table, two places on."""
        return Rounding(max(self.rounding.places - 2, 0), percent=True)

    def prose(self, value: float) -> str:
        """Return a number of the leading line for a sentence, without the sign of percentages."""
        if self.counts_successes:
            return self.percent.value(value)
        return self._lead_rounding.value(value)

    @property
    def _lead_rounding(self) -> Rounding:
        for one, rounding in zip(self.lines, self.roundings, strict=True):
            if one.line is self.findings.headline:
                return rounding
        return self.rounding

    @property
    def sign(self) -> str:
        """The sign after a number in a sentence."""
        return " %" if self.counts_successes else ""

    def between(self, estimate: Estimate) -> str | None:
        """Return the ends of an interval in a sentence; None where there is no interval."""
        if estimate.low is None or estimate.high is None:
            return None
        return f"between {self.prose(estimate.low)} and {self.prose(estimate.high)}{self.sign}"

    def inner(self, line: Line) -> Estimate | None:
        """Return the estimate of a line for these very problems."""
        return self.findings.inner.get(line.metric)


def metric_words(line: Line, *, is_binary: bool) -> str:
    """Return the event of a metric in words, without a number of the result.

    >>> metric_words(Line("pass^4", None, None), is_binary=True)
    'all 4 tries right'
    """
    if line.name is not None:
        return _reduction_words(line, is_binary=is_binary)
    name = line.metric if line.estimate is None else line.estimate.metric
    if name in _ADAPTIVE:
        return _ADAPTIVE[name]
    try:
        parsed = parse_name(name)
    except InvalidInput:
        return ""
    k = parsed.ks[0] if parsed.ks else None
    known = {
        "avg": "solved in one try" if is_binary else "mean score of one try",
        "pass@": f"at least one of {k} tries right",
        "pass^": f"all {k} tries right",
        "maj@": f"more than half of {k} tries right",
        "vote@": f"the most frequent of {k} answers right",
        "max@": f"best score of {k} tries",
    }
    if name == "pass@1":
        return known["avg"] if is_binary else "solved in one try"
    return known.get(parsed.key, _summary(parsed.key))


def _summary(family: str) -> str:
    return families.get(family).summary if family in families else ""


def _reduction_words(line: Line, *, is_binary: bool) -> str:
    """Return the metric list of a task in words."""
    if line.reduction == "mean":
        return "solved in one try" if is_binary else "mean score of one try"
    return f"{line.reduction} of the trials of a problem" if line.reduction else ""
