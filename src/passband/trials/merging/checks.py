"""Check all source directories before merging anything.

Each directory is compared with those before it. Which trials are claimed is kept as bits by
problem; only where two directories have the same trial are rows looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from operator import and_
from pathlib import Path
from typing import NamedTuple

from passband.trials.file.problem_table import StoredProblem
from passband.trials.file.schema import STORE_FILE, corrupt_store
from passband.trials.merging.entries import alone, united, united_shards
from passband.trials.merging.overlap import Overlap, same_run, scorer_names
from passband.trials.reader import Trials
from passband.trials.records import RunRecord
from passband.trials.settings import SettingsChanged, record_change
from passband.trials.shards import Shards


class _Known(NamedTuple):
    """A problem of an earlier directory; of its record only the hash is kept."""

    digest: int
    cluster: str | None
    directory: Path


@dataclass
class _Claim:
    """What the directories so far hold of one run."""

    record: RunRecord
    shards: Shards | None
    directories: dict[Path, list[int]] = field(default_factory=dict)  # trials, as below
    problems: dict[str, _Known] = field(default_factory=dict)
    keys: dict[int, dict[int, str]] = field(default_factory=dict)  # by digest and number
    places: dict[str, int] = field(default_factory=dict)  # of problems in lists, by key
    trials: list[int] = field(default_factory=list)  # of all directories, as bits, by problem
    calls: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)  # by scorer


class MergeChecks:
    """The runs of directories that are to be one."""

    def __init__(self, *, moved_server: bool = False) -> None:
        self._moved_server = moved_server
        self._claims: dict[tuple[str, str], _Claim] = {}

    def add(self, trials: Trials) -> None:
        """Add what a directory holds; `SettingsChanged` if it contradicts an earlier one."""
        for run in trials.runs():
            claim = self._claims.get((run.task, run.model))
            if claim is None:
                claim = _Claim(alone(run), Shards.in_config(run.config))
                self._claims[run.task, run.model] = claim
            else:
                self._unite(claim, run, trials)
            keys = _add_problems(claim, run, trials)
            _add_calls(claim, run, trials, keys)
            _add_trials(claim, run, trials, keys)

    def _unite(self, claim: _Claim, run: RunRecord, trials: Trials) -> None:
        where, moved = trials.directory, self._moved_server
        claim.record = united(claim.record, run, where, moved_server=moved)
        # Compared also with shards that are complete by now, which the record does not list.
        claim.shards = united_shards(claim.shards, run, where)


def _add_problems(claim: _Claim, run: RunRecord, trials: Trials) -> dict[int, str]:
    """Compare the problems of a run with those known, and return their keys by number."""
    digest = trials.problem_digest(run.number)
    if digest in claim.keys:  # all as in an earlier directory
        return claim.keys[digest]
    keys = claim.keys[digest] = {}
    for problem in trials.stored_problems(run.number):
        keys[problem.number] = problem.key
        new = _Known(hash(problem.record), problem.cluster, trials.directory)
        known = claim.problems.setdefault(problem.key, new)
        if known[:2] != new[:2]:
            _refuse_problem(known, problem, run, trials.directory)
    return keys


def _refuse_problem(known: _Known, problem: StoredProblem, run: RunRecord, where: Path) -> None:
    """Refuse a problem that is another; 1 for 1.0 in its record is no change."""
    with Trials(known.directory, trusted=True) as other:
        number = same_run(other, run).number
        record = next(p.record for p in other.stored_problems(number) if p.key == problem.key)
    change = record_change(record, problem.record)
    if change is None and known.cluster != problem.cluster:
        change = "cluster", repr(known.cluster), repr(problem.cluster)
    if change is not None:
        name, old, new = change
        raise SettingsChanged(
            f"{where} cannot be merged: problem {problem.key!r} of {run.task} differs in its "
            f"{name}: {old} in one, {new} in the other."
        )


def _add_trials(claim: _Claim, run: RunRecord, trials: Trials, keys: Mapping[int, str]) -> None:
    """Compare the trials that an earlier directory has too, and add all of them."""
    masks = [0] * len(claim.trials)
    for number, mask in trials.recorded(run.number).items():
        if number not in keys:
            raise corrupt_store(trials.directory / STORE_FILE, "trials have lost their problem")
        place = claim.places.setdefault(keys[number], len(masks))
        masks += [0] * (place + 1 - len(masks))
        masks[place] = mask
    if _share(masks, claim.trials):
        for directory, others in claim.directories.items():
            if _share(masks, others):
                with Trials(directory, trusted=True) as earlier:
                    Overlap(earlier, trials, run).refuse_trials()
    claim.trials = [one | other for one, other in zip_longest(claim.trials, masks, fillvalue=0)]
    claim.directories[trials.directory] = masks


def _share(masks: Sequence[int], others: Sequence[int]) -> bool:
    return any(map(and_, masks, others))


def _add_calls(claim: _Claim, run: RunRecord, trials: Trials, keys: Mapping[int, str]) -> None:
    is_shared = False
    for number, name in scorer_names(trials, run.number).items():
        masks = {keys[problem]: mask for problem, mask in trials.called(number).items()}
        claimed = claim.calls.setdefault(name, {})
        is_shared |= any(mask & claimed.get(key, 0) for key, mask in masks.items())
        _claim(claimed, masks)
    if is_shared:
        for directory in claim.directories:
            with Trials(directory, trusted=True) as earlier:
                Overlap(earlier, trials, run).refuse_calls()


def _claim(claimed: dict[str, int], masks: Mapping[str, int]) -> None:
    for key, mask in masks.items():
        claimed[key] = claimed.get(key, 0) | mask
