"""Render the abilities of models: rows of a table, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator

from passband.report.rendering import Cell
from passband.report.style import PLAIN, Figure, Style
from passband.stats.decision import Abilities
from passband.stats.interval import Rounding

_NAMES = {"logit": "a logit with a difficulty for each problem", "bradley-terry": "Bradley-Terry"}


def ability_rows(
    ranking: Abilities, interval: str, style: Style = PLAIN
) -> Iterator[dict[str, Cell]]:
    """Return a row per model, best first; `interval` is the head of that column."""
    rounding = style.rounding(Figure(one.value, one.low, one.high) for one in ranking.abilities)
    for one in ranking.abilities:
        yield {
            "rank": span(one.rank_low, one.rank_high),
            "model": one.model,
            "ability": rounding.value(one.value),
            interval: half_open(one.low, one.high, rounding),
            "confidence best": share(one.p_best),
            ranking.metric: f"{one.plain:.3f}",
            "problems": one.n_problems,
        }


def ability_notes(ranking: Abilities) -> Iterator[str]:
    """Return how the abilities are made, and the notes on them."""
    unit = "success" if ranking.model == "logit" else f"a higher {ranking.metric} on a problem"
    yield (
        f"Abilities are log odds of {unit} by {_NAMES[ranking.model]}, 0 being the mean of the "
        f"models; {ranking.n_problems} problems, each model on those that it was asked."
    )
    yield from (str(note) for note in ranking.notes if note.code != "unscored-trials")


def half_open(low: float | None, high: float | None, rounding: Rounding) -> str | None:
    """Return an interval that may be open on one side."""
    if low is not None and high is None:
        return f"above {low:.2g}"
    if high is not None and low is None:
        return f"below {high:.2g}"
    return rounding.interval(low, high)


def share(value: float | None) -> str | None:
    """Return a confidence with three decimals; none is 0 or 1.

    >>> share(0.2591), share(0.99999), share(0.0)
    ('0.259', '>0.999', '<0.001')
    """
    if value is None:
        return None
    if value < 0.0005:
        return "<0.001"
    return ">0.999" if value >= 0.9995 else f"{value:.3f}"


def span(low: int, high: int) -> str:
    """Return a span of ranks."""
    return str(low) if low == high else f"{low}-{high}"
