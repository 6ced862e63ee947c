"""An adaptive test as a run directory records it: bank, answers and path; no bank file is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from passband.adaptive.bank import Bank, parameters_of
from passband.adaptive.design import Design
from passband.adaptive.item import BankItem
from passband.adaptive.test import AdaptiveTest, Scores, replayed
from passband.errors import InvalidInput
from passband.generate import JsonMapping
from passband.trials import ProblemRecord, RunRecord, ScorerRecord, TrialRow, Trials

_NUMBER = re.compile(r"item (\d+):")


@dataclass(frozen=True)
class RecordedTest:
    """A test after all its recorded answers."""

    test: AdaptiveTest
    n_trials: int  # with a score
    n_unscored: int
    is_path: bool  # whether the recorded items are those that the scores lead to


def read_recorded(
    trials: Trials, run: RunRecord, scorer: ScorerRecord | None = None, level: float | None = None
) -> RecordedTest:
    """Rebuild the test of a run from its rows, scored by the main scorer or another.

    Another scorer's scores would have led elsewhere; then the items are taken in the order in
    which they were asked.
    """
    if run.adaptive is None or "bank" not in run.adaptive:
        raise InvalidInput(f"{run.task} is no adaptive test of a bank that is recorded with it.")
    problems = list(trials.problems(run.number))
    bank = _bank(run.adaptive, problems)
    design = Design.of({**run.spec["design"], **({} if level is None else {"level": level})})
    rows = _rows_by_key(trials, run, problems)
    number = (scorer or run.scorer()).number
    scores = {key: _scores(several, number) for key, several in rows.items()}
    complete = {
        key: (values or None, design.trials)
        for key, values in scores.items()
        if len(rows[key]) >= design.trials
    }
    seed = run.spec.get("seed") or ""
    test = replayed(bank, design, seed, complete)
    is_path = test.answered == set(complete)
    if not is_path:
        test = _in_order(AdaptiveTest(bank, design, seed), complete, rows)
    scored = sum(map(len, scores.values()))
    total = sum(map(len, rows.values()))
    return RecordedTest(test, scored, total - scored, is_path)


def _bank(recorded: JsonMapping, problems: Sequence[ProblemRecord]) -> Bank:
    docs = [problem.record.get("doc") or {} for problem in problems]
    items = [
        BankItem(problem.key, recorded["split"], "", ("",), content=doc.get("content"))
        for problem, doc in zip(problems, docs, strict=True)
    ]
    return Bank(
        name=recorded["bank"],
        items=items,
        parameters=parameters_of(recorded["model"], [doc["irt"] for doc in docs]),
        rho=recorded["rho"],
        hash=recorded["hash"],
    )


def _rows_by_key(
    trials: Trials, run: RunRecord, problems: Sequence[ProblemRecord]
) -> dict[str, list[TrialRow]]:
    keys = {problem.number: problem.key for problem in problems}
    rows: dict[str, list[TrialRow]] = {}
    for row in trials.trials(run):
        rows.setdefault(keys[row.problem], []).append(row)
    return rows


def _scores(rows: Sequence[TrialRow], scorer: int) -> list[float]:
    return [
        score.value
        for row in rows
        for score in row.scores
        if score.scorer == scorer and score.value is not None
    ]


def _in_order(
    test: AdaptiveTest,
    answers: Mapping[str, tuple[Scores, int]],
    rows: Mapping[str, Sequence[TrialRow]],
) -> AdaptiveTest:
    """Answer the recorded items in the order of their reasons, whatever led to them."""
    reasons = {key: rows[key][0].reason or "" for key in answers}
    for key in sorted(reasons, key=lambda key: _number(reasons[key])):
        test.take(key, reasons[key].partition(": ")[2])
        test.answer(key, *answers[key])
    return test


def _number(reason: str) -> int:
    match = _NUMBER.match(reason)
    return int(match.group(1)) if match else 0
