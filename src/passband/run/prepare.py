"""Preparing a task: its settings, its problems, and the trials that are recorded already."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passband.errors import InvalidInput
from passband.generate import Problem, Sampling, Subject
from passband.run.loop.attempts import TURNED_AWAY
from passband.run.loop.grader import Grader, scorer_entry
from passband.run.problems import LazyProblems, ProblemReferences, enter, known_numbers
from passband.run.rescore.prices import PRICE
from passband.run.sandboxes import has_failures, used_sandboxes
from passband.run.schedule.blocks import count_missing
from passband.run.schedule.width import make_rule, start_rule
from passband.run.settings import Settings
from passband.run.shards.shard import check_shard, shard_entry
from passband.run.task_run import BROUGHT, Counters, TaskRun
from passband.score import rebuilt_scorer
from passband.tasks import Task, check_keys
from passband.trials import (
    FAILED,
    LABEL,
    MAIN,
    ORDER,
    SHARD,
    SHUFFLED,
    ProblemRow,
    Store,
    Trials,
    canonical_json,
    kept_label,
)

if TYPE_CHECKING:
    from passband.stats.sequential import WidthRule


def load_problems(task: Task, settings: Settings) -> Sequence[Problem]:
    """Return the problems that are to be asked; whatever is wrong with them shows here."""
    settings.check()
    problems = task.load(settings.limit)
    if not problems:
        raise InvalidInput(f"{task.name} has no problems.")
    check_keys(task, problems)
    return problems


def prepare(
    store: Store,
    task: Task,
    problems: Sequence[Problem],
    subject: Subject,
    settings: Settings,
    *,
    name: str | None = None,
    positions: Sequence[int] | None = None,
    elsewhere: Mapping[str, int] | None = None,
) -> TaskRun:
    """Enter a task into the store and return it as a `TaskRun`.

    `subject` is what it is asked of. `name` is what seeds derive from where no seed is
    given; `positions` are the places of the problems in the data, of which they may be some.
    `elsewhere` are the trials of each problem, by its key, that another store holds.
    """
    model, address = subject.name, subject.address
    earlier = store.config(task.name, model)
    batch = max(1, subject.batch)
    check_shard(store.directory, earlier, settings.shard, batch)
    rule = make_rule(earlier, settings, problems)
    n = rule.most if rule else settings.n if settings.n is not None else task.repeats
    sampling = resolved_sampling(task, settings)
    seed = _seed(store, task, model, settings, name)
    task = _with_main(store, task, model, earlier.get(MAIN))
    spec = {
        "model": model,
        "sampling": sampling.spec,
        "seed": seed,
        **further_spec(task, subject),
    }
    truncated = settings.truncated or task.truncated
    scorers = [scorer_entry(scorer, truncated) for scorer in task.scorers]
    config = _config(store, task, truncated, subject, rule)
    known = _known_problems(earlier, problems)
    was_shuffled = ORDER in earlier and earlier.get("limit") == settings.limit
    config = {**config, **_extent(earlier, settings, n, batch), **kept_label(name, earlier)}
    with store.transaction():
        number = store.begin(
            task.name,
            model,
            spec=spec,
            config={**config, **known},
            name=name if name is not None else settings.base,
            address=address,
            moved_server=settings.moved_server,
        )
        before = store.problem_count(number)
        problem_numbers = known_numbers(store, number, problems, earlier)
        if problem_numbers is None:  # the store does not have the same ones
            rows = _problem_rows(problems, positions)
            left_out = partial(_all_keys, task, settings)
            problem_numbers = store.add_problems(number, rows, left_out)
            enter(store, number, problems, config)
        was_shuffled = was_shuffled and store.problem_count(number) == before
        numbers = store.set_scorers(number, scorers, first=earlier.get(MAIN))
    grader = Grader(
        list(zip(numbers, task.scorers, strict=True)),
        ProblemReferences(problems),
        truncated,
    )
    brought = _brought(store, number)
    main = store.main_scorer(number)
    counters = Counters(len(problems), len(problems) * n, main)
    task_run = TaskRun(
        task, subject, number, problems, sampling, seed, n, grader, counters, settings.retry_failed,
        numbers=problem_numbers, brought=brought, rule=rule, shard=settings.shard,
        elsewhere=_by_position(problems, elsewhere or {}),
    )  # fmt: skip
    return _continued(store, task_run, earlier, was_shuffled)


def _extent(earlier: Mapping[str, Any], settings: Settings, n: int, batch: int) -> dict[str, Any]:
    """Return the entries of the config that bound what is asked, and the main scorer."""
    limit = {} if settings.limit is None else {"limit": settings.limit}
    main = {MAIN: earlier[MAIN]} if MAIN in earlier else {}
    return {"n": n, **limit, **shard_entry(settings.shard, batch), **main}


def _continued(
    store: Store, task_run: TaskRun, earlier: Mapping[str, Any], was_shuffled: bool
) -> TaskRun:
    """Return a task with the trials that earlier processes recorded, its rule begun."""
    resumed = _resumed(store.directory, task_run)
    problems, counters = task_run.problems, resumed.counters
    if counters.done < counters.planned and isinstance(problems, LazyProblems):
        problems.read()  # here, where it holds up no request
    started = start_rule(resumed, earlier)
    if started.rule != task_run.rule:
        record_subject(store, started)
    if is_shuffled(started, was_shuffled=was_shuffled):
        recorded = store.config(task_run.task.name, task_run.subject.name)
        store.set_config(task_run.number, {**recorded, ORDER: SHUFFLED})
    return started


def is_shuffled(run: TaskRun, *, was_shuffled: bool) -> bool:
    """Return whether trials are, from here on, of a random sample of the problems.

    They are where all problems have the same trials now; and where they `was_shuffled` before and
    every problem with trials is still asked, none added. An adaptive test has an order of its own.
    """
    if "adaptive" in run.task.config:
        return False
    if was_shuffled and not run.unasked:
        return True
    masks = {run.recorded.get(position, 0) for position in range(len(run.problems))}
    return len(masks) == 1


def resolved_sampling(task: Task, settings: Settings) -> Sampling:
    """Return the task's sampling settings, with those that the user overrides."""
    overrides = {
        name: value
        for name in ("temperature", "top_p", "max_tokens")
        if (value := getattr(settings, name)) is not None
    }
    return replace(task.sampling, **overrides)


def problem_record(problem: Problem) -> str:
    """Return a problem as it is stored: the prompt, and what scorers need."""
    reference = problem.reference
    return canonical_json(
        {
            "messages": [[message.role, message.content] for message in problem.messages],
            "targets": reference.targets,
            "choices": reference.choices,
            "doc": dict(reference.doc),
        }
    )


def _with_main(store: Store, task: Task, model: str, name: str | None) -> Task:
    """Return a task with the scorer that `passband score --main` chose, so that it scores on.

    A judge is asked only where it is named: it stays the main one, and scores no new trials here.
    """
    if name is None or any(scorer.name == name for scorer in task.scorers):
        return task
    with Trials(store.directory, trusted=True) as trials:
        record = trials.run(task.name, model).scorer(name)
    is_judge = (record.spec or {}).get("function") == "judge"
    rebuilt = None if is_judge else rebuilt_scorer(record)
    return task if rebuilt is None else replace(task, scorers=(*task.scorers, rebuilt))


def _known_problems(earlier: Mapping[str, Any], problems: Sequence[Problem]) -> dict[str, Any]:
    """Return what the problems of a run are known by, unless there are more or fewer now."""
    entered = earlier.get("problems")
    if entered and (isinstance(problems, LazyProblems) or entered["count"] == len(problems)):
        return {"problems": entered}
    return {}


def _by_position(problems: Sequence[Problem], masks: Mapping[str, int]) -> dict[int, int]:
    """Return sets of trials by the position of their problem; they are given by its key."""
    if not masks:
        return {}
    keyed = ((place, masks.get(problem.key, 0)) for place, problem in enumerate(problems))
    return {place: mask for place, mask in keyed if mask}


def _problem_rows(
    problems: Sequence[Problem], positions: Sequence[int] | None
) -> Iterator[ProblemRow]:
    places = range(len(problems)) if positions is None else positions
    for position, problem in zip(places, problems, strict=True):
        yield ProblemRow(position, problem.key, problem_record(problem), problem.cluster)


def _all_keys(task: Task, settings: Settings) -> set[str]:
    """Return the keys of all problems, where a limit leaves some out."""
    return set() if settings.limit is None else {problem.key for problem in task.load(None)}


def _seed(store: Store, task: Task, model: str, settings: Settings, name: str | None) -> str | None:
    """Return what seeds are derived from: --seed, or what it was then, or the run's name."""
    if not settings.send_seeds:
        return None
    if settings.seed is not None:
        return settings.seed
    if name is not None or settings.base is not None:
        return name or settings.base
    earlier = store.spec(task.name, model)
    if earlier is not None:
        seed: str | None = earlier.get("seed")  # an imported run, refused later, has none
        return seed
    return store.name(task.name, model)


def _brought(store: Store, number: int) -> dict[str, int]:
    """Return the scorers of scores that came with answers before, in their order."""
    return {
        identity.removeprefix(BROUGHT): scorer
        for scorer, run, _, identity, _, position in sorted(
            store.rows("scorer"), key=lambda row: (row[5] is None, row[5])
        )
        if run == number and position is not None and identity.startswith(BROUGHT)
    }


def further_spec(task: Task, subject: Subject) -> dict[str, Any]:
    """Return what trials depend on beyond model, sampling and seeds."""
    return {**task.spec, **subject.spec}


def record_subject(store: Store, task_run: TaskRun) -> None:
    """Record how a task was asked, where that has changed while it was."""
    recorded = store.config(task_run.task.name, task_run.subject.name)
    truncated = task_run.grader.truncated
    kept = ("problems", "n", "limit", MAIN, ORDER, SHARD, LABEL)
    config = {
        **_config(store, task_run.task, truncated, task_run.subject, task_run.rule),
        **{name: recorded[name] for name in kept if name in recorded},
    }
    if json.loads(canonical_json(config)) != recorded:
        store.set_config(task_run.number, config)


def _config(
    store: Store, task: Task, truncated: str, subject: Subject, rule: WidthRule | None
) -> Mapping[str, Any]:
    own = dict(subject.config)
    earlier = store.config(task.name, subject.name)
    before = earlier.get("subject", {})
    if "engine" in own:  # one of several that give the same; a run may have been asked by each
        engines = before.get("engines", [])
        own["engines"] = [*(name for name in engines if name != own["engine"]), own["engine"]]
    if "length_name" in before:  # the model takes no other, although no request has shown it yet
        own.setdefault("length_name", before["length_name"])
    return {
        "task": dict(task.config),
        "path": None if task.path is None else str(task.path),
        "metrics": [asdict(metric) for metric in task.metrics],
        "version": task.version,
        "num_fewshot": task.num_fewshot,
        "truncated": truncated,
        **({"subject": own} if own else {}),
        **({} if rule is None else {"until": rule.as_json()}),
        **({PRICE: earlier[PRICE]} if PRICE in earlier else {}),
        **_groups(task, earlier),
        **used_sandboxes(task.scorers, earlier),
    }


def _groups(task: Task, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the groups of tasks that the run belongs to: those before, and those of now."""
    groups = {group["name"]: group for group in before.get("groups", ())}
    groups |= {group.name: group.as_json() for group in task.groups}
    return {"groups": list(groups.values())} if groups else {}


def _resumed(directory: Path, task_run: TaskRun) -> TaskRun:
    """Return the task run with the trials and attempts that earlier processes recorded."""
    with Trials(directory, trusted=True) as trials:
        again = FAILED if task_run.retries_failed else ()
        places = {number: place for place, number in enumerate(task_run.numbers)}
        masks = trials.recorded(task_run.number, without=again)
        recorded = {places[number]: mask for number, mask in masks.items() if number in places}
        task_run = replace(task_run, recorded=recorded)
        missing = count_missing(len(task_run.problems), task_run.n, task_run.taken)
        task_run.counters.planned = missing + sum(mask.bit_count() for mask in masks.values())
        statuses = {s: n for s, n in trials.statuses(task_run.number).items() if s not in again}
        tokens, cost = trials.tokens(task_run.number), trials.cost(task_run.number)
        costs = trials.costs(task_run.number)
        unpriced = costs.prompt_tokens, costs.completion_tokens
        task_run.counters.start_from(statuses, tokens, cost, unpriced)
        task_run.counters.reasoning_tokens = trials.reasoning_tokens(task_run.number)
        task_run.counters.cached_tokens = trials.cached_tokens(task_run.number)
        if task_run.counters.main is not None:
            for number, count, total in trials.score_sums(task_run.counters.main):
                if number in places:
                    task_run.counters.start_scores(places[number], count, total)
        attempts = {
            (places[number], trial): count
            for (number, trial), count in trials.attempts(task_run.number, again).items()
            if number in places
        }
        turned_away = Counter(
            (places[row.problem], row.trial)
            for row in (trials.attempt_rows(task_run.number) if attempts else ())
            if row.outcome in TURNED_AWAY and row.problem in places
        )
        unasked = len(masks) - len(recorded)
        scored = task_run.grader.scored_statuses
        seen = [
            trials.has_scored(task_run.number, number, scored)
            and not has_failures(trials, number, scorer)
            for number, scorer in task_run.grader.scorers
        ]
        return replace(
            task_run,
            attempts=attempts,
            turned_away=turned_away,
            unasked=unasked,
            is_scored=all(seen),
        )
