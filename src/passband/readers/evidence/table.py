"""Evidence from the rows of a table beyond scores: texts, prompts, temperatures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from passband.files import matching
from passband.readers.evidence.misread import ReadAnswer, misread_answers
from passband.readers.evidence.observed import AnswerTexts, Observed, some_places, with_evidence
from passband.readers.tables.texts import TableTexts, texts_of
from passband.score import Reference
from passband.stats.data import Finding, Layout, Outcomes, TableGroup, answer_text
from passband.types import Ints

_COMPARED = 40  # answers that are looked at beside their targets
_PROMPTS = 100_000  # problems, beyond which copies are not looked for


def table_outcomes(layout: Layout, group: TableGroup) -> Outcomes:
    """Return the outcomes of a group, which know what its rows show beyond them."""
    outcomes, texts = group.outcomes, texts_of(layout)
    if not texts.columns:
        return outcomes
    rows, offsets = layout.ordered(group)
    findings: tuple[Finding, ...] = ()
    if {"completion", "target"} <= texts.columns.keys() and outcomes.is_binary:
        some = rows[:: max(1, len(rows) // _COMPARED)].tolist()
        findings = tuple(misread_answers(list(_answers(layout, texts, some)), outcomes))
    observed = Observed(
        texts=_answer_texts(texts, rows, offsets),
        is_greedy=_is_greedy(group),
        prompts=_prompts(texts, rows, offsets),
        findings=findings,
    )
    return with_evidence(outcomes, observed)


def table_targets(layout: Layout, group: TableGroup) -> dict[str, tuple[str, ...]]:
    """Return the target of each problem, as its first row has it; none without such a column."""
    column = texts_of(layout).columns.get("target")
    if column is None:
        return {}
    rows, offsets = layout.ordered(group)
    targets = [answer_text(column[row]) for row in rows[offsets[:-1]].tolist()]
    pairs = zip(group.outcomes.problems, targets, strict=True)
    return {problem: (target,) for problem, target in pairs if target is not None}


def _answer_texts(texts: TableTexts, rows: Ints, offsets: Ints) -> AnswerTexts | None:
    if "completion" not in texts.columns:
        return None
    places, few = some_places(offsets)
    cells = [texts.text("completion", row) for row in rows[places].tolist()]
    return AnswerTexts.of_rows(cells[a:b] for a, b in pairwise(few.tolist()))


def _prompts(texts: TableTexts, rows: Ints, offsets: Ints) -> Ints | None:
    """Return a number for the prompt of each problem's first trial; None where one has none."""
    if "prompt" not in texts.columns or len(offsets) - 1 > _PROMPTS:
        return None
    prompts = [texts.text("prompt", row) for row in rows[offsets[:-1]].tolist()]
    if None in prompts:
        return None
    numbers = {prompt: number for number, prompt in enumerate(dict.fromkeys(prompts))}
    return np.array([numbers[prompt] for prompt in prompts], dtype=np.int64)


def _is_greedy(group: TableGroup) -> bool:
    """Return whether a column says that all trials were asked at temperature 0."""
    stated = [group.labels[name] for name in matching(group.labels, ("temperature",))]
    try:
        return bool(stated) and float(stated[0]) == 0.0
    except ValueError:
        return False


def _answers(layout: Layout, texts: TableTexts, rows: list[int]) -> Iterator[ReadAnswer]:
    for row in rows:
        trial, text = layout.trial(row), texts.text("completion", row)
        target = texts.text("target", row)
        if trial.score is not None and text is not None and target is not None:
            read = texts.text("answer", row) or text
            yield ReadAnswer(
                trial.problem, row + 1, text, read, trial.score, Reference((target,)), "row"
            )
