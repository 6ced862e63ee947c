"""What a run would ask, said before it asks."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.generate.provider import Message, Sampling
from passband.report.dry_run import dry_run
from passband.run.counters import Price
from passband.run.settings import Settings
from passband.score.scorer import Reference
from passband.tasks.task import Problem, Task
from passband.trials.rows import TrialRow
from passband.trials.schema import FILE
from passband.trials.store import Store
from stores import problem, writing

Words = Callable[..., Task]


def planned(directory: Path, task: Task, price: Price | None = None, **settings: Any):
    return dry_run([task], "openai:m", directory, Settings(**settings), price)


def test_nothing_is_made(tmp_path: Path, words: Words) -> None:
    found = planned(tmp_path / "run", words(3))
    assert list(tmp_path.iterdir()) == []
    assert found.missing == 6
    assert found.lines() == [
        "task      words: 3 problems x 2, 6 missing",
        "tokens    about 2 in, 60 out (4 characters a token, answers at most)",
        "sampling  temperature 1.0, max_tokens 10",
        "prompt    0",
        "model     openai:m",
        f"trials    6 to ask for, into {tmp_path / 'run'}",
        "time      about 0 s (at 5 s an answer, 64 at a time)",
        "cost      unknown: no price file has this model",
        "Nothing was asked.",
    ]


def test_what_is_recorded_is_not_asked_again(tmp_path: Path, words: Words) -> None:
    with writing(tmp_path) as store:
        run = store.begin("words", "openai:m", {}, {})
        store.add_problems(run, [problem(0)])
        store.append(run, [TrialRow(0, n, "ok", "x", None, 100, 50, 2_000) for n in range(2)])
        store.add_session("2026-01-01T00:00:00+00:00", 4.0, 2, 8)
    found = planned(tmp_path, words(3), Price(1.0, 2.0), n=4, concurrency=8)
    (task,) = found.tasks
    assert (task.missing, task.prompt_tokens, task.completion_tokens) == (10, 1_000, 500)
    assert task.is_measured
    assert found.cost == pytest.approx(0.002)
    assert found.rate == 0.5
    assert found.seconds == 20.0
    told = "\n".join(found.lines())
    assert "tokens    about 1000 in, 500 out (measured)" in told
    assert "cost      about 0.002" in told
    assert "time      about 20 s (at 0.5/s, as so far)" in told


def test_a_run_that_did_not_come_to_its_tables(tmp_path: Path, words: Words) -> None:
    (tmp_path / FILE).touch()
    assert planned(tmp_path, words(3)).missing == 6
    Store(tmp_path, low_water=0).close()
    assert planned(tmp_path, words(3)).missing == 6


def test_costs(tmp_path: Path, words: Words) -> None:
    dear = Price(10.0, 1_000.0)
    assert "at most about 0.06" in planned(tmp_path, words(3), dear).lines()[-2]
    unlimited = replace(words(3), sampling=Sampling())
    assert "nothing limits the length" in planned(tmp_path, unlimited, dear).lines()[-2]
    assert planned(tmp_path, unlimited, dear).cost is None
    assert planned(tmp_path, unlimited, Price(0.0, 0.0)).cost == 0.0
    assert "no limit" in planned(tmp_path, unlimited).lines()[1]


def test_a_temperature_of_zero_is_a_setting(tmp_path: Path, words: Words) -> None:
    greedy = replace(words(1), sampling=Sampling(temperature=0.0))
    assert planned(tmp_path, greedy).lines()[2] == "sampling  temperature 0.0"
    plain = replace(words(1), sampling=Sampling())
    assert planned(tmp_path, plain).lines()[2] == "sampling  as the model does by itself"


def test_what_the_run_would_refuse_is_refused(tmp_path: Path, words: Words) -> None:
    for n in (0, -1):
        with pytest.raises(InvalidInput, match=f"-n must be at least 1; got {n}"):
            planned(tmp_path, words(3), n=n)


def test_a_long_prompt_is_cut(tmp_path: Path, words: Words) -> None:
    asked = [Problem("p", (Message("user", "line\n" * 100),), Reference(("x",)))]
    found = planned(tmp_path, replace(words(1), load=lambda limit: asked))
    assert len(found.lines()) < 35


def test_json_says_the_same(tmp_path: Path, words: Words) -> None:
    found = planned(tmp_path / "run", words(3), Price(1.0, 2.0)).as_json()
    assert found["missing"] == 6
    assert found["cost"] == pytest.approx((2 + 2 * 60) / 1e6)
    assert found["tasks"][0]["first_prompt"] == "0"
    assert found["tasks"][0]["sampling"]["temperature"] == 1.0
