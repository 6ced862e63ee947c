"""Render the sections of a run's page that show charts."""

from __future__ import annotations

from passband.report.charts.bar import Bar
from passband.report.charts.interval_bars import IntervalBars, KindBars
from passband.report.charts.problem_strip import ProblemStrip
from passband.report.html.document import escape
from passband.report.html.drawings import kind_bars, problem_strip_of, split_bar, tries_curve
from passband.report.html.elements import caption, figure, pair_rows, section, sentence
from passband.report.html.judge import judged_by, judged_split
from passband.report.html.run_text import RunText
from passband.report.words import counted, money
from passband.summary import Kinds, Point, Purchase

# -- more tries ----------------------------------------------------------------------------


def tries_section(run: RunText) -> str:
    """Return the curves over the number of tries."""
    chart = tries_curve(run)
    if chart is None:
        return ""
    hues = {
        "pass@*": "Blue: the chance that at least one of k tries is right. ",
        "pass^*": "Orange: that all are. ",
        "max@*": "The expected best score of k tries. ",
    }
    said = "".join(hues.get(line.metric, "") for line in chart.lines)
    drawn = "Tries are drawn without replacement among those recorded, so nothing is extrapolated."
    most = max(line.k[-1] for line in chart.lines)
    tries = run.findings.tries
    short = (
        f" Problems with fewer than {most} trials are left out there." if tries[0].left_out else ""
    )
    judge = judged_by(run)
    alone = f" These are the verdicts of {judge}, without any label." if judge else ""
    body = figure(chart, text=f"{said}{chart.caption} {drawn}{short}{alone}")
    return section("More tries", _tries_finding(run), body)


def _tries_finding(run: RunText) -> str:
    """Return the gain from more tries in a sentence."""
    if judge := judged_by(run):
        return f"What {judge} says of several tries; its false passes add up over them."
    curves = {tries.metric: tries.points for tries in run.findings.tries}
    if "pass@*" not in curves:
        points = curves["max@*"]
        first, last = points[0], points[-1]
        values = run.rounding.value(first.value), run.rounding.value(last.value)
        return f"The best of {last.k} tries scores {values[1]}; one alone {values[0]}."
    first, last = curves["pass@*"][0], curves["pass@*"][-1]
    text = f"{last.k} tries {_moved(run, first, last)}"
    if "pass^*" in curves:
        text += f"; {_percent(run, curves['pass^*'][-1])} are right every time"
    return text + "."


def _moved(run: RunText, first: Point, last: Point) -> str:
    before, after = _percent(run, first), _percent(run, last)
    if before == after:
        return f"solve no more than one does, {after}"
    return f"lift {before} to {after}"


def _percent(run: RunText, point: Point) -> str:
    return f"{run.percent.value(point.value)} %"


# -- every problem, every trial ------------------------------------------------------------


def problems_section(run: RunText) -> str:
    """Return the strip of problems, the panel that it opens, and the table of problems."""
    chart, strip = problem_strip_of(run), run.findings.strip
    table = _problem_table(run)
    if chart is None or strip is None:
        panel = f'{table}<div class="panel" id="panel-{run.index}" hidden></div>' if table else ""
        return section("Every problem", _listed(run), panel) if table else ""
    always = counted(strip.always, "problem") if strip.always else "no problem"
    verb = "is" if strip.always <= 1 else "are"
    finding = sentence(
        f"{_by_judge(run)}{always} {verb} always solved, {strip.sometimes:,} sometimes, "
        f"{strip.never:,} never"
    )
    body = (
        f"{_strip(run, chart)}{caption(chart.caption)}{_opening(run)}{table}"
        f'<div class="panel" id="panel-{run.index}" hidden></div>'
    )
    return section("Every problem, every trial", finding, body)


def _by_judge(run: RunText) -> str:
    judge = judged_by(run)
    return f"by the verdicts of {judge}, " if judge else ""


def _listed(run: RunText) -> str:
    """Return the list of problems where there is no strip, as for graded scores."""
    return "Easiest first, with each trial." if run.findings.headline else "With each trial."


def _opening(run: RunText) -> str:
    """Return how to open transcripts, for the screen alone."""
    shown = run.findings.transcripts
    if not shown.problems:
        return ""
    nearest = f" of the nearest of the {len(shown.problems):,} problems that are in this file"
    which = "" if len(shown.problems) == shown.n_problems else nearest
    what = "the answers" if shown.has_texts else "the trials"
    return f'<div class="screen">{caption(f"Choose a column to read {what}{which}.")}</div>'


def _strip(run: RunText, chart: ProblemStrip) -> str:
    name = f"strip-{run.index}"
    mask = f'<div class="mask mask-{run.index}"></div>' if chart.needs_mask("asked") else ""
    states = "".join(
        f'<input class="state {which}-state" type="radio" name="{name}" id="{name}-{which}"'
        f"{' checked' if which == 'stacked' else ''}>"
        for which in ("stacked", "asked")
    )
    labels = "".join(
        f'<label class="to-{which}" for="{name}-{which}">{word}</label>'
        for which, word in (("stacked", "stacked"), ("asked", "as asked"))
    )
    return (
        f'{states}<div class="toggle">{labels}</div>'
        f'<div class="problems" data-run="{run.index}" data-columns="{len(chart.problems)}">'
        f'<div class="stacked">{chart.strip_svg("stacked")}</div>'
        f'<div class="asked">{chart.strip_svg("asked")}{mask}</div></div>'
        '<div class="under"><span>always solved</span><span>problems, easiest first</span>'
        "<span>never solved</span></div>"
    )


def mask_rules(run: RunText) -> str:
    """Return the style rules of a strip too large for shapes."""
    chart = problem_strip_of(run)
    if chart is None or not chart.needs_mask("asked"):
        return ""
    return chart.mask_rule(f".mask-{run.index}", "asked")


def _problem_table(run: RunText) -> str:
    """Return the problems whose answers are in the file, each with a button that opens them."""
    shown = run.findings.transcripts
    if not shown.problems:
        return ""
    whole = len(shown.problems) == shown.n_problems
    which = (
        ("all " if shown.n_problems > 1 else "") + counted(shown.n_problems, "problem")
        if whole
        else (f"{len(shown.problems):,} of {shown.n_problems:,} problems, evenly from easy to hard")
    )
    word = "solved" if run.findings.group.is_binary else "score"
    head = f'<tr><th>problem</th><th class="number">{word}</th></tr>'
    return (
        f'<details class="more screen" data-problems="{run.index}" hidden><summary>{which}'
        f'</summary><div class="columns"><table><thead>{head}</thead><tbody></tbody></table></div>'
        "</details>"
    )


# -- where the uncertainty comes from ------------------------------------------------------


def uncertainty_section(run: RunText) -> str:
    """Return the split of the variance, and the gain from more data."""
    found = run.findings.uncertainty
    if found is None:
        return judged_split(run)
    chart = split_bar(run)
    bar = "" if chart is None else figure(chart, text="")
    useful = [at for at, one in enumerate(found.purchases) if one.is_useful]
    rows = [(_purchase(one), f"± {_points(run, one.half_width)}") for one in found.purchases]
    notes = [sentence(note.text) for note in found.notes]
    words = " ".join([_meaning(run), *notes])
    return section(
        "Where the uncertainty comes from",
        _uncertainty_finding(found.share_problems),
        f"{bar}{pair_rows(rows, useful=useful)}{caption(words)}",
    )


def _uncertainty_finding(share: float | None) -> str:
    if share is None:
        return "What more data would bring."
    if share > 0.6:
        return "Mostly from which problems were asked."
    if share < 0.4:
        return "Mostly from sampling the model."
    return "From which problems were asked as much as from sampling."


def _purchase(one: Purchase) -> str:
    return {
        "now": "now",
        "trials": f"twice the trials ({one.count:,} each)",
        "problems": f"twice the problems ({one.count:,})",
    }[one.what]


def _points(run: RunText, width: float) -> str:
    return run.percent.value(width) if run.counts_successes else run.rounding.value(width)


def _meaning(run: RunText) -> str:
    found = run.findings.uncertainty
    if found is None:
        return ""
    unit = "Points, half" if run.counts_successes else "Half"
    price = "" if found.price is None else f" and about {money(found.price)}"
    which = "Either" if len(found.purchases) > 2 else "That"
    either = f"{which} takes {counted(found.more_trials, 'more trial')}{price}."
    return f"{unit} the width of the interval of {found.metric} over problems. {either}"


# -- by kind of problem --------------------------------------------------------------------


def kinds_section(run: RunText) -> str:
    """Return the metric by kind of problem."""
    chart, kinds = kind_bars(run), run.findings.kinds
    if chart is None or kinds is None:
        return ""
    guess = "" if kinds.is_declared else f" Kinds are the column “{kinds.column}” of the data."
    others = f" --by takes also {', '.join(kinds.others)}." if kinds.others else ""
    body = _kind_table(chart) + caption(chart.caption + guess + others)
    return section("By kind of problem", _kinds_finding(kinds, chart), body)


def _kinds_finding(kinds: Kinds, chart: KindBars) -> str:
    measured = [(kind.name, kind.estimate) for kind in kinds.kinds if kind.estimate is not None]
    if len(measured) < 2:
        return ""
    (best, high), (worst, low) = measured[0], measured[-1]
    return (
        f"From {chart.written.value(low.value)} ({worst}) to "
        f"{chart.written.value(high.value)} ({best})."
    )


def _kind_table(chart: KindBars) -> str:
    """Return a row for each kind: its name, its problems, its bar and its value."""
    bars = IntervalBars(chart.bars, chart.level, chart.written, title=chart.title)
    rows = "".join(_kind_row(bar, bars.bar_svg(bar, width=240), chart) for bar in chart.bars)
    head = (
        f'<tr><th dir="auto">{escape(chart.kind)}</th><th class="number optional">problems</th>'
        f'<th class="bar">{bars.axis_svg(width=240)}</th>'
        f'<th class="number">{escape(chart.metric)}</th></tr>'
    )
    return f'<table class="kinds"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _kind_row(bar: Bar, drawn: str, chart: KindBars) -> str:
    value = "–" if bar.value is None else chart.written.value(bar.value)
    return (
        f'<tr><td dir="auto">{escape(bar.label)}</td>'
        f'<td class="number words optional">{bar.count or 0:,}</td>'
        f'<td class="bar">{drawn}</td><td class="number">{escape(value)}</td></tr>'
    )
