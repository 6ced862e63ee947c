"""The guide to repeat metrics, run: every task of it, and its Python as it is written there."""

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from passband import PassbandWarning, simple_evaluate
from passband.score.repeats import aggregations
from support.runs.scripted import SEED, Script
from support.samples.repeat_guide import CUSTOM, GUIDE, OLD, OLD_CODE, RUNTIME, SCORES
from support.servers.fault_server import FaultServer

pytest.importorskip("sacrebleu")

TARGETS = {"a": "2", "b": "4", "c": "6"}
ANSWERS = {
    "a": ["2", "5", "2", "3", "2"],  # scores 1 0 1 0 1
    "b": ["1", "1", "1", "4", "7"],  # 0 0 0 1 0
    "c": ["9", "9", "8", "7", "9"],  # 0 0 0 0 0
}
RIGHT = {key: [float(one == TARGETS[key]) for one in row] for key, row in ANSWERS.items()}
WEIGHTED = [(1 + 3 + 5) / 15, 4 / 15, 0]
BY_HAND: dict[str, list[float]] = {
    "majority": [1, 0, 0],
    "any_correct": [1, 1, 0],
    "max": [100, 100, 0],  # of BLEU; the right answer is the target, word by word
    "mean": [60, 20, 0],
    "custom_weighted": WEIGHTED,
}


@pytest.fixture
def custom_weighted() -> Any:
    exec(compile(CUSTOM, "guide", "exec"), {})
    yield
    aggregations.remove("custom_weighted")


def repeated(answers: dict[str, list[str]], repeats: int) -> dict[str, list[str]]:
    """Return as many answers as a task asks for, in the same shares."""
    return {key: (row * (repeats // len(row) or 1))[:repeats] for key, row in answers.items()}


def write_guide_task(folder: Path, text: str) -> tuple[Path, dict[str, Any]]:
    """Write a task of the guide, with a data set and templates added."""
    keys = yaml.safe_load(dedent(text).replace("!function ", ""))
    rows = [{"id": key, "target": target} for key, target in TARGETS.items()]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / f"{keys.get('task', 't')}.yaml"
    path.write_text(
        "dataset_path: rows.jsonl\n"
        'doc_to_text: "Problem {{ id }}"\n'
        "doc_to_target: target\n"
        "generation_kwargs: {temperature: 1.0, until: []}\n" + dedent(text)
    )
    return path, keys


@pytest.mark.usefixtures("custom_weighted")
@pytest.mark.parametrize("name", GUIDE)
def test_a_task_of_the_guide(tmp_path: Path, name: str) -> None:
    path, keys = write_guide_task(tmp_path, GUIDE[name])
    task = keys.get("task", "t")
    repeats = keys.get("repeats", 5)
    options: dict[str, Any] = {} if "repeats" in keys else {"num_repeats": 5}
    answers = repeated(ANSWERS, repeats)
    results = simple_evaluate(Script(task, answers), path, seed=SEED, **options)
    names: dict[str, int] = {}
    for line in keys["metric_list"]:
        metric = line["metric"]
        names[metric] = names.get(metric, 0) + 1
        shown = metric if names[metric] == 1 else f"{metric}_{names[metric] - 1}"
        by_hand = BY_HAND[line["repeat_aggregation"]]
        assert [s[shown] for s in results["samples"][task]] == pytest.approx(by_hand)
        assert results["results"][task][f"{shown},none"] == pytest.approx(sum(by_hand) / 3)
        for sample, key in zip(results["samples"][task], TARGETS, strict=True):
            scale = 100 if metric == "bleu" else 1
            assert sample[f"{shown}_repeats"] == pytest.approx(
                [scale * score for score in repeated(RIGHT, repeats)[key]]  # type: ignore[arg-type]
            )


def test_a_task_without_the_new_keys(tmp_path: Path) -> None:
    """The default is the first repeat, and a task that is asked once has no repeats."""
    lines = "metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]\n"
    path, _ = write_guide_task(tmp_path, f"repeats: 5\n{lines}")
    results = simple_evaluate(Script("t", ANSWERS), path, seed=SEED)
    assert [sample["exact_match"] for sample in results["samples"]["t"]] == [1, 0, 0]
    assert len(results["samples"]["t"][0]["exact_match_repeats"]) == 5
    path, _ = write_guide_task(tmp_path, lines)
    results = simple_evaluate(Script("t", ANSWERS), path, seed=SEED)
    assert [sample["exact_match"] for sample in results["samples"]["t"]] == [1, 0, 0]
    assert "exact_match_repeats" not in results["samples"]["t"][0]


def test_the_old_way_of_the_guide(tmp_path: Path) -> None:
    """A filter and a metric of the task's own file, which is trusted by name."""
    (tmp_path / "utils.py").write_text(dedent(OLD_CODE))
    path, _ = write_guide_task(tmp_path, OLD)
    answers = repeated(ANSWERS, 10)
    options: dict[str, Any] = {"seed": SEED, "trust_task_code": True}
    results = simple_evaluate(Script("humaneval", answers), path, **options)["results"]
    shares = [0.6, 0.2, 0]  # of the answers, as before
    assert results["humaneval"]["pass@1,create_test"] == pytest.approx(sum(shares) / 3)
    assert results["humaneval"]["pass@10,create_test"] == pytest.approx(2 / 3)


def test_the_python_of_the_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_guide_task(tmp_path, GUIDE["majority voting"])
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    guesses = pytest.warns(PassbandWarning, match="nearly every score is 0")
    with FaultServer() as server, guesses:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        exec(compile(RUNTIME, "guide", "exec"), names)
        assert {request.body["model"] for request in server.requests} == {"gpt2"}
        assert sum(request.n for request in server.requests) == 15  # 3 problems, 5 times
        assert set(names["results"]["results"]) == {"my_task"}
        exec(compile(SCORES, "guide", "exec"), names)
    shown = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in shown] == ["Final score", "Repeat scores"] * 3
    for line in shown[1::2]:
        assert len(json.loads(line.partition(":")[2])) == 5


def test_too_few_repeats_are_warned_of(tmp_path: Path) -> None:
    """pass@10 of five repeats has no value; any_correct of them is not pass@10."""
    text = GUIDE["code generation"].replace("any_correct", "pass@10").replace("10\n", "5\n", 1)
    path, _ = write_guide_task(tmp_path, text)
    with pytest.warns(PassbandWarning, match="has no value"):
        simple_evaluate(Script("t", ANSWERS), path, seed=SEED)
