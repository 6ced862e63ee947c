"""Assemble the page of several models: verdict, differences, changed problems, ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from passband.report.charts.canvas import Canvas
from passband.report.charts.chart import Chart
from passband.report.charts.theme import PAGE
from passband.report.html.document import escape
from passband.report.html.elements import (
    banner,
    caption,
    figure,
    folded_list,
    note_list,
    one_line,
    prose,
    section,
)
from passband.report.html.payload import sides_payload
from passband.report.html.several_text import SeveralText, listed, verdict_word
from passband.report.noted import (
    Noted,
    NoteLine,
    Parted,
    by_name,
    interval_cell,
    note_lines,
    parted,
)
from passband.report.words import counted
from passband.stats.interval import Rounding
from passband.summary import (
    Changes,
    ComparedFindings,
    ComparedMetric,
    ComparedTask,
    ProblemChange,
    Stack,
)


@dataclass(frozen=True)
class ComparedPart:
    """The part of a page that compares models: its name, its heading, its sections, its data."""

    title: str
    header: str
    body: str
    payload: list[dict[str, Any]]  #: further runs of the page's data, from `first` on


def compared_part(findings: ComparedFindings, first: int = 0) -> ComparedPart:
    """Return the comparison of models; `first` is the number of runs in the page's data."""
    several = SeveralText(findings)
    changed = [task for task in findings.tasks if task.changes and task.changes.most]
    notes = parted(compared_notes(findings))
    body = [
        banner(notes.warnings),
        _lead(several),
        note_list([remark.text for remark in findings.remarks if remark.important]),
        _differences(several),
        *(_changed(several, task, number) for number, task in enumerate(changed, first)),
        _ranks(several),
        _values(several),
        _methods(several, notes),
    ]
    payload = [sides_payload(task.changes, task.models) for task in changed if task.changes]
    return ComparedPart(_title(findings), _header(several), "".join(body), payload)


def compared_charts(findings: ComparedFindings) -> list[Chart]:
    """Return the charts of a comparison."""
    return SeveralText(findings).charts()


def _title(findings: ComparedFindings) -> str:
    tasks = [task.task for task in findings.tasks if task.task]
    where = f" on {tasks[0]}" if len(tasks) == 1 else ""
    if findings.pair is not None:
        return f"{findings.pair[1]} against {findings.pair[0]}{where}"
    return f"{len(findings.models)} models{where}"


def _header(several: SeveralText) -> str:
    findings = several.findings
    if findings.pair is not None:
        a, b = map(prose, findings.pair)
        title = f'{b} <span class="by">against</span> {a}'
    else:
        title = f"{len(findings.models)} models"
    return (
        f'<header><div class="kind">passband report</div><h1>{title}</h1>'
        f'<div class="run-line">{" · ".join(_facts(several))}</div></header>'
    )


def _facts(several: SeveralText) -> Iterator[str]:
    findings = several.findings
    if len(findings.tasks) == 1:
        task = findings.tasks[0]
        if task.task:
            yield prose(task.task)
        count = task.first.ranking.n_problems
        yield f"<b>{count:,}</b> shared {'problem' if count == 1 else 'problems'}"
    else:
        yield f"<b>{len(findings.tasks)}</b> tasks"
    if findings.pair is None:
        yield prose(listed(list(findings.models)))
    yield "paired by problem"
    margin = findings.options.margin
    if margin is not None:
        yield f"a difference of less than {margin:g} does not matter"


def _lead(several: SeveralText) -> str:
    number = several.lead_number()
    big = ""
    if number is not None:
        value, unit = number
        small = f"<small>{escape(unit)}</small>" if unit else ""
        big = f'<div class="big">{escape(value)}{small}</div>'
    first, *rest = several.lead()
    text = f"<b>{prose(first)}</b>{prose(''.join(rest))}"
    return f'<div class="lead">{big}<p>{text}</p></div>'


# -- differences ---------------------------------------------------------------------------


def _differences(several: SeveralText) -> str:
    if not several.differences:
        return ""
    body = figure(several.forest(), text=several.differences_caption())
    body += note_list(list(_open_questions(several)), "quiet")
    table = _difference_table(several)
    if table:
        body += (
            '<details class="more"><summary>p-values and counts of problems</summary>'
            f'<div class="scroll">{table}</div></details>'
        )
    return section("Differences", several.differences_finding(), body, name="differences")


def _open_questions(several: SeveralText) -> Iterator[str]:
    """Yield the data that would settle each open verdict except the leading one."""
    if len(several.differences) > 1:
        led = several.lead_number() is not None
        yield from several.open_questions(several.differences[1 if led else 0 :])


def _difference_table(several: SeveralText) -> str:
    rows = [
        (several.label(difference), difference.metric)
        for difference in several.differences
        if difference.metric.comparison is not None
    ]
    if not rows:
        return ""
    pair = several.findings.pair or ("a", "b")
    heads = ["", *pair, "difference", "interval", "p", "p (Holm)", "better", "worse", "problems"]
    head = "".join(f'<th class="number">{escape(name)}</th>' for name in [*heads[1:], "verdict"])
    body = "".join(_difference_row(several, label, metric) for label, metric in rows)
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"


def _difference_row(several: SeveralText, label: str, metric: ComparedMetric) -> str:
    comparison, rounding = metric.comparison, several.rounding
    assert comparison is not None
    cells = [
        rounding.value(comparison.value_a),
        rounding.value(comparison.value_b),
        rounding.value(comparison.value),
        interval_cell(_interval(rounding, comparison.low, comparison.high), comparison.notes) or "",
        _p(comparison.p_value),
        _p(comparison.p_adjusted),
        "–" if comparison.improved is None else f"{comparison.improved:,}",
        "–" if comparison.worsened is None else f"{comparison.worsened:,}",
        f"{comparison.n_problems:,}",
        verdict_word(comparison.decision.verdict),
    ]
    numbers = "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
    return f'<tr><td class="metric" dir="auto">{escape(label)}</td>{numbers}</tr>'


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"


def _interval(rounding: Rounding, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "–"
    return f"{rounding.value(low)} – {rounding.value(high)}"


# -- changed problems ----------------------------------------------------------------------


def _changed(several: SeveralText, task: ComparedTask, number: int) -> str:
    changes = task.changes
    assert changes is not None
    a, b = task.models
    where = f" of {task.task}" if len(several.findings.tasks) > 1 and task.task else ""
    has_question = any(
        change.problem_text and change.problem_text.messages for change in changes.most
    )
    texts = '<th>question</th><th class="optional">right</th>' if has_question else ""
    head = (
        f'<tr><th>problem</th>{texts}<th dir="auto">{escape(a)}</th>'
        f'<th dir="auto">{escape(b)}</th></tr>'
    )
    rows = "".join(
        _change_row(change, number, index, has_question)
        for index, change in enumerate(changes.most)
    )
    body = (
        f'<div class="scroll"><table class="changes"><thead>{head}</thead>'
        f"<tbody>{rows}</tbody></table></div>"
        f'<div class="panel" id="panel-{number}" hidden></div>'
        f"{caption(_change_caption(changes))}"
    )
    finding = _change_finding(changes, a, b, falls=task.first.ranking.lower_is_better)
    if task.judge:
        finding = f"By the verdicts of {task.judge}: {finding[:1].lower()}{finding[1:]}"
    return section(f"Flipped problems{where}", finding, body)


def _change_finding(changes: Changes, a: str, b: str, *, falls: bool) -> str:
    up, down = changes.flipped_up, changes.flipped_down
    is_graded = any(change.a.right is None for change in changes.most)
    low, high = ("high scores", "low ones") if falls else ("low scores", "high ones")
    low, high = (low, high) if is_graded else ("mostly wrong", "mostly right")
    text = f"{up:,} {_went(up)} from {low} by {a} to {high} by {b}, {down:,} the other way"
    if not up and not down:
        text = f"No problem goes from {low} by one model to {high} by the other"
    better, worse = ("score lower", "higher") if falls else ("score higher", "lower")
    if not is_graded:
        better, worse = "are solved more often", "less often"
    counts = f"{changes.improved:,} {better} by {b}, {changes.worsened:,} {worse}"
    return f"{text}; of {changes.n_problems:,}, {counts}."


def _went(count: int) -> str:
    return "problem goes" if count == 1 else "problems go"


def _change_caption(changes: Changes) -> str:
    shown = len(changes.most)
    changed = changes.improved + changes.worsened
    first = (
        "The largest changes first"
        if shown == changed
        else f"The {shown} largest of {changed:,} changes"
    )
    return (
        f"{first}. The extremes of many problems are partly luck: asked again, they would lie "
        "closer together. Choose a problem to read both models' answers."
    )


def _change_row(change: ProblemChange, number: int, index: int, is_asked: bool) -> str:
    problem = change.problem_text
    key = escape(change.problem)
    if problem is not None:
        address = f'href="#panel-{number}" data-run="{number}" data-problem="{index}"'
        key = f'<a {address} dir="auto">{key}</a>'
    question = (
        "" if problem is None or not problem.messages else one_line(problem.messages[-1].text)
    )
    targets = "" if problem is None else one_line(", ".join(problem.targets))
    texts = (
        f'<td class="text" dir="auto">{escape(question)}</td>'
        f'<td class="text optional" dir="auto">{escape(targets)}</td>'
    )
    return (
        f'<tr><td dir="auto">{key}</td>{texts if is_asked else ""}'
        f"<td>{_stack(change.a)}</td><td>{_stack(change.b)}</td></tr>"
    )


def _stack(stack: Stack) -> str:
    """Return the trials of a problem as a bar, with the count beside it."""
    words = f"{stack.value:.3g}" if stack.right is None else f"{stack.right:,} of {stack.trials:,}"
    if not 0 <= stack.value <= 1:
        return escape(words)
    canvas = Canvas(PAGE, 64, 10)
    canvas.rect(0, 0, 64, 10, "empty")
    canvas.rect(0, 0, 64 * stack.value, 10, "blue")
    return f'<span class="stack">{canvas.svg(words, "")}{escape(words)}</span>'


# -- ranks and values ----------------------------------------------------------------------


def _ranks(several: SeveralText) -> str:
    findings = several.findings
    drawn = [(task, chart) for task in findings.tasks for chart in several.ranks(task)]
    if not drawn:
        return ""
    parts = []
    for task, chart in drawn:
        if len(findings.tasks) > 1:
            parts.append(f'<h3 dir="auto">{escape(task.task or "all problems")}</h3>')
        parts.append(figure(chart, text=chart.caption if chart is drawn[-1][1] else ""))
    finding = "The ranks that the data allow, by the first metric."
    return section("Ranks", finding, "".join(parts), name="ranks")


def _values(several: SeveralText) -> str:
    """Return the table of every task, metric and model."""
    findings = several.findings
    models = "".join(
        f'<th class="number" dir="auto">{escape(name)}</th>' for name in findings.models
    )
    task_head = "<th>task</th>" if len(findings.tasks) > 1 else ""
    rows = [
        _value_row(several, task, metric, is_first=metric is task.first)
        for task in findings.tasks
        for metric in task.metrics
    ]
    body = (
        f'<div class="scroll"><table class="values"><thead><tr>{task_head}<th>metric</th>{models}'
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
    level = f"{100 * findings.options.level:.6g} %"
    text = (
        f"Values and {level} intervals of each model alone, for problems like these, on the "
        "problems that all models of the task share. Whether two models differ cannot be read from "
        "whether their intervals overlap; the differences above say it."
    )
    heading = "Every task, every model" if len(findings.tasks) > 1 else "Every model"
    return section(heading, "", body + caption(text), name="values")


def _value_row(
    several: SeveralText, task: ComparedTask, one: ComparedMetric, *, is_first: bool
) -> str:
    rounding = several.row_rounding(task, one)
    standings = {standing.model: standing for standing in one.ranking.standings}
    cells = []
    for name in several.findings.models:
        value = standings.get(name)
        text = "–"
        if value is not None:
            interval = _interval(rounding, value.low, value.high)
            text = f"<b>{rounding.value(value.value)}</b> <span class=about>{interval}</span>"
        cells.append(f'<td class="number">{text}</td>')
    head = ""
    if len(several.findings.tasks) > 1:
        head = f'<td dir="auto">{escape(task.task or "") if is_first else ""}</td>'
    return f'<tr>{head}<td class="metric">{escape(one.ranking.title)}</td>{"".join(cells)}</tr>'


# -- methods and notes ---------------------------------------------------------------------


def _methods(several: SeveralText, notes: Parted) -> str:
    text = " ".join(_method_sentences(several))
    lines = [*_counts(several), *notes.first]
    lines += [remark.text for remark in several.findings.remarks if not remark.important]
    listed = folded_list(list(dict.fromkeys(lines)), notes.others, notes.how_many)
    body = f'<p class="small">{escape(text)}</p>{listed}'
    return section("How models are compared", "", body, name="methods")


def _method_sentences(several: SeveralText) -> Iterator[str]:
    findings = several.findings
    yield (
        "Differences are paired: each is the mean over shared problems of the difference of the "
        "two models' values, with an interval between Student's and one that follows the skewness "
        "(Miller 2024, arXiv 2411.00640); for these very problems the models' own intervals are "
        "joined by square-and-add (Newcombe 1998)."
    )
    if any(task.is_corrected for task in findings.tasks):
        yield "Differences of a judge's verdicts are corrected by labels (docs/which-interval.md)."
    if findings.options.margin is not None:
        yield (
            f"Equivalence within {findings.options.margin:g} is two one-sided tests at once "
            "(Schuirmann 1987)."
        )
    if findings.n_comparisons > 1:
        yield f"p-values of {findings.n_comparisons} comparisons are adjusted after Holm (1979)."
    if any(len(task.models) > 2 for task in findings.tasks):
        yield (
            "Among three models or more, intervals and ranks hold for all pairs at once (Hothorn, "
            "Bretz, Westfall 2008)."
        )
    yield "Measured coverage is in docs/measured.md."


def compared_notes(findings: ComparedFindings) -> list[NoteLine]:
    """Return the notes on all comparisons, the most severe first."""
    several = SeveralText(findings)
    tasks = several.findings.tasks
    labels = [
        (_where(several, task), compared.metric) for task in tasks for compared in task.metrics
    ]
    noted = [
        Noted(by_name(note, task.models), _where(several, task), metric)
        for task in tasks
        for metric, note in task.notes
    ]
    return note_lines(noted, labels)


def _where(several: SeveralText, task: ComparedTask) -> str:
    return task.task or "" if len(several.findings.tasks) > 1 else ""


def _counts(several: SeveralText) -> Iterator[str]:
    """Yield the problems that do not count, by task."""
    for task in several.findings.tasks:
        where = _where(several, task)
        ranking = task.first.ranking
        dropped = [f"{count:,} of {name}" for name, count in ranking.dropped.items() if count]
        if dropped:
            yield (
                f"{f'{where}: ' if where else ''}{counted(ranking.n_problems, 'problem')} count in "
                f"{task.first.metric}; left out: {listed(dropped)}, which another model lacks or "
                "has too few trials of"
            )
