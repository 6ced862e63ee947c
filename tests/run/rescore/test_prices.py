"""Prices of trials, given before a run or afterwards: every verb has the same sum."""

import csv
import json
import math
from pathlib import Path

import pytest

from passband.trials.reader import Trials
from support.runs.commands import Done, run

MODEL = """
from passband.generate.provider import Completion

def model(prompt, seed):
    out = seed % 997
    return Completion(str(seed % 2), "stop", prompt_tokens=len(prompt), completion_tokens=out)
"""
NAME = "python:costly_model:model"
PRICE = "0.15,0.6"
TOTAL = 12 * 3


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A task of 12 problems and a model that counts its tokens, in the working directory."""
    rows = [{"question": f"Is it {n}?", "answer": str(n % 2)} for n in range(12)]
    (tmp_path / "coins.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "costly_model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("PASSBAND_PRICES", raising=False)
    return tmp_path


def ask(out: str, *options: object) -> Done:
    return run("run", "coins.jsonl", "--model", NAME, "-n", 3, "--out", out, *options)


def recorded(directory: str) -> list[float | None]:
    with Trials(Path(directory)) as trials:
        (one,) = trials.runs()
        return [trial.cost for trial in trials.trials(one)]


def exact(directory: str) -> float:
    """The sum by hand: 0.15 and 0.6 per million are 15 and 60 units of 1e-8 per token."""
    with Trials(Path(directory)) as trials:
        (one,) = trials.runs()
        tokens = [(t.prompt_tokens or 0, t.completion_tokens or 0) for t in trials.trials(one)]
    return sum(15 * prompt + 60 * completion for prompt, completion in tokens) / 10**8


def stated(done: Done) -> float:
    """The sum that a verb prints with its remarks."""
    assert done.code in (0, 4), done.err
    text = done.out + done.err
    (line,) = {part for part in text.splitlines() if "cost: coins by " in part}
    return float(line.rpartition(" ")[2])


def test_every_verb_has_the_same_sum() -> None:
    made = ask("a", "--price", PRICE, "--json")
    total = exact("a")
    assert json.loads(made.out.splitlines()[-1])["cost"] == total
    assert None not in recorded("a")
    assert len(recorded("a")) == TOTAL
    ask("b", "--name", "other")
    assert recorded("b") == [None] * TOTAL
    Path("own.yaml").write_text(f'"{NAME}": {{input: 0.15, output: 0.6}}\n')
    afterwards = run("score", "b", "--prices", "own.yaml")
    assert afterwards.code == 0, afterwards.err
    assert None not in recorded("b")
    assert run("check", "b").code == 0
    again = ask("b", "--name", "other", "--price", PRICE, "--json")  # nothing is left to ask
    assert json.loads(again.out.splitlines()[-1])["cost"] == exact("b")

    run("export", "a", "-o", "a.csv")
    with Path("a.csv").open() as file:
        costs = [float(row["cost"]) for row in csv.DictReader(file)]
    assert round(math.fsum(costs), 12) == total
    assert run("import", "a.csv", "-o", "imported").code == 0
    assert run("merge", "a", "-o", "merged").code == 0
    for place in ("a", "imported", "merged"):
        assert stated(run("stats", place)) == total
        (row,) = json.loads(run("stats", place, "-m", "cost", "--json").out)["groups"]
        estimate = row["lines"][0]["estimate"]
        assert estimate["value"] * TOTAL == pytest.approx(total, rel=1e-12)
        assert estimate["low"] < estimate["value"] < estimate["high"]
    for verb in ("compare", "gate"):
        told = run(verb, "a", "b").out + run(verb, "a", "b").err
        assert f"coins by {NAME} {total:.12g}" in told
    report = run("report", "a", "-o", "report.html")
    assert report.code == 0, report.err
    assert "no price given" not in Path("report.html").read_text()


def test_costs_are_compared_and_limited() -> None:
    ask("a", "--price", PRICE)
    ask("b", "--name", "other", "--price", "0.3,1.2", "--seed", "a")
    done = run("compare", "a", "b", "-m", "cost", "--json")
    (task,) = json.loads(done.out)["tasks"]
    (compared,) = task["comparisons"]
    assert compared["lower_is_better"]
    assert compared["ratio"]["value"] == pytest.approx(2.0)  # the same answers at twice the price
    assert run("stats", "a", "-m", "tokens,latency,cost-per-solved").code == 0
    mean = exact("a") / TOTAL
    limits = {"regression": mean / 10, "undecided": 2 * mean, "pass": mean * 100}
    for verdict, limit in limits.items():
        options = ("-m", "cost", "--tolerance", "1", "--limit", f"cost={limit!r}", "--json")
        lines = json.loads(run("gate", "a", "b", *options).out)["comparisons"]
        assert [line["verdict"] for line in lines] == ["worse-within-tolerance", verdict]
        assert lines[1]["new"] - lines[1]["base"] == lines[1]["difference"]
    assert run("gate", "a", "b", "--limit", "pass@1=1").code == 2
    assert run("gate", "a", "b", "--limit", "cost=much").code == 2


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("someone-else: {input: 1, output: 2}", "no price for"),
        (f'"{NAME}": {{input: -1, output: 2}}', "at least 0"),
        (f'"{NAME}": {{input: 1}}', "got {'input': 1}"),
        (f'"{NAME}": {{input: 1, completion: 2}}', "{input: 0.15, output: 0.60}"),
        (f'"{NAME}": {{input: cheap, output: 2}}', "'cheap'"),
        (f'"{NAME}": {{input: .inf, output: 2}}', "not a finite number"),
    ],
)
def test_prices_that_are_refused(entry: str, told: str) -> None:
    ask("a")
    Path("own.yaml").write_text(entry + "\n")
    done = run("score", "a", "--prices", "own.yaml")
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert recorded("a") == [None] * TOTAL


def test_a_price_of_nothing_is_a_cost_of_nothing() -> None:
    ask("a", "--price", "0,0")
    assert recorded("a") == [0.0] * TOTAL
    assert stated(run("stats", "a")) == 0.0


def test_a_price_is_for_one_model() -> None:
    for text in ("1", "1,2,3", "a,b", "-1,2"):
        assert ask("a", "--price", text).code == 2
    done = ask("both", "--price", PRICE, "--model", "tiny")
    assert (done.code, "put several prices into --prices" in done.err) == (2, True)
    ask("a")
    done = run("score", "a", "--price", PRICE, "--prices", "own.yaml")
    assert "--price is for one model" in done.err


def test_without_prices_there_is_no_cost() -> None:
    ask("a")
    done = run("stats", "a", "-m", "cost")
    assert "cost is not known of these trials" in done.out + done.err
