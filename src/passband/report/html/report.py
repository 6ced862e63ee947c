"""Assemble the page of a report: a table of its runs, then one run after another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from passband.report.charts.bar import Bar
from passband.report.charts.chart import Chart
from passband.report.charts.interval_bars import IntervalBars
from passband.report.html.adaptive import ability_section
from passband.report.html.closing import methods_section, notes_section, trials_section
from passband.report.html.document import document, escape
from passband.report.html.drawings import bar_of, charts_of
from passband.report.html.elements import (
    banner,
    caption,
    one_line,
    prose,
    section,
    sentence,
    side_by_side,
)
from passband.report.html.judge import confusion_section, judge_section
from passband.report.html.lead import lead_html, run_line
from passband.report.html.payload import run_payload
from passband.report.html.run_text import RunText
from passband.report.html.sections import (
    kinds_section,
    mask_rules,
    problems_section,
    tries_section,
    uncertainty_section,
)
from passband.report.html.several import (
    ComparedPart,
    compared_charts,
    compared_notes,
    compared_part,
)
from passband.report.noted import Noted, note_lines
from passband.report.style import PLAIN
from passband.report.summary import combined_meaning, notes_of
from passband.report.table_line import table_lines
from passband.report.words import counted
from passband.stats.interval import Rounding
from passband.summary import (
    ComparedFindings,
    Findings,
    SameWrong,
    ShownProblem,
    SourceFindings,
    Summary,
)


def same_wrong_section(run: RunText) -> str:
    """Return the problems whose wrong answers agree most surprisingly."""
    agreement = run.findings.agreement
    if agreement is None or not agreement.found:
        return ""
    places = {
        problem.problem.key: index
        for index, problem in enumerate(run.findings.transcripts.problems)
    }
    rows = "".join(_row(run, problem, places.get(problem.problem)) for problem in agreement.found)
    solved = "solved" if run.findings.group.is_binary else "best score"
    head = (
        '<tr><th>problem</th><th class="optional">question</th><th class="optional">right</th>'
        f'<th class="number">{solved}</th><th>most frequent wrong answer</th>'
        '<th class="number">times</th></tr>'
    )
    count = counted(len(agreement.found), "problem")
    finding = f"{count} whose wrong answers agree most surprisingly, out of {agreement.problems:,}."
    said = "The same wrong answer again and again is either a misconception or a wrong key."
    notes = " ".join(["", *(sentence(note.text) for note in agreement.notes)])
    body = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>{caption(said + notes)}"
    return section("Wrong in the same way", finding, body)


def _row(run: RunText, agreement: SameWrong, index: int | None) -> str:
    key = escape(one_line(agreement.problem))
    question = ""
    if index is not None:
        question = _question(run.findings.transcripts.problems[index].problem)
        key = (
            f'<button type="button" class="link" data-run="{run.index}" data-problem="{index}">'
            f"{key}</button>"
        )
    right = " or ".join(agreement.targets)
    return (
        f'<tr><td dir="auto">{key}</td><td class="text optional" dir="auto">{escape(question)}</td>'
        f'<td class="text optional" dir="auto">{escape(one_line(right))}</td>'
        f'<td class="number">{agreement.right}/{agreement.scored}</td>'
        f'<td class="text wrong" dir="auto">{escape(one_line(agreement.answer))}</td>'
        f'<td class="number">{agreement.times}</td></tr>'
    )


def _question(problem: ShownProblem) -> str:
    return one_line(problem.messages[-1].text) if problem.messages else ""


def overview_html(runs: Sequence[RunText], heading: str) -> str:
    """Return a table of runs with the number that leads each, on one axis."""
    bars = [_bar(run) for run in runs]
    chart = IntervalBars([bar for bar in bars if bar is not None])
    rows = "".join(_overview_row(run, bar, chart) for run, bar in zip(runs, bars, strict=True))
    axis = chart.axis_svg() if chart.bars else ""
    head = (
        '<tr><th>run</th><th>metric</th><th class="number">value</th>'
        f'<th class="bar">{axis}</th><th class="number">trials</th></tr>'
    )
    table = f'<table class="metrics runs"><thead>{head}</thead><tbody>{rows}</tbody></table>'
    said = (
        "Bars: the interval for problems like these, and inside it that for these very problems. "
        "Intervals of different rows are not a comparison."
    )
    noted = [
        Noted(note, run.label, run.findings.headline.metric)
        for run in runs
        if run.findings.headline is not None
        for note in run.findings.headline.notes
        if note.severity == "invalid"
    ]
    refused = banner([line.text for line in note_lines(noted)])
    return f'<nav class="contents"><h2>{escape(heading)}</h2>{refused}{table}{caption(said)}</nav>'


def _bar(run: RunText) -> Bar | None:
    line = next((one for one in run.lines if one.line is run.findings.headline), None)
    return None if line is None else bar_of(run, line)


def _overview_row(run: RunText, bar: Bar | None, chart: IntervalBars) -> str:
    trials = f"{run.findings.progress.recorded:,}"
    value = metric = drawn = ""
    if bar is not None:
        metric, value, drawn = bar.label, _value(bar, run.rounding), chart.bar_svg(bar)
    return (
        f'<tr><td dir="auto"><a href="#run-{run.index + 1}">{escape(run.label)}</a></td>'
        f'<td class="words" dir="auto">{escape(metric)}</td>'
        f'<td class="value number">{escape(value)}</td><td class="bar">{drawn}</td>'
        f'<td class="number">{trials}</td></tr>'
    )


def _value(bar: Bar, rounding: Rounding) -> str:
    return "" if bar.value is None else rounding.value(bar.value)


def report_page(
    sources: Sequence[SourceFindings],
    *,
    title: str | None = None,
    compared: ComparedFindings | None = None,
) -> str:
    """Return a report as a complete page: one run, or several below a table of contents.

    Where models are `compared`, the comparison comes before the runs.
    """
    runs = _run_texts(sources)
    several = None if compared is None else compared_part(compared, len(runs))
    name = title or (title_of([run.findings for run in runs]) if several is None else several.title)
    body = _single(runs[0], title) if len(runs) == 1 else _several(runs, name, several, title)
    body += "".join(combined_section(source.summary) for source in sources)
    payload = [*map(run_payload, runs), *([] if several is None else several.payload)]
    return document(
        name,
        f"<main>{body}{footer(runs)}</main>",
        style="".join(map(mask_rules, runs)),
        data={"runs": payload},
    )


def _run_texts(sources: Sequence[SourceFindings]) -> list[RunText]:
    """Return the runs of all sources, with their source where two are of one task and model."""
    names = _names([source.summary.source for source in sources])
    runs = [(run, name) for source, name in zip(sources, names, strict=True) for run in source.runs]
    times = Counter((run.task, run.model) for run, _ in runs)
    return [
        RunText(run, index, name if times[run.task, run.model] > 1 else "")
        for index, (run, name) in enumerate(runs)
    ]


def _names(sources: Sequence[str]) -> list[str]:
    """Return the last part of each path, or whole paths where last parts repeat."""
    names = [Path(source).stem for source in sources]
    return names if len(set(names)) == len(names) else list(sources)


def charts_by_folder(
    sources: Sequence[SourceFindings], compared: ComparedFindings | None = None
) -> dict[str, list[Chart]]:
    """Return the charts by the name of a folder: those of one run, or of a comparison, in none."""
    runs = _run_texts(sources)
    if len(runs) == 1:
        return {"": charts_of(runs[0])}
    folders = {} if compared is None else {"": compared_charts(compared)}
    return folders | {f"{run.index + 1}-{_file_name(run.findings)}": charts_of(run) for run in runs}


def _file_name(findings: Findings) -> str:
    return re.sub(r"[^\w.-]+", "-", f"{findings.task}-{findings.model}")[:60].strip("-.") or "run"


def title_of(runs: Sequence[Findings]) -> str:
    """Return the title of a report: task and model, or the one that its runs share."""
    if len(runs) == 1:
        return runs[0].name
    tasks = list(dict.fromkeys(run.task for run in runs))
    models = list(dict.fromkeys(run.model for run in runs))
    task = tasks[0] if len(tasks) == 1 else f"{len(tasks)} tasks"
    model = models[0] if len(models) == 1 else f"{len(models)} models"
    return f"{task} by {model}" if all(run.names_model for run in runs) else task


def _single(run: RunText, title: str | None) -> str:
    return f"{_header(run, title)}{run_html(run)}"


def _header(run: RunText, title: str | None) -> str:
    findings = run.findings
    name = prose(title) if title else _name(findings)
    return (
        f'<header><div class="kind">passband report</div><h1>{name}</h1>'
        f'<div class="run-line">{run_line(run)}</div></header>'
    )


def _name(findings: Findings) -> str:
    if not findings.names_model:
        return prose(findings.task)
    return f'{prose(findings.task)} <span class="by">by</span> {prose(findings.model)}'


def run_html(run: RunText) -> str:
    """Return the sections of a run, in the order of the questions of its readers."""
    return "".join(
        [
            lead_html(run),
            side_by_side(judge_section(run), confusion_section(run)),
            ability_section(run),
            tries_section(run),
            problems_section(run),
            side_by_side(uncertainty_section(run), kinds_section(run)),
            same_wrong_section(run),
            side_by_side(trials_section(run), methods_section(run)),
            notes_section(run),
        ]
    )


def _several(
    runs: Sequence[RunText], name: str, part: ComparedPart | None, title: str | None
) -> str:
    contents = overview_html(runs, "Runs" if part is None else "Each run")
    head = (
        f'<header><div class="kind">passband report</div><h1>{prose(name)}</h1>'
        f'<div class="run-line"><b>{len(runs)}</b> runs</div></header>'
    )
    if part is not None:
        head = (part.header if title is None else head) + part.body
    elif len({run.findings.model for run in runs}) > 1:
        contents += caption("No task was asked of two models, so there is nothing to compare.")
    return head + contents + "".join(map(_article, runs))


def _article(run: RunText) -> str:
    return (
        f'<article id="run-{run.index + 1}"><header><h1>{_name(run.findings)}</h1>'
        f'<div class="run-line">{_source(run)}{run_line(run)}</div></header>'
        f"{run_html(run)}</article>"
    )


def _source(run: RunText) -> str:
    return f"{prose(run.source)} · " if run.source else ""


def combined_section(summary: Summary) -> str:
    """Return the weighted means over groups, where the summary has some."""
    count = len(list(summary.combined_lines()))
    if not count:
        return ""
    lines = table_lines(summary)[-count:]
    roundings = PLAIN.roundings([line.figure for line in lines])
    rows = ""
    for line, rounding in zip(lines, roundings, strict=True):
        value = interval = "–"
        if line.estimate is not None:
            value = rounding.value(line.estimate.value)
            interval = rounding.interval(line.estimate.low, line.estimate.high)
        label = " / ".join([*line.by.values(), line.line.metric])
        rows += (
            f'<tr><td dir="auto">{escape(label)}</td><td class="number">{escape(value)}</td>'
            f'<td class="number">{escape(interval)}</td></tr>'
        )
    level = f"{100 * summary.request.level:.6g} % interval"
    head = (
        '<tr><th>mean</th><th class="number">value</th>'
        f'<th class="number">{escape(level)}</th></tr>'
    )
    said = caption(" ".join(combined_meaning(summary)))
    return section("Means over groups", "", f"<table>{head}{rows}</table>{said}")


def footer(runs: Sequence[RunText]) -> str:
    """Return the last line: the contents of the file, and its omissions."""
    said = f"One file, no network, no tracking. {_sampled(runs)}"
    return f"<footer>{escape(said)}</footer>"


def refused_lines(
    sources: Sequence[SourceFindings], compared: ComparedFindings | None = None
) -> list[str]:
    """Return why claims about some of the numbers cannot be made, as the page says at its top."""
    lines = [line for source in sources for line in notes_of(source.summary)]
    if compared is not None:
        lines += compared_notes(compared)
    refused = (line.text for line in lines if line.is_invalid)
    return [f"warning: {text}" for text in dict.fromkeys(refused)]


def sampled_text(sources: Sequence[SourceFindings]) -> str:
    """Return how many of the completions are in the file."""
    return _sampled(_run_texts(sources))


def _sampled(runs: Sequence[RunText]) -> str:
    shown = [run.findings.transcripts for run in runs]
    texts, trials = (
        sum(sample.n_texts for sample in shown),
        sum(sample.n_trials for sample in shown),
    )
    if not any(sample.has_texts for sample in shown):
        return "It holds no transcripts."
    if not any(sample.is_sampled for sample in shown):
        return "It holds every transcript."
    return (
        f"It holds {texts:,} of {trials:,} completions, chosen evenly from easy to hard problems, "
        "long ones cut; passband show reads all of them from the run."
    )
