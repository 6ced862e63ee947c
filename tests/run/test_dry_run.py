"""A run without its requests."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.generate.problem import Problem
from passband.generate.provider import Message, Sampling
from passband.generate.registry import Connection
from passband.generate.subject import make_subject
from passband.report.dry_run import dry_run_lines
from passband.run.dry_run import DryRun, dry_run
from passband.run.prepare import prepare
from passband.run.settings import Settings, WidthGoal
from passband.run.task_run import Price
from passband.score.scorer import Reference
from passband.tasks.task import Task
from passband.trials.file.lock import Busy
from passband.trials.file.schema import STORE_FILE
from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from passband.trials.store import Store
from support.runs.runs import Bench, sums
from support.samples.stores import writing

HERE = Connection("http://localhost:1/v1")


def words(count: int) -> Task:
    """A task of problems whose prompts are their positions."""
    problems = [
        Problem(f"p{at}", (Message("user", str(at)),), Reference(("yes",))) for at in range(count)
    ]
    return sums(
        name="words",
        sampling=Sampling(temperature=1.0, max_tokens=10),
        load=lambda limit: problems[:limit],
    )


def planned(directory: Path, task: Task, price: Price | None = None, **settings: Any) -> DryRun:
    return dry_run([task], "openai:m", directory, Settings(**settings), HERE, price)


def lines(*arguments: Any, **settings: Any) -> list[str]:
    return dry_run_lines(planned(*arguments, **settings))


def test_nothing_is_made(tmp_path: Path) -> None:
    found = planned(tmp_path / "run", words(3))
    assert list(tmp_path.iterdir()) == []
    assert found.missing == 6
    assert dry_run_lines(found) == [
        "task      words: 3 problems x 2, 6 missing",
        "tokens    about 2 in, at most 60 out (4 characters a token)",
        "sampling  temperature 1.0, max_tokens 10",
        "prompt    0",
        "model     openai:m",
        f"trials    6 to request, into {tmp_path / 'run'}",
        "time      about 5 s (at 5 s an answer, 64 at a time)",
        "cost      unknown: no price file has this model",
        "No request was sent.",
    ]


def test_a_run_that_may_stop_early_is_counted_at_most(tmp_path: Path) -> None:
    until = WidthGoal(0.3, metric="pass@1", over="trials", level=0.95, proof=False)
    shown = lines(tmp_path / "run", words(3), n=4, until=until)
    assert f"trials    at most 12 to request, into {tmp_path / 'run'}" in shown
    assert "time      at most about 5 s (at 5 s an answer, 64 at a time)" in shown


def test_what_is_recorded_is_not_asked_again(tmp_path: Path) -> None:
    subject = make_subject("openai:m", HERE)
    with writing(tmp_path) as store:
        task_run = prepare(store, words(3), words(3).load(None), subject, Settings())
        rows = [TrialRow(0, n, "ok", "x", None, 100, 50, 2_000) for n in range(2)]
        store.append(task_run.number, rows)
        store.end_session(store.begin_session(8), 4.0, 2)
    found = planned(tmp_path, words(3), Price(1.0, 2.0), n=4, concurrency=8)
    (task,) = found.tasks
    assert (task.missing, task.prompt_tokens, task.completion_tokens) == (10, 1_000, 500)
    assert task.is_measured
    assert found.cost == pytest.approx(0.002)
    assert found.rate == 0.5
    assert found.seconds == 20.0
    assert found.answer_seconds == 2.0
    told = "\n".join(dry_run_lines(found))
    assert "tokens    about 1000 in, 500 out (measured)" in told
    assert "cost      about 0.002" in told
    assert "time      about 20 s (at 0.5/s, as so far)" in told


def test_a_run_that_did_not_come_to_its_tables(tmp_path: Path) -> None:
    (tmp_path / STORE_FILE).touch()
    assert planned(tmp_path, words(3)).missing == 6
    Store(tmp_path, low_water=0).close()
    assert planned(tmp_path, words(3)).missing == 6


def test_costs(tmp_path: Path) -> None:
    dear = Price(10.0, 1_000.0)
    assert "at most about 0.06" in lines(tmp_path, words(3), dear)[-2]
    unlimited = replace(words(3), sampling=Sampling())
    assert "nothing limits the length" in lines(tmp_path, unlimited, dear)[-2]
    assert planned(tmp_path, unlimited, dear).cost is None
    assert planned(tmp_path, unlimited, Price(0.0, 0.0)).cost == 0.0
    assert "no limit" in lines(tmp_path, unlimited)[1]


def test_a_temperature_of_zero_is_a_setting(tmp_path: Path) -> None:
    greedy = replace(words(1), sampling=Sampling(temperature=0.0))
    assert lines(tmp_path, greedy)[2] == "sampling  temperature 0.0"
    plain = replace(words(1), sampling=Sampling())
    assert lines(tmp_path, plain)[2] == "sampling  the defaults of the model"


def test_what_the_run_would_refuse_is_refused(tmp_path: Path) -> None:
    for n in (0, -1):
        with pytest.raises(InvalidInput, match=f"-n must be at least 1; got {n}"):
            planned(tmp_path, words(3), n=n)


def test_a_long_prompt_is_cut_in_the_middle_with_a_mark(tmp_path: Path) -> None:
    prompt = "\n".join(f"line {number}" for number in range(100))
    asked = [Problem("p", (Message("user", prompt),), Reference(("x",)))]
    shown = lines(tmp_path, replace(words(1), load=lambda limit: asked))
    assert len(shown) < 35
    assert shown[3] == "prompt    line 0"
    assert shown[11] == "          [... 80 lines ...]"
    assert shown[12] == "          line 88"
    assert "          line 99" in shown  # the problem itself comes after the examples


def test_a_prompt_that_fits_is_shown_whole(tmp_path: Path) -> None:
    asked = [Problem("p", (Message("user", "line\n" * 21),), Reference(("x",)))]
    shown = lines(tmp_path, replace(words(1), load=lambda limit: asked))
    assert not any("..." in line for line in shown)


def test_what_is_missing_takes_at_least_one_answer(tmp_path: Path) -> None:
    assert planned(tmp_path, words(3), n=1).seconds == 5.0
    assert planned(tmp_path, words(3), n=64, concurrency=1).seconds == 3 * 64 * 5.0


def test_trials_that_will_repeat_are_told(tmp_path: Path) -> None:
    greedy = replace(words(1), sampling=Sampling(temperature=0.0))
    told = "warning   words: temperature 0: 4 trials of a problem are likely identical, worth one."
    assert told in lines(tmp_path, greedy, n=4)
    assert not any("warning" in line for line in lines(tmp_path, greedy, n=1))


# --- what the run would refuse ---------------------------------------------------------------


def recorded(bench: Bench) -> bytes:
    bench.play(task=sums(4), n=2)
    return (bench.directory / STORE_FILE).read_bytes()


def refusal(bench: Bench, task: Task | None = None, **settings: Any) -> tuple[str, str]:
    """Return the error of a dry run and of the run; the file is as it was."""
    before, errors = (bench.directory / STORE_FILE).read_bytes(), []
    settings = dict[str, Any](seed="bench", n=2, moved_server=True) | settings
    with pytest.raises(InvalidInput) as caught:
        dry_run(
            [task or sums(4)], "openai:model", bench.directory, Settings(**settings), HERE, None
        )
    errors.append(str(caught.value))
    with pytest.raises(InvalidInput) as caught:
        bench.run("http://localhost:1/v1", task or sums(4), **settings)
    errors.append(str(caught.value))
    assert (bench.directory / STORE_FILE).read_bytes() == before
    return errors[0], errors[1]


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 0.5},
        {"max_tokens": 9},
        {"seed": "other"},
        {"task": sums(prompts=["Other?"] * 4)},
        {"n": 0},
        {"limit": 0},
        {"max_cost": 1.0},
        {"max_cost": -1.0},
    ],
)
def test_both_refuse_in_the_same_words(bench: Bench, settings: dict[str, Any]) -> None:
    recorded(bench)
    dry, real = refusal(bench, **settings)
    assert dry == real


def test_nothing_is_written_to_a_run_that_is_there(bench: Bench) -> None:
    before = recorded(bench)
    task = sums(6)  # two problems more
    found = dry_run(
        [task, words(3)], "openai:model", bench.directory,
        Settings(n=3, seed="bench", truncated="score", moved_server=True), HERE, None,
    )  # fmt: skip
    assert [(plan.task, plan.missing) for plan in found.tasks] == [("sums", 10), ("words", 9)]
    assert (bench.directory / STORE_FILE).read_bytes() == before
    with Trials(bench.directory) as trials:
        assert [run.task for run in trials.runs()] == ["sums"]


@pytest.mark.parametrize("model", ["nowhere:x", "gpt-4o", "openai:", "python:os:nothing_like_it"])
def test_a_model_that_is_not_there(tmp_path: Path, model: str) -> None:
    with pytest.raises(InvalidInput):
        dry_run([words(1)], model, tmp_path, Settings(), Connection(), None)


def test_a_directory_that_another_process_has(bench: Bench) -> None:
    recorded(bench)
    store = Store(bench.directory, low_water=0)
    try:
        with pytest.raises(Busy):
            planned(bench.directory, words(1))
    finally:
        store.close()


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for directory in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(InvalidInput, match="is not a directory; give another with --out"):
            planned(directory, words(1))


def test_json_says_the_same(tmp_path: Path) -> None:
    found = planned(tmp_path / "run", words(3), Price(1.0, 2.0)).as_json()
    assert found["missing"] == 6
    assert found["cost"] == pytest.approx((2 + 2 * 60) / 1e6)
    assert found["tasks"][0]["first_prompt"] == "0"
    assert found["tasks"][0]["sampling"]["temperature"] == 1.0
