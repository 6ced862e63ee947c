"""Render problems whose wrong answers agree, as a table, in words and as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from passband.report.rendering import Row
from passband.report.show.text import one_line
from passband.report.words import counted
from passband.summary import Agreement, SameWrong

_NUMBERS = 28  # columns of a table that are not text


def agreement_rows(agreements: Sequence[Agreement], width: int = 80) -> list[Row]:
    """Return a row per problem, none wider than a terminal."""
    names = _names(agreements)
    room = max(30, width - _NUMBERS - sum(len(name) + 12 for name in names))
    return [
        {
            **{name: one_line(getattr(agreement, name), 12) for name in names},
            "problem": one_line(found.problem, max(8, room // 4)),
            "expected": one_line(" or ".join(found.targets), max(8, room // 4)),
            "wrong answer": one_line(found.answer, max(12, room // 4)),
            "times": f"{found.times} of {found.scored}",
            "right": found.right,
            "chance": _chance(found.chance),
        }
        for agreement in agreements
        for found in agreement.found
    ]


def _names(agreements: Sequence[Agreement]) -> list[str]:
    """Return which of task and model set the runs apart."""
    return [n for n in ("task", "model") if len({getattr(one, n) for one in agreements}) > 1]


def _chance(chance: float) -> str:
    """Return a small number in few letters.

    >>> [_chance(chance) for chance in (0.25, 0.0123, 3.1e-12, 0.0)]
    ['0.25', '0.012', '3e-12', '0']
    """
    return (
        f"{chance:.2g}" if chance >= 0.001 or not chance else f"{chance:.0e}".replace("e-0", "e-")
    )


def agreement_lines(agreements: Sequence[Agreement], source: str) -> Iterator[str]:
    """Yield how the problems are ranked, and the next step."""
    for one in agreements:
        name = f"{one.task} by {one.model}: " if len(agreements) > 1 else ""
        if one.rate is None:
            yield f"{name}no problem has two wrong answers that could agree"
            continue
        yield (
            f"{name}two wrong trials of a problem agree in {100 * one.rate:.0f} % of pairs "
            f"(mean over {counted(one.problems, 'problem')})"
        )
        yield from (f"{name}{note}" for note in one.notes)
    first = next((found for one in agreements for found in one.found), None)
    if first is not None:
        yield (
            "chance: that so many of a problem's wrong trials give one answer, if they agreed as "
            "those of the other problems do; the smallest first"
        )
        words = ["passband", "show", source, "--problem", first.problem, "--wrong"]
        yield f"look at one: {shlex.join(words)}"


def agreement_json(agreements: Sequence[Agreement]) -> Iterator[str]:
    """Yield a line of JSON per problem."""
    for one in agreements:
        for found in one.found:
            yield json.dumps(_record(one, found))


def _record(agreement: Agreement, found: SameWrong) -> dict[str, object]:
    record = asdict(found)
    record["problem_id"] = record.pop("problem")
    apart = {"task": agreement.task, "model": agreement.model, "scorer": agreement.scorer}
    return {**apart, **record, "targets": list(found.targets)}
