"""Render a run: its state, its estimates, every problem, and the first trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from passband.report import Bar, Noted, NoteLine, bars_caption, note_lines, parted, parts_text
from passband.summary import ProblemRate, RunNumbers, RunState
from passband.view.bars import Written, axis, written_lines
from passband.view.labels import (
    asked,
    cost,
    done,
    failures,
    percent,
    share,
    status_words,
    time_left,
)
from passband.view.markup import Html, fragment, name, tag
from passband.view.page_context import RunPage
from passband.view.page_frame import banner, folded_notes, page
from passband.view.pages.strip import strip_section
from passband.view.pages.trials import TrialsPage, filter_links, search_form, trials_section


def run_page(
    here: RunPage,
    numbers: RunNumbers,
    rates: Sequence[ProblemRate],
    some: TrialsPage,
    counts: Mapping[str, int | None],
) -> str:
    """Return the page of a run."""
    lines = written_lines(numbers)
    texts = run_texts(numbers, lines)
    trials = tag("section", tag("h2", "Trials"), filter_links(here, some.show, counts),
                 search_form(here), trials_section(here, some))  # fmt: skip
    return page(
        here.title,
        here.crumbs[:1],
        tag("div", _header(here, numbers, texts), _estimates(numbers, lines),
            _facts(numbers, texts), data_events=here.run.events, data_metrics=_metrics(lines)),
        strip_section(here, rates, graded=counts.get("right", 0) is None),
        trials,
    )  # fmt: skip


def run_texts(numbers: RunNumbers, lines: Sequence[Written] | None = None) -> dict[str, str]:
    """Return the texts that change during a run, by their elements."""
    standing = numbers.standing
    texts = {
        "state": status_words(standing),
        "done": done(standing),
        "percent": percent(standing),
        "share": share(standing),
        "left": time_left(numbers),
        "failed": failures(standing),
        "cost": cost(standing),
        "asked": asked(standing),
        "tokens": _tokens(standing),
        "retried": f"{standing.retried:,}",
    }
    lines = written_lines(numbers) if lines is None else lines
    for line in lines:
        texts |= {f"value {line.metric}": line.value, f"interval {line.metric}": line.interval}
        if line.bar is not None:
            texts[f"bar {line.metric}"] = line.bar
    return {**texts, "metrics": _metrics(lines)}


def _metrics(lines: Sequence[Written]) -> str:
    """Return which metrics there are: a page that shows others has to be loaded again."""
    return "\n".join(line.metric for line in lines)


def _live(key: str, texts: Mapping[str, str], element: str = "span", **more: str) -> Html:
    return tag(element, texts[key], data_live=key, **more)


def _header(here: RunPage, numbers: RunNumbers, texts: Mapping[str, str]) -> Html:
    standing = numbers.standing
    parts = [_live("state", texts, "b"), _live("done", texts)]
    if standing.planned and standing.state in ("running", "stopped"):
        parts.append(_live("percent", texts))
    if standing.state == "running":
        parts.append(_live("left", texts))
    parts.append(_live("failed", texts))
    line = [fragment(part, " · ") for part in parts[:-1]]
    progress = None
    if standing.planned and standing.state == "running":
        progress = tag("progress", value=texts["share"], max=1, data_live="share",
                       aria_label="trials recorded")  # fmt: skip
    return tag(
        "header",
        tag("h1", here.heading),
        tag("p", line, parts[-1], " · ", name(here.folder.label), class_="run-line"),
        progress,
    )


def _estimates(numbers: RunNumbers, lines: Sequence[Written]) -> Html:
    notes = parted(_notes(numbers))
    if not lines:
        reason = tag("p", numbers.reason or "there is no estimate", class_="finding")
        return tag("section", tag("h2", "Estimates"), reason, class_="first")
    has_bars = any(line.bar is not None for line in lines)
    headline = numbers.headline
    level = 0.95 if headline is None or headline.estimate is None else headline.estimate.level
    heads = tag(
        "tr", tag("th", "metric"), tag("th", "value"), tag("th", f"{100 * level:g} % interval"),
        tag("th", axis(), class_="wide-bar") if has_bars else None,
    )  # fmt: skip
    caption = bars_caption([Bar("", 0.0, (0, 0), (0, 0) if numbers.inner else None)], level)
    return tag(
        "section",
        banner(notes.warnings),
        tag("table", heads, [_estimate(line, has_bars) for line in lines]),
        tag("p", caption, class_="caption") if has_bars else None,
        folded_notes(notes),
        class_="first",
    )


def _estimate(line: Written, has_bars: bool) -> Html:
    bar = tag("td", line.bar, data_live=f"bar {line.metric}", class_="wide-bar")
    return tag(
        "tr",
        tag("td", name(line.title), class_="metric"),
        tag("td", line.value, data_live=f"value {line.metric}", class_="value"),
        tag("td", line.interval, data_live=f"interval {line.metric}", class_="interval"),
        bar if has_bars else None,
    )


def _notes(numbers: RunNumbers) -> list[NoteLine]:
    """Return the notes on the trials, and on the estimates."""
    noted = [Noted(note) for note in numbers.notes]
    noted += [Noted(note, "", line.metric) for line in numbers.lines for note in line.notes]
    return note_lines(noted, [("", line.metric) for line in numbers.lines])


def _facts(numbers: RunNumbers, texts: Mapping[str, str]) -> Html:
    """Return the cost of the run in one line."""
    retried = fragment(" · ", _live("retried", texts), " asked more than once")
    return tag(
        "p", _live("asked", texts), " · tokens in and out: ",
        _live("tokens", texts), " · cost: ", _live("cost", texts),
        retried if numbers.standing.retried else None, class_="run-line facts",
    )  # fmt: skip


def _tokens(standing: RunState) -> str:
    if not any(standing.tokens):
        return "not counted"
    asked, answered = (f"{count:,}" for count in standing.tokens)
    parts = parts_text(standing.cached_tokens, standing.reasoning_tokens)
    return f"{asked} + {answered}{parts}"
