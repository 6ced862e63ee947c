"""Render an adaptive test: its number, the path of ability, the items and why they were asked."""

from __future__ import annotations

from collections.abc import Iterator

from passband.report.charts.ability_path import AbilityPath, AbilityStep
from passband.report.html.document import escape
from passband.report.html.elements import caption, figure, section
from passband.report.html.run_text import RunText
from passband.report.words import counted
from passband.stats.interval import Rounding, common_rounding
from passband.summary import AbilityAfter, ability_path

MOST_ITEMS = 500  #: rows of the table of items


def ability_chart(run: RunText) -> AbilityPath | None:
    """Return the ability after each item; None without an adaptive test."""
    path = _path(run)
    if not path:
        return None
    steps = [
        AbilityStep(one.item, one.difficulty, one.score, one.theta, one.low, one.high)
        for one in path
    ]
    return AbilityPath(steps, run.findings.summary.request.level, _rounding(path))


def ability_sentences(run: RunText) -> Iterator[str]:
    """Yield, as HTML, the meaning of an adaptive test's main number."""
    lead = run.findings.headline
    if lead is None or lead.estimate is None:
        return
    between = run.between(lead.estimate)
    sure = f", <b>{escape(between)}</b>" if between else ""
    yield f"is the model's ability on the scale of the item bank{sure}. "
    result = run.findings.group.adaptive
    for one, rounding in zip(run.lines, run.roundings, strict=True):
        if one.line.metric == "bank accuracy" and one.estimate is not None and result is not None:
            percent = Rounding(max(rounding.places - 2, 0), percent=True)
            low, high = one.estimate.low, one.estimate.high
            ends = ""
            if low is not None and high is not None:
                ends = f", between {percent.value(low)} and {percent.value(high)} %"
            yield (
                f"Of all {counted(result.n_bank, 'item')} of the bank it would solve "
                f"{percent.value(one.estimate.value)} %{ends}."
            )


def ability_section(run: RunText) -> str:
    """Return the path of ability and the items that led along it."""
    chart, result = ability_chart(run), run.findings.group.adaptive
    if chart is None or result is None:
        return ""
    path = _path(run)
    body = figure(chart) + _items(path)
    finding = " ".join(
        f"{str(note)[:1].upper()}{str(note)[1:]}."
        for note in run.findings.group.notes
        if note.code in ("adaptive-test", "adaptive-stop", "adaptive-unfinished")
    )
    return section("Ability, item by item", finding, body, name=f"ability-{run.index + 1}")


def _path(run: RunText) -> tuple[AbilityAfter, ...]:
    result = run.findings.group.adaptive
    return () if result is None else ability_path(result, run.findings.summary.request.level)


def _rounding(path: tuple[AbilityAfter, ...]) -> Rounding:
    """Return how abilities are written: by the error of the last one."""
    last = path[-1]
    return common_rounding([(last.theta, last.low, last.high)])


def _items(path: tuple[AbilityAfter, ...]) -> str:
    rounding = _rounding(path)
    rows = "".join(_item(at, one, rounding) for at, one in enumerate(path[:MOST_ITEMS], 1))
    heads = ("item", "difficulty", "score", "theta after it", "why it was asked")
    names = "".join(
        f"<th{' class=number' if name in heads[1:4] else ''}>{name}</th>" for name in heads
    )
    left = f"The first {MOST_ITEMS} of {len(path):,}." if len(path) > MOST_ITEMS else ""
    return (
        f'<details class="more"><summary>{counted(len(path), "item")} asked, and why</summary>'
        f'<div class="scroll"><table><thead><tr><th class="number"></th>{names}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{caption(left)}</details>"
    )


def _item(number: int, one: AbilityAfter, rounding: Rounding) -> str:
    score = "no score" if one.score is None else f"{one.score:.3g}"
    theta = f"{rounding.value(one.theta)} {rounding.interval(one.low, one.high)}"
    numbers = "".join(
        f'<td class="number">{escape(cell)}</td>'
        for cell in (rounding.value(one.difficulty), score, theta)
    )
    return (
        f'<tr><td class="number">{number}</td><td dir="auto">{escape(one.item)}</td>{numbers}'
        f'<td class="words" dir="auto">{escape(one.reason)}</td></tr>'
    )
