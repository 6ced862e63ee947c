"""Render the list of runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from passband.report import counted
from passband.view.bars import SMALL, written_lines
from passband.view.labels import done, failures, status_words, time_left
from passband.view.links import Links
from passband.view.markup import Html, fragment, isolated, name, tag
from passband.view.page_frame import page
from passband.view.reading.cards import Card

RUNS_A_PAGE = 50  # directories


def runs_page(
    cards: Sequence[Card], links: Links, roots: Sequence[str], start: int, total: int
) -> str:
    """Return the page of some directories, out of so many."""
    where = ", ".join(roots)
    if not total:
        empty = tag("p", f"There is no run in {where} yet. This one makes one:", class_="finding")
        command = tag("pre", "passband run arithmetic --model tiny -n 16", class_="command")
        return page("runs", [], _header("Runs", where), empty, command, _notice())
    heads = ("run", "state", "trials", "estimate", "", "")
    table = tag(
        "table",
        tag("tr", [tag("th", head, class_=_optional(i)) for i, head in enumerate(heads)]),
        [_row(card, links) for card in cards],
    )
    count = counted(total, "run directory").replace("directorys", "directories")
    return page(
        "runs",
        [],
        _header("Runs", f"{where} · {count}"),
        tag("section", table, _notice(), class_="first", data_events=links.runs_events,
            data_start=start, data_runs=runs_key(cards)),
        _pager(links, start, total),
        _choice(cards, links),
    )  # fmt: skip


def _header(title: str, line: str) -> Html:
    return tag("header", tag("h1", title), tag("p", line, class_="run-line"))


def _notice() -> Html:
    """Return the line that the script shows when there are other runs than on the page."""
    return tag("p", "There are other runs now. ", tag("a", "Show them", href=""),
               id="others", class_="caption", hidden=True)  # fmt: skip


def _optional(column: int) -> str | None:
    return "optional" if column in (2, 4, 5) else None


def _key(card: Card) -> str:
    return f"{card.folder.name}/{card.number}"


def runs_key(cards: Sequence[Card]) -> str:
    """Return which runs are listed, in whatever order, to see whether there are others."""
    return " ".join(sorted(map(_key, cards)))


def _row(card: Card, links: Links) -> Html:
    label = tag("span", name(card.folder.label), class_="about")
    if card.numbers is None:
        kind = "damaged" if card.is_damaged else "not readable"
        why = tag("td", card.problem, colspan=5, class_="wrong" if card.is_damaged else "words")
        return tag("tr", tag("td", label, " ", tag("b", kind if card.is_damaged else "")), why)
    numbers, texts = card.numbers, card_texts(card)
    key, first = _key(card), next(iter(written_lines(numbers, SMALL)), None)
    title = fragment(name(card.task), " by ", name(card.model))
    return tag(
        "tr",
        tag("td", tag("a", title, href=links.run(card.folder.name, card.number).page),
            tag("br"), label),
        tag("td", texts[f"state {key}"], data_live=f"state {key}", class_="nowrap"),
        tag("td", texts[f"done {key}"], data_live=f"done {key}", class_="optional"),
        tag("td", texts[f"estimate {key}"], data_live=f"estimate {key}", class_="interval"),
        tag("td", "" if first is None else first.bar, data_live=f"bar {key}",
            class_="small-bar optional"),
        tag("td", texts[f"about {key}"], data_live=f"about {key}", class_="words optional"),
    )  # fmt: skip


def card_texts(card: Card) -> dict[str, str]:
    """Return the texts of a run in the list, by their elements."""
    if card.numbers is None:
        return {}
    key, numbers = _key(card), card.numbers
    first = next(iter(written_lines(numbers, SMALL)), None)
    about = time_left(numbers) or failures(numbers.standing)
    texts = {
        f"state {key}": status_words(numbers.standing),
        f"done {key}": done(numbers.standing),
        f"estimate {key}": "" if first is None else f"{first.value} {first.interval}",
        f"about {key}": about if first is not None or not numbers.reason else numbers.reason,
    }
    return texts if first is None or first.bar is None else {**texts, f"bar {key}": first.bar}


def _pager(links: Links, start: int, total: int) -> Html | None:
    """Return links to newer and older directories."""
    newer = tag("a", "newer", href=links.runs(max(0, start - RUNS_A_PAGE)), rel="prev")
    older = tag("a", "older", href=links.runs(start + RUNS_A_PAGE), rel="next")
    steps = [newer] if start else []
    steps += [older] if start + RUNS_A_PAGE < total else []
    return tag("p", [fragment(step, " ") for step in steps], class_="pager") if steps else None


def _choice(cards: Sequence[Card], links: Links) -> Html | None:
    """Return the form that chooses two runs to compare."""
    runs = [card for card in cards if card.numbers is not None]
    if len(runs) < 2:
        return None
    fields = [
        tag("label", label, " ", tag("select", [_option(card, i == at) for i, card in
            enumerate(runs)], name=field))
        for at, (label, field) in zip(_pair(runs), (("from", "a"), ("to", "b")), strict=True)
    ]  # fmt: skip
    form = tag("form", fields, tag("button", "compare"), action=links.comparison(), class_="ask")
    return tag("section", tag("h2", "Compare two runs"), form)


def _pair(runs: Sequence[Card]) -> tuple[int, int]:
    """Return the first two runs of one task; the first two where each has its own."""
    pairs = combinations(range(len(runs)), 2)
    return next(((a, b) for a, b in pairs if runs[a].task == runs[b].task), (0, 1))


def _option(card: Card, chosen: bool) -> Html:
    names = map(isolated, (card.task, card.model, card.folder.label))
    text = "{} by {} ({})".format(*names)
    return tag("option", text, value=_key(card), selected=chosen)
