"""A gate on the terminal: the headline, a row for each comparison, and what to keep in mind."""

from __future__ import annotations

from collections.abc import Sequence

from passband.report.gate.words import headline, line_texts, p_text, roundings, target
from passband.report.layout import interval_head
from passband.report.render import Cell, Row, printable, render
from passband.report.style import PLAIN, Style
from passband.stats.data.scale import titled
from passband.stats.interval.rounding import Rounding
from passband.summary.gate.result import GateLine, GateResult

__all__ = ["gate_notes", "gate_row", "gate_text"]


def gate_text(result: GateResult, style: Style = PLAIN) -> str:
    """Return the headline, who is compared, and the table."""
    sides = f"base {result.base.name}, new {result.new.name}"
    rows: Sequence[Row] = [
        gate_row(result, line, rounding)
        for line, rounding in zip(result.lines, roundings(result, style), strict=True)
    ]
    table = f"\n{render(rows, 'table')}" if rows else ""
    return f"{printable(headline(result))}\n{printable(sides)}\n{table}"


def gate_row(result: GateResult, line: GateLine, rounding: Rounding) -> dict[str, Cell]:
    """Return the cells of one comparison."""

    def number(value: float | None) -> Cell:
        return None if value is None else rounding.value(value)

    return {
        "task": line.task,
        "metric": titled(line.metric, line.lower_is_better),
        "tier": line.tier,
        "base": number(line.base),
        "new": number(line.new),
        "difference": number(line.difference),
        interval_head(result.policy.level): rounding.interval(line.low, line.high),
        "tolerance": f"{(100 if rounding.percent else 1) * line.tolerance:g}",
        "p (Holm)": p_text(line.p_adjusted),
        "verdict": line.verdict,
    }


def gate_notes(result: GateResult, style: Style = PLAIN) -> list[str]:
    """Return what the verdicts are about, and remarks on single comparisons."""
    return [
        target(result),
        *(
            f"{line.task} {line.metric}: {text}"
            for line, rounding in zip(result.lines, roundings(result, style), strict=True)
            for text in line_texts(line, rounding, result.policy.failed)
        ),
    ]
