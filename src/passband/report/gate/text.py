"""A gate on the terminal: the headline, a row for each comparison, and what to keep in mind."""

from __future__ import annotations

from passband.report.gate.looks import settled_lines
from passband.report.gate.words import headline, notes_of, target
from passband.report.layout import interval_head
from passband.report.render import Cell, Row, printable, render
from passband.report.style import PLAIN, Figure, Style
from passband.stats.interval.rounding import Rounding
from passband.summary.gate.result import GateLine, GateResult

__all__ = ["gate_notes", "gate_rows", "gate_text"]


def gate_text(result: GateResult, style: Style = PLAIN) -> str:
    """Return the headline and the table."""
    rows = gate_rows(result, style)
    table = render(rows, "table") if rows else ""
    return f"{printable(headline(result))}\n\n{table}"


def gate_rows(result: GateResult, style: Style = PLAIN) -> list[Row]:
    """Return a row for each task and metric."""
    figures = [_figure(line) for line in result.lines]
    roundings = style.roundings(figures)
    level = interval_head(result.policy.level)
    return [
        _row(line, rounding, level) for line, rounding in zip(result.lines, roundings, strict=True)
    ]


def gate_notes(result: GateResult) -> list[str]:
    """Return what the verdicts are about, and remarks on single comparisons."""
    settled = () if result.settled is None else settled_lines(result.settled)
    return [target(result), *settled, *notes_of(result)]


def _figure(line: GateLine) -> Figure | None:
    if line.difference is None:
        return None
    return Figure(line.difference, line.low, line.high, line.is_share)


def _row(line: GateLine, rounding: Rounding, level: str) -> dict[str, Cell]:
    def number(value: float | None) -> Cell:
        return None if value is None else rounding.value(value)

    return {
        "task": line.task,
        "metric": line.metric,
        "tier": line.tier,
        "base": number(line.base),
        "new": number(line.new),
        "difference": number(line.difference),
        level: rounding.interval(line.low, line.high),
        "tolerance": f"{(100 if rounding.percent else 1) * line.tolerance:g}",
        "p (Holm)": None if line.p_adjusted is None else _p(line.p_adjusted),
        "verdict": line.verdict,
    }


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"
