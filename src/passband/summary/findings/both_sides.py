"""The problems on which two models differ, as each of them was asked and answered them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from passband.errors import InvalidInput
from passband.readers import opened_trials
from passband.summary.browse.browser import Look, Wanted
from passband.summary.browse.shown_trial import ShownProblem, ShownTrial
from passband.summary.findings.sample import LONGEST, SampledProblem
from passband.summary.findings.scan import RIGHT, UNSCORED, WRONG, Answer
from passband.trials import RunRecord, Trials, is_run_directory

_LARGEST_LOG = 50_000_000  # bytes of a log that is imported for its texts
_MOST_TRIALS = 64  # of a problem
_ANSWER = 80  # characters of an answer


def sampled_problems(
    source: str, model: str | None, task: str | None, keys: Sequence[str], budget: int
) -> Mapping[str, SampledProblem]:
    """Return some problems of one model with their answers, and texts up to a number of bytes.

    A source that holds no texts, such as a table of scores, gives none.
    """
    path = Path(source)
    if not keys or not (is_run_directory(path) or _is_small_file(path)):
        return {}
    with suppress(InvalidInput), opened_trials(path) as trials:
        run = _run(trials, task, model)
        return {} if run is None else _sampled(trials, run, keys, budget // len(keys))
    return {}


def _is_small_file(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= _LARGEST_LOG


def _run(trials: Trials, task: str | None, model: str | None) -> RunRecord | None:
    """Return the run of a task and a model; None where no run, or more than one, is meant."""
    runs = [
        run
        for run in trials.runs()
        if task in (None, run.task) and model in (None, run.label, run.model)
    ]
    return runs[0] if len(runs) == 1 else None


def _sampled(
    trials: Trials, run: RunRecord, keys: Sequence[str], share: int
) -> dict[str, SampledProblem]:
    known = trials.numbers(run.number)
    wanted = tuple(key for key in keys if key in known)
    if not wanted:
        return {}
    look = Look(trials, run, Wanted(problems=wanted, trials=tuple(range(_MOST_TRIALS))))
    problems: dict[str, ShownProblem] = {}
    rows: dict[str, list[ShownTrial]] = {key: [] for key in wanted}
    for shown in look.shown():
        if isinstance(shown, ShownProblem):
            problems[shown.key] = shown
        elif isinstance(shown, ShownTrial):
            rows[shown.problem.key].append(shown)
    return {
        key: SampledProblem(
            problem,
            keys.index(key),
            tuple(map(_answer, rows[key])),
            _texts(rows[key], share),
        )
        for key, problem in problems.items()
    }


def _answer(trial: ShownTrial) -> Answer:
    score = trial.score
    if score is None or score.is_right is None:
        return Answer(trial.trial, UNSCORED, None, "ok" if score is None else score.status)
    answer = None if score.answer is None else score.answer[:_ANSWER]
    return Answer(trial.trial, RIGHT if score.is_right else WRONG, answer, score.status)


def _texts(trials: Sequence[ShownTrial], share: int) -> dict[int, ShownTrial]:
    """Return trials in full, as many as fit."""
    texts: dict[int, ShownTrial] = {}
    for trial in trials:
        share -= min(len(trial.text or ""), LONGEST)
        if share < 0 and texts:
            break
        texts[trial.trial] = trial
    return texts
