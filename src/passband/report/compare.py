"""Render comparisons of models: rows of the table, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from passband.notes import Note
from passband.report.abilities import ability_notes, ability_rows, half_open, share, span
from passband.report.layout import interval_head
from passband.report.noted import (
    Noted,
    NoteLine,
    about,
    by_name,
    interval_cell,
    note_lines,
    shown,
    warnings,
)
from passband.report.rendering import Cell, Row
from passband.report.style import PLAIN, Figure, Style
from passband.stats.decision import Abilities, Comparison, MoreData, Ranking
from passband.stats.interval import Ratio, Rounding
from passband.summary import ComparisonSummary, TaskComparison

_HEADS = ("task", "metric", "difference", "p", "p (Holm)", "verdict")
_COMPARISON_FIELDS = (
    "metric", "value_a", "value_b", "value", "low", "high", "se", "p_value", "p_adjusted",
    "family", "confidence", "level", "over", "method", "improved", "worsened", "flipped",
    "n_problems", "only_a", "only_b", "left_out", "test",
)  # fmt: skip
_SCALED = ("value_a", "value_b", "value", "low", "high", "se", "plain")
_DECISION_FIELDS = ("verdict", "margin", "p_no_worse", "p_no_better", "p_equivalent")


def comparison_rows(summary: ComparisonSummary, style: Style = PLAIN) -> list[list[Row]]:
    """Return the tables: one for the comparisons of two models, one for the rankings of more."""
    abilities: list[Row] = [
        _task(summary, task) | row
        for task in summary.tasks
        for ranking in task.abilities
        for row in ability_rows(ranking, interval_head(summary.options.level), style)
    ]
    tables = (_differences(summary, style), _standings(summary, style), abilities)
    return [table for table in tables if table]


def _differences(summary: ComparisonSummary, style: Style) -> list[Row]:
    heads = _model_heads(summary)
    compared = [(task, one) for task in summary.tasks for one in task.comparisons]
    roundings = style.roundings(
        [Figure(one.value, one.low, one.high, summary.is_share(task)) for task, one in compared]
    )
    return [
        _task(summary, task) | _difference(summary, task, comparison, heads, rounding)
        for (task, comparison), rounding in zip(compared, roundings, strict=True)
    ]


def pair_rows(summary: ComparisonSummary, style: Style = PLAIN) -> list[Row]:
    """Return a row per pair of ranked models; their intervals hold simultaneously."""
    pairs = [
        (task, ranking, pair)
        for task in summary.tasks
        for ranking in _several(task)
        for pair in ranking.pairs
    ]
    roundings = style.roundings(
        [
            Figure(
                pair.value, pair.low, pair.high, isinstance(of, Ranking) and summary.is_share(task)
            )
            for task, of, pair in pairs
        ]
    )
    return [
        {
            **_task(summary, task),
            "metric": ranking.metric,
            "difference": f"{pair.b} - {pair.a}",
            "value": rounding.value(pair.value),
            f"simultaneous {interval_head(summary.options.level)}": half_open(
                pair.low, pair.high, rounding
            ),
            "p": _p(pair.p_value),
            "p (all pairs)": _p(pair.p_adjusted),
            "p (Holm)": _p(pair.p_holm),
            "p (BH)": _p(pair.p_bh),
        }
        for (task, ranking, pair), rounding in zip(pairs, roundings, strict=True)
    ]


def _several(task: TaskComparison) -> list[Ranking | Abilities]:
    return [*task.rankings, *task.abilities]


def full_comparison_rows(summary: ComparisonSummary, style: Style = PLAIN) -> list[list[Row]]:
    """Return the tables with numbers in full, unless the style says otherwise."""
    differences: list[Row] = [
        {
            **_task(summary, task),
            **_sides(summary, task),
            **_written(vars(comparison), style, summary.is_share(task), _COMPARISON_FIELDS),
            **{name: getattr(comparison.decision, name) for name in _DECISION_FIELDS},
        }
        for task in summary.tasks
        for comparison in task.comparisons
    ]
    standings: list[Row] = [
        {
            **_task(summary, task),
            "metric": ranking.metric,
            **_written(asdict(standing), style, summary.is_share(task)),
        }
        for task in summary.tasks
        for ranking in task.rankings
        for standing in ranking.standings
    ]
    abilities: list[Row] = [
        {
            **_task(summary, task),
            "metric": ranking.metric,
            **_written(asdict(ability), style, is_share=False),
        }
        for task in summary.tasks
        for ranking in task.abilities
        for ability in ranking.abilities
    ]
    return [table for table in (differences, standings, abilities) if table]


def _written(
    values: Mapping[str, Any], style: Style, is_share: bool, names: Sequence[str] | None = None
) -> dict[str, Cell]:
    """Return the values of some names, or all; those on the metric's scale in the style."""
    rounding = Rounding(style.digits or 0, style.percent and is_share)
    return {
        name: style.number(values[name], rounding) if name in _SCALED else values[name]
        for name in names or values
    }


def notes_of(summary: ComparisonSummary) -> list[NoteLine]:
    """Return the notes on all comparisons and rankings, the most severe first."""
    noted = [
        Noted(by_name(note, task.models), _where(summary, task), comparison.metric)
        for task in summary.tasks
        for comparison in (*task.comparisons, *_several(task))
        for note in comparison.notes
    ]
    return note_lines(noted, _labels(summary))


def _labels(summary: ComparisonSummary) -> list[tuple[str, str]]:
    return [
        (_where(summary, task), comparison.metric)
        for task in summary.tasks
        for comparison in (*task.comparisons, *_several(task))
    ]


def comparison_warnings(summary: ComparisonSummary) -> list[str]:
    """Return the notes that forbid a claim, or change what the numbers mean."""
    return warnings(notes_of(summary))


def _where(summary: ComparisonSummary, task: TaskComparison) -> str:
    return task.task or "" if len(summary.tasks) > 1 else ""


def comparison_explanation(
    summary: ComparisonSummary, style: Style = PLAIN, *, details: bool = False
) -> list[str]:
    """Return the meaning of the numbers, and the notes.

    With `details`, or of a single comparison, also which problems count and carry each difference,
    and what would settle it.
    """
    target = "problems like these" if summary.options.over == "problems" else "these very problems"
    head = interval_head(summary.options.level)
    lines = [f"{_pairing(summary)}; {head}s are for {target}.", *_family(summary)]
    for task in summary.tasks:
        if style.percent and not summary.is_share(task):
            where = _where(summary, task)
            lines.append(
                f"{f'{where}: ' if where else ''}not shares of 1, so not percentages; as they are."
            )
    compared = [(task, comparison) for task in summary.tasks for comparison in task.comparisons]
    if details or len(compared) == 1:
        lines += [
            f"{about([(_where(summary, task), comparison.metric)])}: {line}"
            for task, comparison in compared
            for line in (*_counts(comparison), *_decision(task, comparison))
        ]
    elif compared:
        lines.append("--details: which problems count, which moved most, what would settle it")
    lines += [line.text for line in note_lines(_standing_notes(summary), _labels(summary))]
    for task in summary.tasks:
        lines += [line for comparison in task.abilities for line in ability_notes(comparison)]
    return [*lines, *shown(notes_of(summary), every=style.notes)]


def _family(summary: ComparisonSummary) -> list[str]:
    """Return how many comparisons the verdicts allow for, if there are several."""
    family = max(
        (comparison.family for task in summary.tasks for comparison in task.comparisons), default=1
    )
    if family == 1:
        return []
    return [f"{family} comparisons; p (Holm), and with it the verdict, counts all of them."]


def _standing_notes(summary: ComparisonSummary) -> Iterator[Noted]:
    """Yield the problems that rankings rest on."""
    for task in summary.tasks:
        for ranking in task.rankings:
            dropped = ", ".join(f"{n} of {name}" for name, n in ranking.dropped.items() if n)
            left_out = f"; left out: {dropped}" if dropped else ""
            text = f"{ranking.n_problems} problems shared by all models{left_out}"
            yield Noted(Note("shared", text), _where(summary, task), ranking.metric)


def _decision(task: TaskComparison, comparison: Comparison) -> Iterator[str]:
    """Return the verdict in words if it needs them, and the data that would settle it.

    Without a margin the column says it all, unless a finding hangs on a few problems. (Leaving out
    problems until there is a finding proves nothing, so that is not offered.)
    """
    decision = comparison.decision
    influence = None if decision.verdict == "undecided" else comparison.influence
    if decision.margin is not None or (influence is not None and influence.dropped):
        yield decision.words(*task.models) + ("" if influence is None else f"; {influence}")
    if decision.more is not None:
        yield more_words(decision.more)


def more_words(more: MoreData) -> str:
    """Return the data that would settle a comparison, or why that is unknown."""
    if more.goal is None:
        return str(more)
    odds = f"{100 * more.power:.0f}% power, if the true difference is the one seen"
    return f"to settle it ({more.goal}): {more} ({odds})"


def _pairing(summary: ComparisonSummary) -> str:
    if not summary.options.paired:
        return "Differences are not paired"
    if summary.options.ranking is not None:
        return "Differences are of abilities"
    if summary.options.over == "trials":
        return "Differences are on the shared problems, each model with the noise of its trials"
    return "Differences are paired by problem"


def _task(summary: ComparisonSummary, task: TaskComparison) -> dict[str, Cell]:
    return {"task": task.task} if len(summary.tasks) > 1 else {}


def _sides(summary: ComparisonSummary, task: TaskComparison) -> dict[str, Cell]:
    """Return the names of the two sides if they differ between rows."""
    if _model_heads(summary) is not None:
        return {}
    return dict(zip(("a", "b"), task.models, strict=True))


def _model_heads(summary: ComparisonSummary) -> tuple[str, ...] | None:
    """Return the column heads of two models, or None where tasks have different pairs."""
    pairs = {task.models for task in summary.tasks if task.comparisons}
    if len(pairs) != 1:
        return None
    taken = (*_HEADS, interval_head(summary.options.level))
    return tuple(f"{name} (model)" if name in taken else name for name in pairs.pop())


def _difference(
    summary: ComparisonSummary,
    task: TaskComparison,
    comparison: Comparison,
    heads: tuple[str, ...] | None,
    rounding: Rounding,
) -> dict[str, Cell]:
    a, b = heads or ("value of a", "value of b")
    interval = rounding.interval(comparison.low, comparison.high)
    return {
        **_sides(summary, task),
        "metric": comparison.title,
        a: rounding.value(comparison.value_a),
        b: rounding.value(comparison.value_b),
        "difference": rounding.value(comparison.value),
        interval_head(summary.options.level): interval_cell(interval, comparison.notes),
        "p": _p(comparison.p_value),
        **({"p (Holm)": _p(comparison.p_adjusted)} if comparison.family > 1 else {}),
        **_ratio(summary, comparison.ratio),
        "verdict": verdict_cell(comparison.decision.verdict),
    }


def _ratio(summary: ComparisonSummary, ratio: Ratio | None) -> dict[str, Cell]:
    """Return the cost ratio of two models if any comparison of the table has one."""
    if all(comparison.ratio is None for task in summary.tasks for comparison in task.comparisons):
        return {}
    text = None if ratio is None else f"{ratio.value:.3g} [{ratio.low:.3g}, {ratio.high:.3g}]"
    return {"ratio": text}


def verdict_cell(verdict: str) -> str:
    """Return a verdict in words.

    >>> verdict_cell("not-comparable")
    'not comparable'
    """
    return verdict.replace("-", " ")


def _standings(summary: ComparisonSummary, style: Style) -> list[Row]:
    ranked = [
        (task, ranking, standing)
        for task in summary.tasks
        for ranking in task.rankings
        for standing in ranking.standings
    ]
    roundings = style.roundings(
        [Figure(one.value, one.low, one.high, summary.is_share(task)) for task, _, one in ranked]
    )
    return [
        {
            **_task(summary, task),
            "metric": ranking.title,
            "rank": span(standing.rank_low, standing.rank_high),
            "model": standing.model,
            "value": rounding.value(standing.value),
            interval_head(summary.options.level): (
                interval_cell("-", ranking.notes)
                if standing.low is None
                else rounding.interval(standing.low, standing.high)
            ),
            "confidence best": share(standing.p_best),
        }
        for (task, ranking, standing), rounding in zip(ranked, roundings, strict=True)
    ]


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"


def _counts(comparison: Comparison) -> Iterator[str]:
    """Yield the number of problems that count, and the problems that moved the difference most."""
    line = f"{comparison.n_problems} problems count"
    for number, reason in (
        (comparison.only_a, "only in the first"),
        (comparison.only_b, "only in the second"),
        (comparison.left_out, "with too few trials"),
    ):
        line += f", {number} {reason}" if number else ""
    if comparison.improved is not None and comparison.worsened is not None:
        line += f"; {comparison.improved} better, {comparison.worsened} worse"
    line += f"; {comparison.flipped} flipped" if comparison.flipped else ""
    if comparison.confidence is not None:
        line += f"; confidence b better {share(comparison.confidence)}"
    influence = comparison.influence
    moved = () if influence is None else influence.problems
    carriers = ", ".join(
        f"{problem.problem} ({problem.value_a:.2f} -> {problem.value_b:.2f}; "
        f"without it {problem.difference:+.3f})"
        for problem in [problem for problem in moved if problem.value_a != problem.value_b][:3]
    )
    yield line + (f"; moved most by {carriers}" if carriers else "")
