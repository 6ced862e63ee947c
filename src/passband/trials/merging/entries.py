"""Enter what merged trials refer to: sessions, source files, runs, problems and scorers.

New entries keep their number where it is free, so that rows need not be changed. Two records of
one run become one; records that contradict each other are refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from passband.errors import InvalidInput
from passband.trials.encoding import canonical_json
from passband.trials.file.problem_table import StoredProblem
from passband.trials.reader import Trials
from passband.trials.records import ORDER, RunRecord, ScorerRecord, SessionRecord
from passband.trials.rows import ScorerEntry
from passband.trials.settings import (
    MOVED_SERVER,
    SettingsChanged,
    address_change,
    completed_spec,
    identity_changes,
    is_moved,
)
from passband.trials.shards import Shards, join_shards, with_shards
from passband.trials.store import Store


@dataclass(frozen=True)
class MergeReport:
    """The rows that were added to the destination, and those that were there already."""

    destination: str
    sources: int
    runs: int = 0
    problems: int = 0
    trials: int = 0
    scores: int = 0
    trials_there: int = 0
    calls: int = 0  # to judges
    replaced: int = 0  #: failed trials that another directory has an answer to
    missing: tuple[str, ...] = ()  #: for each run that lacks shards, which ones
    warnings: tuple[str, ...] = ()

    def plus(self, **more: int) -> MergeReport:
        """Return the report with more rows counted."""
        return replace(self, **{name: getattr(self, name) + n for name, n in more.items()})


def record_of(row: tuple[Any, ...]) -> RunRecord:
    """Return the run that a row holds, without its scorers."""
    number, name, task, model, spec, config, created, address, source = row
    return RunRecord(
        number, name, task, model, json.loads(spec), json.loads(config), created, address, source,
        scorers=(),
    )  # fmt: skip


def alone(run: RunRecord) -> RunRecord:
    """Return the record of a run that is merged with no other yet."""
    return replace(run, config=with_shards(run.config, Shards.in_config(run.config)))


def united(
    earlier: RunRecord, run: RunRecord, where: object, *, moved_server: bool = False
) -> RunRecord:
    """Return the record of both; other settings, names, servers or plans of shards are refused.

    `where` is the directory of the later one. How a run was measured is what the earlier says; how
    many trials it is to have, the one that says more.
    """
    known = earlier.addresses
    others = [one for one in run.addresses if is_moved(known, one)]
    spec = dict(earlier.spec)
    changed = identity_changes(run.spec, spec) and identity_changes(spec, run.spec)
    if others and not moved_server:
        changed.insert(0, address_change(known, others[0]))
    if run.name != earlier.name and not run.is_imported:
        changed.insert(0, ("name", json.dumps(earlier.name), json.dumps(run.name)))
    if changed:
        lines = [f"  {name}: {old} in one, {new} in the other" for name, old, new in changed]
        if others and not moved_server:
            lines.append(f"If it is the same model, which has moved, add {MOVED_SERVER}.")
        raise SettingsChanged(
            f"{where} cannot be merged: its trials of {run.task} were drawn with other settings:\n"
            + "\n".join(lines)
        )
    return replace(
        earlier,
        spec=completed_spec(spec, run.spec, [*known, *others], run.created),
        config=_config(earlier, run, where),
        created=min(earlier.created, run.created),
        address=earlier.address if earlier.address is not None else run.address,
    )


def united_shards(earlier: Shards | None, run: RunRecord, where: object) -> Shards | None:
    """Return the shards of both; those of another plan are refused."""
    try:
        return join_shards(earlier, Shards.in_config(run.config))
    except InvalidInput as error:
        raise SettingsChanged(
            f"{where} cannot be merged: its trials of {run.task} are not a shard of the same run: "
            f"{error}."
        ) from None


def _config(earlier: RunRecord, run: RunRecord, where: object) -> dict[str, Any]:
    config = dict(earlier.config)
    if run.is_imported:
        config = earlier.imported.merged(run.imported).config()
    shards = united_shards(Shards.in_config(earlier.config), run, where)
    if not run.is_shuffled or run.config.get("limit") != config.get("limit"):
        config.pop(ORDER, None)
    sizes = [_size(record.config) for record in (earlier, run)]
    if None in sizes or sizes[0] == sizes[1]:
        return with_shards(config, shards)
    limit, n = map(max, *sizes)  # type: ignore[arg-type]
    config = {**config, "n": n, "limit": limit}
    if limit == math.inf:
        del config["limit"]
    if sizes[0][0] != limit and "problems" in run.config:  # type: ignore[index]
        config["problems"] = run.config["problems"]
    for record, size in zip((earlier, run), sizes, strict=True):
        if size == (limit, n):  # a shard that was asked for fewer trials is still missing
            shards = Shards.in_config(record.config)
    return with_shards(config, shards)


def _size(config: Mapping[str, Any]) -> tuple[float, int] | None:
    """Return how many problems and trials of each a run was asked for, where that is fixed."""
    n = config.get("n")
    return (config.get("limit", math.inf), n) if type(n) is int else None


Origins = Mapping[int | None, int | None]


@dataclass
class Entered:
    """A run of a source as the destination has it; numbers are those there, and here."""

    run: RunRecord  # there
    number: int  # here
    is_new: bool
    added: int = 0  # problems
    problems: Mapping[int, int] = field(default_factory=dict)
    keys: Mapping[int, str] = field(default_factory=dict)  # by number here
    scorers: dict[int, int] = field(default_factory=dict)

    def complete(self, trials: Trials) -> None:
        """Read the problems if that was not needed so far, since all are as they are there."""
        if not self.problems:
            self.keys = {n: key for key, n in trials.numbers(self.run.number).items()}
            self.problems = {number: number for number in self.keys}

    @property
    def keeps_numbers(self) -> bool:
        """Whether the run, its problems and its scorers have the same numbers in both."""
        return (
            self.run.number == self.number
            and all(there == here for there, here in self.problems.items())
            and all(there == here for there, here in self.scorers.items())
        )


def merge_sessions(store: Store, trials: Trials) -> None:
    """Add sessions that are new; one that was going on then may have come to an end."""
    known = {SessionRecord(*row[1:]): row[0] for row in store.rows("session")}
    begun = {session.unended() for session in known}
    for session in trials.sessions():
        if session in known or (session.ended is None and session in begun):
            continue
        number = known.get(session.unended())
        if number is None:
            store.add("session", session)
        else:
            store.put("session", [(number, *session)])


def merge_origins(store: Store, trials: Trials) -> Origins:
    """Return the number in the destination of each file that rows were imported from."""
    numbers: dict[int | None, int | None] = {None: None}
    known = {row[1:]: row[0] for row in store.rows("source")}
    for source in trials.sources():
        values = (source.reader, source.file, source.sha256, source.added)
        if values not in known:
            known[values] = store.add("source", values)
        numbers[source.number] = known[values]
    return numbers


def enter_run(
    store: Store,
    trials: Trials,
    run: RunRecord,
    origins: Origins,
    *,
    moved_server: bool,
    has_problems: Callable[[int], bool],
) -> Entered:
    """Enter a run with its problems and scorers; other settings are refused.

    `has_problems` returns whether the destination has all problems of a run, under that number.
    """
    rows = store.rows("run")
    earlier = next((row for row in rows if row[2:4] == (run.task, run.model)), None)
    if earlier is None:
        taken = {row[0] for row in rows}
        number = run.number if run.number not in taken else 1 + max(taken)
        record, source = alone(run), origins[run.source]
    else:
        number, source = earlier[0], earlier[8]
        record = united(record_of(earlier), run, trials.directory, moved_server=moved_server)
    store.put("run", [_values(number, record, source)])
    entered = Entered(run, number, is_new=earlier is None)
    if entered.is_new or number != run.number or not has_problems(number):
        _enter_problems(store, trials, entered)
    _enter_scorers(store, trials, entered)
    return entered


def _values(number: int, run: RunRecord, source: int | None) -> tuple[object, ...]:
    spec, config = canonical_json(run.spec), canonical_json(run.config)
    return (number, run.name, run.task, run.model, spec, config, run.created, run.address, source)


def _enter_problems(store: Store, trials: Trials, entered: Entered) -> None:
    """Enter problems that are new; a position that differs is the later one."""
    known = store.problems(entered.number)
    taken = {problem.number for problem in known.values()}
    following = 1 + max(taken, default=-1)
    changed, numbers, keys = [], {}, {}
    for problem in trials.stored_problems(entered.run.number):
        earlier = known.get(problem.key)
        if earlier is None:
            number = problem.number if problem.number not in taken else following
            taken.add(number)
            following = max(following, 1 + number)
            stored = _placed(problem, number, problem.position)
            entered.added += 1
        else:
            position = max(earlier.position, problem.position)
            stored = _placed(earlier, earlier.number, position)
        numbers[problem.number], keys[stored.number] = stored.number, problem.key
        if stored != earlier:
            changed.append(stored)
    entered.problems, entered.keys = numbers, keys
    if changed:
        store.put_problems(entered.number, changed)


def _placed(problem: StoredProblem, number: int, position: int) -> StoredProblem:
    return StoredProblem(number, position, problem.key, problem.cluster, problem.record)


def _enter_scorers(store: Store, trials: Trials, entered: Entered) -> None:
    """Enter every scorer, and use those whose names are not used for another one yet."""
    mine = [
        (position, record)
        for run, position, record in trials.all_scorers()
        if run == entered.run.number
    ]
    for _, record in mine:
        number = store.put_scorer(entered.number, _entry(record), record.number)
        entered.scorers[record.number] = number
    rows = [row for row in store.rows("scorer") if row[1] == entered.number]
    used = sorted((row for row in rows if row[5] is not None), key=lambda row: row[5])
    entries = {row[2]: ScorerEntry(*row[2:4]) for row in used}
    for position, record in mine:
        if position is not None:
            entries.setdefault(record.name, _entry(record))
    store.set_scorers(entered.number, list(entries.values()))


def _entry(record: ScorerRecord) -> ScorerEntry:
    return ScorerEntry(record.name, record.identity, record.spec)
