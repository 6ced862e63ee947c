"""Data that are the same are not read again; data that grow, shrink or turn are matched by key."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.generate.problem import Problem
from passband.generate.provider import Completion, Sampling
from passband.generate.registry import Connection
from passband.generate.subject import Subject
from passband.run.session import run_session
from passband.run.settings import Settings
from passband.tasks.data.problem_set import ProblemSet
from passband.tasks.file.loader import load_task
from passband.trials.exports.export import lines
from passband.trials.reader import Trials
from passband.trials.settings import SettingsChanged
from support.runs.runs import Notes
from support.samples.stores import writing

Rows = list[dict[str, Any]]


class Sums(Subject):
    """A model whose answers depend on their seeds alone."""

    name, batch, one_seed = "sums", 4, True

    async def answer(
        self, problem: Problem, sampling: Sampling, seeds: Any, trials: Sequence[int]
    ) -> list[Completion]:
        await asyncio.sleep(0)
        target = problem.reference.targets[0]
        return [Completion(f"{target} or {trial % 2}", seed=seeds[0]) for trial in trials]

    async def close(self) -> None:
        """Do nothing."""


def data(*places: int) -> Rows:
    return [{"id": f"p{at}", "a": at, "b": 7, "sum": at + 7} for at in places]


def play(task_file: Path, rows: Rows | None, out: Path, **settings: Any) -> int:
    """Run over these rows, and return how many trials were asked for."""
    if rows is not None:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (task_file.parent / "rows.jsonl").write_text(text)
    finished = run_session(
        [load_task(task_file)],
        Sums(),
        out,
        settings=Settings(**{"n": 4, "name": "run", **settings}),
        connection=Connection(),
        watcher=Notes(),
        low_water=0,
    )
    return finished.task_runs[0].counters.fresh


def exported(directory: Path) -> list[bytes]:
    with Trials(directory) as trials:
        return b"".join(lines(trials, trials.runs())).splitlines()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The limits of all times that problems are made."""
    times: list[int | None] = []
    load: Callable[..., Any] = ProblemSet.load

    def noting(self: ProblemSet, limit: int | None = None) -> Any:
        times.append(limit)
        return load(self, limit)

    monkeypatch.setattr(ProblemSet, "load", noting)
    return times


def test_nothing_missing_and_nothing_changed_reads_no_problem(
    task_file: Path, tmp_path: Path, reads: list[int | None]
) -> None:
    assert play(task_file, data(0, 1, 2), tmp_path / "run") == 12
    before = exported(tmp_path / "run")
    assert play(task_file, None, tmp_path / "run") == 0
    assert reads == [None]
    assert exported(tmp_path / "run") == before


@pytest.mark.parametrize("change", ["data", "task", "limit", "store"])
def test_whatever_problems_depend_on_has_them_read(
    task_file: Path, tmp_path: Path, reads: list[int | None], change: str
) -> None:
    rows, limit = data(0, 1, 2), None
    play(task_file, rows, tmp_path / "run")
    if change == "data":
        rows = [*rows[:2], {**rows[2], "b": 8}]
    elif change == "task":
        task_file.write_text(task_file.read_text().replace("What is", "How much is"))
    elif change == "limit":
        limit = 2
    else:
        with writing(tmp_path / "run") as store:
            (key, *_) = store.problems(1)
            store.put_problems(1, [replace(store.problems(1)[key], cluster="c")])
    if change in ("data", "task"):
        with pytest.raises(SettingsChanged, match="has changed its"):
            play(task_file, rows, tmp_path / "run")
    else:
        assert play(task_file, rows, tmp_path / "run", limit=limit) == 0
    assert reads == [None, limit]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((0, 1, 2), (2, 0, 1)),
        ((0, 1, 2), (5, 4, 0, 1, 2)),
        ((0, 1, 2), (0, 1, 2, 3)),
        ((0, 1, 2), (2, 9, 1, 0, 8)),
        ((0, 1, 2), (0, 2)),
        ((0, 1, 2), (2, 1, 3)),
    ],
)
def test_changed_data_give_what_a_run_over_them_gives(
    task_file: Path, tmp_path: Path, before: tuple[int, ...], after: tuple[int, ...]
) -> None:
    play(task_file, data(*before), tmp_path / "run")
    asked = play(task_file, data(*after), tmp_path / "run")
    assert asked == 4 * len({*after} - {*before})
    play(task_file, data(*after), tmp_path / "fresh")
    kept = {f"p{at}" for at in after}
    rows = [row for row in exported(tmp_path / "run") if json.loads(row)["problem_id"] in kept]
    assert rows == exported(tmp_path / "fresh")


def test_data_may_grow_at_the_front_of_a_limit(task_file: Path, tmp_path: Path) -> None:
    """What growth pushes beyond the limit is still in the data, although it is not asked."""
    play(task_file, data(0, 1, 2), tmp_path / "run", limit=3)
    assert play(task_file, data(5, 6, 7, 0, 1, 2), tmp_path / "run", limit=3) == 12
    with pytest.raises(SettingsChanged, match="was 'p5' and is now 'p8'"):
        play(task_file, data(8, 6, 7, 0, 1, 2), tmp_path / "run", limit=3)
    assert play(task_file, data(5, 6, 7, 0, 1, 2), tmp_path / "run") == 0
    play(task_file, None, tmp_path / "fresh")
    assert exported(tmp_path / "run") == exported(tmp_path / "fresh")


@pytest.mark.parametrize("settings", [{"n": 0}, {"n": -1}, {"limit": 0}])
def test_numbers_that_ask_for_nothing_are_refused_although_nothing_is_read(
    task_file: Path, tmp_path: Path, settings: dict[str, int]
) -> None:
    play(task_file, data(0, 1, 2), tmp_path / "run")
    with pytest.raises(InvalidInput, match="must be at least 1"):
        play(task_file, None, tmp_path / "run", **settings)
