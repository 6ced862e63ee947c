"""Score recorded trials: after a crash, or with other scorers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput, UnknownName
from passband.run.judge.rescoring import Judging
from passband.run.loop.grader import Grader, scorer_entry, slow_threads, truncated_of
from passband.run.rescore.async_scorers import grade_in_loop, graded_in_threads, loop_for
from passband.run.rescore.cluster import RemoteScoring
from passband.run.rescore.recheck import recheck
from passband.run.sandboxes import open_sandbox, trials_without_verdict, used_sandboxes
from passband.run.task_run import TaskRun
from passband.score import JudgeScorer, Reference, Scorer, Truncated, make_scorer, rebuilt_scorer
from passband.tasks import Task, find_tasks, is_data_file, load_task, recorded_data_task
from passband.trials import (
    MAIN,
    RunRecord,
    ScorerEntry,
    ScoreRow,
    ScorerRecord,
    Store,
    TrialRow,
    Trials,
)

_CHUNK = 500  # trials between two commits
_FEW = 50  # of scorers that take their time


@dataclass(frozen=True)
class RunScorers:
    """The scorers that a run's completions are to be scored by."""

    run: RunRecord
    own: Sequence[Scorer]  # those of its task
    added: Sequence[Scorer]
    truncated: Truncated = "leave"

    def scorers(self, *, every: bool) -> dict[str, Scorer]:
        """Return the scorers to score by, by name.

        With `every`, those that were added earlier are among them, rebuilt as they were recorded.
        """
        chosen = {scorer.name: scorer for scorer in (*self.own, *self.added)}
        if every:
            for record in self.run.scorers:
                if record.name in chosen or (record.spec or {}).get("function") == "judge":
                    continue  # a judge is asked only where it is named
                if (scorer := rebuilt_scorer(record)) is not None:
                    chosen[record.name] = scorer
        return chosen

    def order(self, *, main: bool) -> list[str]:
        """Return the names of the run's scorers in their new order.

        Scorers that are added come last, or with `main` first, and the others keep their order;
        where none is added, the task's own order is restored.
        """
        added = [scorer.name for scorer in self.added]
        own = [scorer.name for scorer in self.own]
        recorded = [record.name for record in self.run.scorers]
        first, last = (added, []) if main else ([], added)
        others = [*recorded, *own] if added else [*own, *recorded]
        return list(dict.fromkeys([*first, *others, *last]))

    def current_truncated(self) -> Truncated:
        """Return how truncated completions are scored: as now, where only a scorer is added."""
        if self.added and self.run.scorers:
            return truncated_of(self.run.scorers[0].identity)
        own: Truncated | None = self.run.config.get("truncated")
        return own or self.truncated


@dataclass(frozen=True)
class Rescored:
    """The result of re-scoring: the number of scores added, and the tasks scored."""

    added: int
    tasks: tuple[str, ...]


def chosen_scorers(
    runs: Sequence[RunRecord],
    names: Sequence[str],
    rules: Sequence[str] | None,
    tasks: Sequence[str],
    *,
    trust: bool = False,
    is_judged: bool = False,
) -> list[RunScorers]:
    """Return which scorers each run gets: its task's, and further ones by name.

    With `is_judged` one more is to come, so that a run may have none of its own.
    """
    loaded = [load_task(entry, trust=trust) for name in tasks for entry in find_tasks(name)]
    known = {task.name: task for task in loaded}
    unknown = sorted(set(known) - {run.task for run in runs})
    if unknown:
        raise InvalidInput(
            f"there are no trials of {unknown[0]!r} here, only of "
            f"{', '.join(run.task for run in runs) or 'nothing'}."
        )
    chosen = [run for run in runs if run.task in known] if known else list(runs)
    steps: list[dict[str, Any]] = [{"function": "extract", "rules": list(rules)}] if rules else []
    plans = []
    for run in chosen:
        added = [make_scorer(name, name, {}, steps) for name in names]
        if run.task not in known and (run.is_imported or _is_of_inspect(run)):
            plans.append(RunScorers(run, (), added) if is_judged else _of_imported(run, added))
            continue
        if run.adaptive is not None and run.task not in known:
            plans.append(RunScorers(run, _recorded_scorers(run), added))
            continue
        try:
            task = known.get(run.task) or _recorded_task(run, trust)
        except UnknownName:
            if not is_judged:  # a judge needs the recorded problems alone
                raise
            plans.append(RunScorers(run, (), added))
            continue
        plans.append(RunScorers(run, task.scorers, added, task.truncated))
    return plans


def rescore_run(
    directory: Path,
    *,
    scorers: Sequence[str] = (),
    rules: Sequence[str] | None = None,
    task_names: Sequence[str] = (),
    main: bool = False,
    truncated: Truncated | None = None,
    trust: bool = False,
    unsafe: bool = False,
    judging: Judging | None = None,
    remote: RemoteScoring | None = None,
) -> Rescored:
    """Score the recorded completions of every task of a run directory, or of some tasks.

    Judges are asked only where `judging` says how; without it their verdicts stay as they are.
    With `remote`, scores are made on the nodes of a cluster, and are the same.
    """
    if (rules or (main and judging is None)) and not scorers:
        raise InvalidInput("--extract and --main are for a new scorer; name it with --scorer.")
    with Trials(directory) as trials:
        runs = trials.runs()
    if not runs:
        raise InvalidInput(f"{directory} holds no trials yet.")
    names = list(dict.fromkeys(scorers))
    is_judged = judging is not None
    plans = chosen_scorers(runs, names, rules, task_names, trust=trust, is_judged=is_judged)
    plans = [_with_judges(plan, judging) for plan in plans]
    every = truncated is not None
    scoring = [s for plan in plans for s in plan.scorers(every=every).values()]
    with ExitStack() as stack:
        if remote is None:
            open_sandbox(scoring, unsafe=unsafe)
        else:
            stack.enter_context(remote.connected(scoring))
        store = stack.enter_context(closing(Store(directory)))
        added = 0
        for plan in plans:
            added += score_again(
                store, plan, main=main, truncated=truncated, judging=judging, remote=remote
            )
            if judging is not None and judging.is_stopping:
                break
    return Rescored(added, tuple(dict.fromkeys(plan.run.task for plan in plans)))


def _with_judges(plan: RunScorers, judging: Judging | None) -> RunScorers:
    """Return a plan with the judges that are wanted; with none of them where nothing is asked."""
    if judging is None:
        own = [scorer for scorer in plan.own if not isinstance(scorer, JudgeScorer)]
        return replace(plan, own=own)
    has_own = any(isinstance(scorer, JudgeScorer) for scorer in plan.own)
    own = judging.choice.scorers(plan.own, adds=False) if has_own else list(plan.own)
    added = list(plan.added) if has_own else judging.choice.scorers(plan.added)
    return replace(plan, own=own, added=added)


def score_again(
    store: Store,
    plan: RunScorers,
    *,
    main: bool = False,
    truncated: Truncated | None = None,
    judging: Judging | None = None,
    remote: RemoteScoring | None = None,
) -> int:
    """Score recorded trials by a run's scorers and return how many scores are new."""
    cut_off = truncated or plan.current_truncated()
    scorers = plan.scorers(every=truncated is not None)
    with Trials(store.directory, trusted=True) as trials:
        problems = list(trials.problems(plan.run.number))
    if judging is not None:
        scorers = judging.known(plan.run, scorers, problems)
    kept = {record.name: _entry(record) for record in plan.run.scorers}
    renewed = {name: scorer_entry(scorer, cut_off) for name, scorer in scorers.items()}
    order = plan.order(main=main)
    numbers = store.set_scorers(plan.run.number, [(kept | renewed)[name] for name in order])
    elsewhere = None if remote is None else remote.sandboxes_of(scorers.values())
    sandboxes = used_sandboxes(scorers.values(), plan.run.config, elsewhere)
    config = {**plan.run.config, **sandboxes, **({MAIN: order[0]} if main else {})}
    if not (plan.added or plan.run.is_imported):  # the task's own order is restored
        config.pop(MAIN, None)
    if config != plan.run.config:
        store.set_config(plan.run.number, config)
    references = [_reference(problem.record) for problem in problems]
    graded = [(n, scorers[name]) for n, name in zip(numbers, order, strict=True) if name in scorers]
    grader = Grader(graded, references, cut_off)
    own = [problem.number for problem in problems]
    try:
        if judging is not None:
            score = partial(score_recorded, remote=remote)
            added = judging.score(store, plan.run, grader, problems, score)
        else:
            added = score_recorded(store, plan.run.number, grader, own, remote=remote)
        recheck(store, plan.run.number, grader, own, remote)
        return added
    finally:
        grader.close()


async def catch_up(store: Store, task_run: TaskRun, is_stopping: Callable[[], bool]) -> None:
    """Score what an earlier process recorded and this run's scorers have not seen."""

    def note(problem: int, score: ScoreRow) -> None:
        task_run.counters.scored(problem, score)

    if not task_run.is_scored and any(task_run.recorded.values()):
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(
            None,
            score_recorded,
            store,
            task_run.number,
            task_run.grader,
            task_run.numbers,
            is_stopping,
            note,
            loop,
        )


def score_recorded(
    store: Store,
    number: int,
    grader: Grader,
    problems: Sequence[int],
    is_stopping: Callable[[], bool] = lambda: False,
    note: Callable[[int, ScoreRow], None] = lambda problem, score: None,
    running: asyncio.AbstractEventLoop | None = None,
    tick: Callable[[], None] = lambda: None,
    remote: RemoteScoring | None = None,
) -> int:
    """Score recorded trials of a run that lack a score, and return how many scores were added.

    `problems` are their numbers in the store, in the order of the grader's references. Async
    scorers are awaited in the event loop that is `running` in another thread, if any; `tick` is
    called after each of their scores. With `remote`, others are scored on a cluster.
    """
    added = 0
    places = {problem: place for place, problem in enumerate(problems)}
    with (
        Trials(store.directory, trusted=True) as trials,
        ThreadPoolExecutor(slow_threads()) as threads,
        loop_for(running) as loop,
    ):
        run = trials.run_numbered(number)
        for scorer_number, scorer in grader.scorers:
            one = Grader([(scorer_number, scorer)], grader.references, grader.truncated)
            unseen = trials.trials(run, unscored_by=scorer_number)
            rows = (
                replace(row, problem=places[row.problem])
                for row in chain(unseen, trials_without_verdict(trials, run, scorer_number, scorer))
                if row.status in one.scored_statuses and row.problem in places
            )

            def grade(row: TrialRow, one: Grader = one) -> list[ScoreRow]:
                return [] if is_stopping() else one.grade(row)

            if remote is not None and remote.takes(scorer):
                for sent, made in remote.graded(one, rows):
                    added += _commit(store, problems, sent, made, note)
                continue
            if scorer.slow and not scorer.is_async:
                pairs = graded_in_threads(threads, grade, rows, is_stopping)
                while few := list(islice(pairs, _FEW)):
                    made = [scores for _, scores in few]
                    added += _commit(store, problems, [row for row, _ in few], made, note)
                continue
            while (chunk := list(islice(rows, _CHUNK))) and not is_stopping():
                if scorer.is_async:
                    scores = grade_in_loop(loop, one, chunk, is_stopping, tick)
                else:
                    scores = list(map(grade, chunk))
                added += _commit(store, problems, chunk, scores, note)
    return added


def _commit(
    store: Store,
    problems: Sequence[int],
    rows: Sequence[TrialRow],
    scores: Sequence[list[ScoreRow]],
    note: Callable[[int, ScoreRow], None],
) -> int:
    new = [(row, score) for row, made in zip(rows, scores, strict=True) for score in made]
    store.add_scores((problems[row.problem], row.trial, score) for row, score in new)
    for row, score in new:
        note(row.problem, score)
    return len(new)


def _is_of_inspect(run: RunRecord) -> bool:
    """Return whether a run is of a task of Inspect, whose own scores came with the answers."""
    return "inspect" in run.config.get("task", {})


def _recorded_scorers(run: RunRecord) -> list[Scorer]:
    """Return the scorers of an adaptive test, whose bank need not be there."""
    return [scorer for record in run.scorers if (scorer := rebuilt_scorer(record)) is not None]


def _recorded_task(run: RunRecord, trust: bool) -> Task:
    """Return the task that a run was made from, from its file or, failing that, by its name."""
    path = run.config.get("path")
    if path and is_data_file(path):
        return recorded_data_task(path, run.config["task"])
    if path and Path(path).is_file():
        return load_task(path, trust=trust)
    found = find_tasks(run.task)
    return load_task(found[0], trust=trust)


def _of_imported(run: RunRecord, added: Sequence[Scorer]) -> RunScorers:
    """Return the rescoring of a run whose task, however it is named, is not one of passband's."""
    if not added:
        how = "was imported" if run.is_imported else "was recorded"
        raise InvalidInput(
            f"{run.task} {how} with its scores, and the scorers that gave them are not "
            f"known here; name one with --scorer, or a task with --task."
        )
    return RunScorers(run, (), added)


def _entry(record: ScorerRecord) -> ScorerEntry:
    return ScorerEntry(record.name, record.identity, record.spec)


def _reference(record: Any) -> Reference:
    return Reference(
        tuple(record.get("targets", ())), tuple(record.get("choices", ())), record.get("doc", {})
    )
