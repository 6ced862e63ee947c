"""Entering tasks into a store: names and seeds, data in another order."""

from __future__ import annotations

import io
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband.generate.problem import Problem
from passband.generate.registry import Connection
from passband.generate.subject import Subject, make_subject
from passband.run.prepare import prepare
from passband.run.schedule.blocks import trial_seed
from passband.run.session import run_session
from passband.run.settings import Settings
from passband.score.scorer import Score, Scorer
from passband.tasks.task import Task
from passband.trials.exports.export import export_trials
from passband.trials.merging.merge import merge_directories
from passband.trials.reader import Trials
from passband.trials.rows import AttemptRow, TrialRow
from support.runs.runs import NAME, Notes, number_scorer, sums
from support.samples.stores import writing


def model_named(name: str, address: str | None = None) -> Subject:
    subject = make_subject(answer)
    subject.name, subject.address = name, address
    return subject


def answer(prompt: str, seed: int | None = None) -> str:
    """Answer sums, a third of them wrongly, by the seed alone."""
    first, second = prompt.removeprefix("What is ").removesuffix("?").split(" + ")
    return f"Seed {seed}: {int(first) + int(second) + (seed or 0) % 3 // 2}"


def asked(directory: Path, task: Task, **settings: Any) -> None:
    run_session(
        [task],
        answer,
        directory,
        settings=Settings(**settings),
        connection=Connection(),
        watcher=Notes(),
        low_water=0,
    )


def in_order(task: Task, order: list[int]) -> Task:
    """The same task with its problems in another order."""
    problems = task.load(None)
    chosen: list[Problem] = [problems[at] for at in order]
    return replace(task, load=lambda limit: chosen[:limit])


def exported(directory: Path) -> bytes:
    file = io.BytesIO()
    with Trials(directory) as trials:
        export_trials(trials, trials.runs(), "jsonl", file)
    return file.getvalue()


class Slow(Scorer):
    """A scorer that works beside the run."""

    name, identity, slow, spec = "slow", "slow 1", True, None

    def __init__(self) -> None:
        self._scorer: Scorer = number_scorer()

    def score(self, text: str | None, reference) -> Score:
        return self._scorer.score(text, reference)

    def close(self) -> None:
        self._scorer.close()


@pytest.mark.parametrize("scorer", [number_scorer, Slow])
def test_data_in_another_order_go_on(tmp_path: Path, scorer) -> None:
    """The store's numbers are no longer the places in the data, and everything still fits."""
    task = sums(5, scorers=[scorer()])
    grown = in_order(task, [4, 3, 0, 2, 1])
    asked(tmp_path / "run", in_order(task, [0, 1, 2]), n=2, seed="s")
    asked(tmp_path / "run", replace(grown, scorers=(scorer(),)), n=4, seed="s")
    asked(tmp_path / "once", replace(grown, scorers=(scorer(),)), n=4, seed="s")
    assert exported(tmp_path / "run") == exported(tmp_path / "once")
    with Trials(tmp_path / "run") as trials:
        keys = {problem.number: problem.key for problem in trials.problems(1)}
        assert list(keys) == [3, 4, 0, 2, 1]
        assert list(keys.values()) == ["p4", "p3", "p0", "p2", "p1"]
        for row in trials.trials(trials.run()):
            assert row.seed == trial_seed("s", NAME, keys[row.problem], row.trial)
            assert row.scores[0].value == float(row.seed % 3 < 2)


def test_attempts_of_data_in_another_order(tmp_path: Path) -> None:
    task = sums(3)
    with writing(tmp_path) as store:
        part = prepare(store, task, task.load(None), model_named("m"), Settings(n=2))
        assert part.is_in_order
        store.append(part.number, [TrialRow(0, 0, "ok", "42")])
        store.add_attempts(part.number, [AttemptRow(2, 1, 3, 1, "late", None, "slow")])
        turned = in_order(task, [2, 1, 0])
        part = prepare(store, turned, turned.load(None), model_named("m"), Settings(n=2))
        assert part.numbers == [2, 1, 0]
        assert not part.is_in_order
        assert part.recorded == {2: 0b1}
        assert part.attempts == {(0, 1): 3}
        assert part.counters.planned == 6


def test_a_renamed_directory_draws_the_same(tmp_path: Path) -> None:
    asked(tmp_path / "first", sums(3), n=1)
    asked(tmp_path / "other", sums(3), n=2)
    shutil.copytree(tmp_path / "first", tmp_path / "copy")
    asked(tmp_path / "first", sums(3), n=2)
    asked(tmp_path / "copy", sums(3), n=2)
    assert exported(tmp_path / "copy") == exported(tmp_path / "first")
    assert exported(tmp_path / "other") != exported(tmp_path / "first")


def test_a_name_makes_shards_of_one_run(tmp_path: Path) -> None:
    """Parts of the data know their places, so that merging needs nothing else."""
    task = sums(4)
    problems = task.load(None)
    for directory, chosen in (("one", [0, 2]), ("two", [1, 3]), ("all", range(4))):
        with writing(tmp_path / directory) as store:
            part = prepare(
                store,
                task,
                [problems[at] for at in chosen],
                model_named("m", "http://a"),
                Settings(n=1),
                name="shared",
                positions=list(chosen),
            )
            assert part.seed == "shared"
            rows = [TrialRow(number, 0, "ok", f"{at}") for number, at in enumerate(chosen)]
            store.append(part.number, rows)
    merge_directories([tmp_path / "two", tmp_path / "one"], tmp_path / "out", low_water=0)
    assert exported(tmp_path / "out") == exported(tmp_path / "all")
    with Trials(tmp_path / "out") as trials:
        assert (trials.run().name, trials.run().address) == ("shared", "http://a")


def test_two_models_in_one_directory(tmp_path: Path) -> None:
    task = sums(2)
    with writing(tmp_path) as store:
        for model in ("a", "b"):
            part = prepare(store, task, task.load(None), model_named(model), Settings(n=1))
            rows = [TrialRow(number, 0, "ok", model) for number in part.numbers]
            store.append(part.number, rows)
    with Trials(tmp_path) as trials:
        runs = [trials.run(NAME, model) for model in ("a", "b")]
        assert [[row.text for row in trials.trials(run)] for run in runs] == [["a"] * 2, ["b"] * 2]
