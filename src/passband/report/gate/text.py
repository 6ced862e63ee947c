"""Render a gate for the terminal: the headline, a row for each comparison, the notes."""

from __future__ import annotations

from collections.abc import Sequence

from passband.notes import Note
from passband.report.gate.words import (
    headline,
    line_notes,
    line_texts,
    on_target,
    p_text,
    roundings,
    target,
    tolerance_text,
    top_reasons,
)
from passband.report.layout import interval_head
from passband.report.noted import Noted, interval_cell, note_lines, shown
from passband.report.rendering import Cell, Row, printable, render
from passband.report.style import PLAIN, Style
from passband.stats.data import titled
from passband.stats.interval import Rounding
from passband.summary import GateLine, GateResult


def gate_text(result: GateResult, style: Style = PLAIN) -> str:
    """Return the headline, why there is none, the targets, who is compared, and the table."""
    lines = [headline(result), *top_reasons(result), on_target(result)]
    lines.append(f"base {result.base.name}, new {result.new.name}{tolerance_text(result)}")
    rows: Sequence[Row] = [
        gate_row(result, line, rounding)
        for line, rounding in zip(result.lines, roundings(result, style), strict=True)
    ]
    table = f"\n{render(rows, 'table')}" if rows else ""
    return "".join(f"{printable(line)}\n" for line in lines) + table


def gate_row(result: GateResult, line: GateLine, rounding: Rounding) -> dict[str, Cell]:
    """Return the cells of one comparison; tiers and tolerances where they are not all alike."""

    def number(value: float | None) -> Cell:
        return None if value is None else rounding.value(value)

    interval = rounding.interval(line.low, line.high)
    cells: dict[str, Cell] = {
        "task": line.task,
        "metric": titled(line.metric, line.lower_is_better),
        "tier": line.tier,
        "base": number(line.base),
        "new": number(line.new),
        "difference": number(line.difference),
        interval_head(result.policy.level): interval_cell(interval, line.notes),
        "tolerance": f"{(100 if rounding.percent else 1) * line.tolerance:g}",
        "p worse (Holm)": p_text(line.p_adjusted),
        "problems": line.n_problems or None,
        "trials": "{:,} + {:,}".format(*line.trials) if any(line.trials) else None,
        "verdict": line.verdict,
    }
    usual = {
        "tier": all(one.tier == "required" for one in result.lines),
        "tolerance": bool(tolerance_text(result)),
    }
    return {name: cell for name, cell in cells.items() if not usual.get(name)}


def gate_notes(result: GateResult, style: Style = PLAIN) -> list[str]:
    """Return the target of the verdicts, and notes on single comparisons."""
    on_top = result.deciding if result.verdict == "not-certified" else ()
    texts = [
        Noted(Note("no-verdict", text), line.task, line.metric)
        for line, rounding in zip(result.lines, roundings(result, style), strict=True)
        for text in line_texts(line, rounding, result.policy.failed)
        if line not in on_top or text != line.reason
    ]
    noted = [
        Noted(note, line.task, line.metric) for line in result.lines for note in line_notes(line)
    ]
    labels = [(line.task, line.metric) for line in result.lines]
    lines = note_lines(noted, labels)
    return [
        target(result),
        *(line.text for line in note_lines(texts, labels)),
        *(line.text for line in lines if line.is_warning),
        *shown(lines, every=style.notes),
    ]
