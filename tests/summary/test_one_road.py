"""One road: whichever way trials are read, the same numbers come out, to the last bit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from passband import Outcomes, estimate, simple_evaluate, summarize
from passband.stats.data.scale import UNIT
from passband.trials.merging.merge import merge_directories
from passband.trials.rows import ScorerEntry, ScoreRow, TrialRow
from support.runs.commands import run as command
from support.runs.scripted import CUT_OFF, SEED, Script, write_task
from support.samples.stores import problem, writing

METRICS = """
- {metric: exact_match, repeat_aggregation: majority}
- {metric: exact_match, repeat_aggregation: mean}
- {metric: exact_match, repeat_aggregation: pass@3}
- {metric: f1, aggregation: mean, repeat_aggregation: mean}
- {metric: bleu}
"""
TARGETS = {key: f"the answer is {index}" for index, key in enumerate("abcdefgh")}
pytestmark = pytest.mark.filterwarnings("ignore:.*no (score|value)")


def answers() -> dict[str, list[Any]]:
    """Four trials of each problem: right, right in part, truncated, wrong."""
    rows: dict[str, list[Any]] = {}
    for index, (key, target) in enumerate(TARGETS.items()):
        row = [target, f"is it {index}", "no", target if index % 3 else "who knows"]
        row[index % 4] = CUT_OFF if index % 5 == 0 else row[index % 4]  # type: ignore[assignment]
        rows[key] = row
    return rows


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("sacrebleu")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def evaluate(folder: Path, out: str, **options: Any) -> dict[str, Any]:
    path = write_task(folder, METRICS, TARGETS, name="road")
    chosen: dict[str, Any] = {"num_repeats": 4, "out": folder / out, "seed": SEED} | options
    return simple_evaluate(Script("road", answers()), str(path), **chosen)


def lines(group: Mapping[str, Any]) -> dict[str, Any]:
    """Everything of a group that is a number or a note, by metric."""
    return {line["metric"]: (line["estimate"], line["reason"]) for line in group["lines"]}


def printed(*arguments: str) -> Any:
    done = command(*arguments)
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_every_road_gives_the_same_summary(folder: Path) -> None:
    evaluated = evaluate(folder, "whole")["summaries"]["road"]
    # `passband stats` without the task file, which is gone by now
    (folder / "road.yaml").unlink()
    (folder / "road.jsonl").unlink()
    (stats,) = printed("stats", "whole", "--json")["groups"]
    (python,) = summarize("whole").as_json()["groups"]
    assert evaluated == stats == python
    assert list(lines(stats)) == [
        "exact_match (majority)", "exact_match_1 (mean)", "exact_match_2 (pass@3)", "f1 (mean)",
        "bleu (first)", "pass@2 (exact_match)", "pass^2 (exact_match)", "pass^3 (exact_match)",
    ]  # fmt: skip


def test_halves_merged_are_the_whole(folder: Path) -> None:
    evaluate(folder, "whole", name="whole")
    evaluate(folder, "one", limit=5, name="whole")
    evaluate(folder, "other", num_repeats=2, name="whole")
    merge_directories([folder / "one", folder / "other"], folder / "merged")
    assert printed("stats", "merged", "--json")["groups"][0]["n_problems"] == len(TARGETS)
    evaluate(folder, "merged")  # what neither half has
    whole, merged = (printed("stats", name, "--json")["groups"] for name in ("whole", "merged"))
    assert whole == merged
    for name in ("whole", "merged"):
        assert command("export", name, "-o", f"{name}.jsonl").code == 0
    assert (folder / "whole.jsonl").read_bytes() == (folder / "merged.jsonl").read_bytes()


@pytest.mark.parametrize("over", ["problems", "trials"])
@pytest.mark.parametrize("policy", ["drop", "fail"])
def test_an_export_gives_the_numbers_of_its_run(folder: Path, over: str, policy: str) -> None:
    evaluate(folder, "whole")
    assert command("export", "whole", "-o", "whole.jsonl").code == 0
    options: tuple[str, ...] = ("-m", "pass@1,2,4", "-m", "pass^2", "-m", "avg", "--json")
    options += ("--over", over, "--policy", policy)
    (run,) = printed("stats", "whole", *options)["groups"]
    (export,) = printed("stats", "whole.jsonl", *options)["groups"]
    assert lines(run) == lines(export)
    assert run["statuses"] == export["statuses"]


def test_the_command_prints_what_it_prints_again(folder: Path) -> None:
    """`passband run` and `passband stats` of its directory print the same table."""
    arguments = ("run", "arithmetic", "--model", "tiny", "-n", "4", "--limit", "6", "--out", "r")
    ran = command(*arguments)
    assert ran.code == 0, ran.err
    again = command("stats", "r")
    assert again.out == ran.out
    (event,) = [
        json.loads(line)
        for line in command(*arguments, "--json").out.splitlines()
        if json.loads(line)["event"] == "done"
    ]
    assert event["summary"] == printed("stats", "r", "--json")


def test_intervals_end_where_the_scale_of_the_scorer_does(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        number = store.begin("sums", "tiny", spec={}, config={"metrics": []}, name="run")
        store.add_problems(number, [problem(index) for index in range(4)])
        (scorer,) = store.set_scorers(number, [ScorerEntry("bleu", "bleu", {"bounds": [0, 100]})])
        rows = [
            TrialRow(index, 0, "ok", "x", scores=[ScoreRow(scorer, value)])
            for index, value in enumerate([100.0, 99.0, 100.0, 60.0])
        ]
        store.append(number, rows)
    whole = summarize(tmp_path / "run", "avg").estimate("avg")
    unit = estimate(Outcomes.from_array([[1.0], [0.99], [1.0], [0.6]], scale=UNIT), "avg")
    assert unit.low is not None
    assert unit.high is not None
    assert (whole.low, whole.high) == pytest.approx((100 * unit.low, 100 * unit.high))
    assert whole.high is not None
    assert whole.value < whole.high < 100
    for options in ({"by": "task"}, {"by": "scorer"}):
        other = summarize(tmp_path / "run", "avg", **options).estimate("avg")  # type: ignore[arg-type]
        assert (other.value, other.low, other.high) == (whole.value, whole.low, whole.high)
    clustered = summarize(tmp_path / "run", "avg", cluster="id").estimate("avg")
    assert clustered.high is not None
    assert clustered.value < clustered.high <= 100
    shares = summarize(tmp_path / "run", "pass@1", threshold=99).estimate("pass@1")
    assert shares.value == 0.75
