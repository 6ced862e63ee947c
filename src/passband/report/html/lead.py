"""Render the beginning of a run's page: its name, its number, and the table of metrics."""

from __future__ import annotations

from collections.abc import Iterator

from passband.notes import claim_refused
from passband.report.html.adaptive import ability_sentences
from passband.report.html.document import escape
from passband.report.html.drawings import bar_of, interval_bars
from passband.report.html.elements import banner, caption, note_list
from passband.report.html.run_text import RunText, metric_words
from passband.report.judged import named
from passband.report.noted import interval_cell
from passband.report.summary import notes_of
from passband.report.table_line import TableLine
from passband.report.words import counted
from passband.stats.interval import Rounding
from passband.summary import JudgeResult, RecordedProgress

_ONE_TRY = ("solved in one try", "mean score of one try")


def run_line(run: RunText) -> str:
    """Return the line below a run's name: its size, its date, and how far it has come."""
    return " · ".join(_run_parts(run))


def _run_parts(run: RunText) -> Iterator[str]:
    found = run.findings
    problems = "problem" if found.group.n_problems == 1 else "problems"
    if found.group.adaptive is None:
        each = times_text(run)
        trials = "trial" if each == "1" else "trials"
        yield f"<b>{found.group.n_problems:,}</b> {problems} × <b>{each}</b> {trials}"
    else:
        yield f"adaptive, <b>{found.progress.recorded:,}</b> items asked"
    if found.provenance.temperature is not None:
        yield f"temperature {found.provenance.temperature:g}"
    if found.progress.date:
        yield escape(found.progress.date)
    yield escape(f"{_state(found.progress)}{_losses(run)}")


def times_text(run: RunText) -> str:
    """Return how often each problem was asked: "16", or "4–16"."""
    fewest, most = run.findings.progress.each
    return f"{most:,}" if fewest == most else f"{fewest:,}–{most:,}"


def _state(progress: RecordedProgress) -> str:
    done = f"{progress.recorded:,}"
    if progress.state == "complete":
        return "complete"
    of = "" if progress.planned is None else f" of {progress.planned:,}"
    word = {"running": "still running; ", "stopped": "stopped early; "}.get(progress.state, "")
    return f"{word}{done}{of} {'trial' if progress.recorded == 1 and not of else 'trials'}"


def _losses(run: RunText) -> str:
    lost = run.findings.group.n_unscored
    return ", nothing failed" if not lost else f", {lost:,} without a score"


# -- the number that leads -----------------------------------------------------------------


def lead_html(run: RunText) -> str:
    """Return the big number with its sentence, and the table of metrics."""
    return f"{banner(_refused(run))}{_lead(run)}{warnings_html(run)}{_table(run)}"


def _refused(run: RunText) -> list[str]:
    """Return why claims about some of the numbers cannot be made."""
    return [line.text for line in notes_of(run.findings.summary) if line.is_invalid]


def _lead(run: RunText) -> str:
    line = run.findings.headline
    if line is None or line.estimate is None:
        return f'<div class="lead"><p>{escape(_reason(run))}</p></div>'
    small = "<small>%</small>" if run.counts_successes else ""
    number = f'<div class="big">{escape(run.prose(line.estimate.value))}{small}</div>'
    return f'<div class="lead">{number}<p>{"".join(_sentences(run))}</p></div>'


def _reason(run: RunText) -> str:
    reasons = [str(line.reason) for line in run.findings.group.lines if line.reason is not None]
    return f"There is no number to show: {reasons[0]}" if reasons else "There is no number to show."


def _sentences(run: RunText) -> Iterator[str]:
    """Yield the main number and its two intervals in sentences."""
    line = run.findings.headline
    if line is None or line.estimate is None:
        return
    if line.metric == "theta":
        yield from ability_sentences(run)
        return
    words = metric_words(line, is_binary=run.findings.group.is_binary)
    if (judge := run.findings.group.judge) is not None and words in _ONE_TRY:
        yield _judged_sentence(judge)
    elif run.counts_successes and words == "solved in one try":
        yield "of problems like these are solved in one try. "
    elif words == "mean score of one try":
        direction = "; lower is better" if line.lower_is_better else ""
        yield f"is the mean score of one try at problems like these{direction}. "
    else:
        yield f"is {escape(line.title)}{f': {escape(words)}' if words else ''}. "
    outer = run.between(line.estimate)
    inner = run.inner(line)
    again = None if inner is None else run.between(inner)
    if outer is None and claim_refused(line.notes):
        yield "There is no interval, for the reason above"
    elif outer is None:
        yield "There are too few data for an interval over problems"
    else:
        yield f"With other problems of this kind it would be <b>{escape(outer)}</b>"
    yield f"; asked again on these very problems, {escape(again)}. " if again else ". "
    bracket = run.findings.group.bracket
    if bracket is not None and bracket.metric == line.metric:
        low, high = run.prose(bracket.low), run.prose(bracket.high)
        yield (
            f"Trials without a score leave open more: it is {escape(low)}{run.sign} if all of them "
            f"are wrong, and {escape(high)}{run.sign} if all are right."
        )


def _judged_sentence(judge: JudgeResult) -> str:
    """Return whether a judged number is the judge's own or corrected by labels."""
    name = escape(judge.title)
    if not judge.is_corrected:
        return f"is the pass rate of the {escape(named(judge))}, and not that of the task. "
    labels = counted(judge.n_labels, "label")
    alone = "" if judge.pass_rate is None else f" (the judge alone: {judge.pass_rate:.3f})"
    return f"of tries at problems like these pass, by {name} corrected by {labels}{alone}. "


def warnings_html(run: RunText) -> str:
    """Return warnings that change the meaning of the numbers: an unfinished run, lost trials."""
    progress = run.findings.progress
    unasked = _unasked(run)
    lines = []
    if progress.state == "running":
        lines.append(
            f"This run is going on: {_state(progress)}. Numbers are those of now.{unasked}"
        )
    elif progress.state == "stopped":
        lines.append(f"This run did not come to its end: {_state(progress)}.{unasked}")
    notes = notes_of(run.findings.summary)
    lines += [line.text for line in notes if line.is_warning and not line.is_invalid]
    lines += [one.text for one in run.findings.summary.remarks if one.important]
    return note_list(lines)


def _unasked(run: RunText) -> str:
    """Return how many problems the number that leads is without; they may be the harder ones."""
    line = run.findings.headline
    if line is None or line.estimate is None or not line.estimate.left_out:
        return ""
    total = run.findings.group.n_problems
    return f" {line.estimate.left_out:,} of {counted(total, 'problem')} are not in its numbers yet."


# -- the table -----------------------------------------------------------------------------


def _table(run: RunText) -> str:
    chart = interval_bars(run)
    axis = "" if chart is None else chart.axis_svg()
    level = f"{100 * run.findings.summary.request.level:.6g} % interval"
    head = (
        f'<tr><th>metric</th><th class="number">value</th><th class="number">{escape(level)}</th>'
        f'<th class="bar">{axis}</th><th>in words</th></tr>'
    )
    rows = [
        _row(run, one, rounding) for one, rounding in zip(run.lines, run.roundings, strict=True)
    ]
    text = "" if chart is None else chart.caption
    if run.findings.group.adaptive is not None:
        text = text.replace("problems like these, asked the same way", "the whole bank")
    below = caption(text)
    return (
        f'<table class="metrics"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>{below}'
    )


def _row(run: RunText, one: TableLine, rounding: Rounding) -> str:
    chart = interval_bars(run)
    words = metric_words(one.line, is_binary=run.findings.group.is_binary)
    value, interval = "–", "–"
    bar = ""
    if one.estimate is not None:
        value = rounding.value(one.estimate.value)
        if one.estimate.low is not None and one.estimate.high is not None:
            interval = f"{rounding.value(one.estimate.low)} – {rounding.value(one.estimate.high)}"
        interval = interval_cell(interval, one.estimate.notes) or interval
        own = bar_of(run, one)
        if chart is not None and own in chart.bars:
            bar = chart.bar_svg(own)
        if one.estimate.left_out:
            words += f"; {counted(one.estimate.left_out, 'problem')} with too few trials left out"
    else:
        words = f"no value: {one.line.reason}"
    return (
        f'<tr><td class="metric" dir="auto">{escape(one.line.title)}</td>'
        f'<td class="value number">{escape(value)}</td><td class="interval number">'
        f'{escape(interval)}</td><td class="bar">{bar}</td>'
        f'<td class="words" dir="auto">{escape(words)}</td></tr>'
    )
