"""Results of evalplus, of both shapes: its own pass@k comes out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from passband import InvalidInput, measure
from passband.readers import Options, read, readers
from support.samples.tool_logs import evalplus_trial, write_json

TRIALS = {
    "HumanEval/0": [("pass", "pass"), ("pass", "fail"), ("fail", "fail"), ("pass", "pass")],
    "HumanEval/1": [("pass", "timeout"), ("timeout", "timeout"), ("pass", "pass"), ("fail", None)],
    "HumanEval/2": [("fail", "fail")] * 4,
}
BASE, PLUS = [3, 2, 0], [2, 1, 0]


def new(trials: dict[str, Any] = TRIALS) -> dict[str, Any]:
    results = {key: [evalplus_trial(key, *one) for one in row] for key, row in trials.items()}
    return {"date": "2026-01-01 00:00", "hash": "0", "eval": results}


def old() -> dict[str, Any]:
    results = {
        key: {
            "nfiles": 4,
            "base": [["success" if base == "pass" else "failed", []] for base, _ in row],
            "plus": [["success" if plus == "pass" else "timed out", []] for _, plus in row],
        }
        for key, row in TRIALS.items()
    }
    return {"date": "2023-01-01 00:00", "hash": "0", "eval": results}


def pass_at_k(correct: list[int], k: int, n: int = 4) -> float:
    """Compute pass@k as evalplus does, with its formula for one problem."""

    def of_problem(c: int) -> float:
        if n - c < k:
            return 1.0
        return float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))

    return float(np.mean([of_problem(c) for c in correct]))


@pytest.mark.parametrize("content", [new(), old()])
def test_both_shapes(tmp_path: Path, content: dict[str, Any]) -> None:
    path = write_json(tmp_path / "qwen_eval_results.json", content)
    groups = read(path)
    (group,) = groups.groups
    assert (groups.reader, group.task, group.model) == ("evalplus", "HumanEval", "qwen")
    assert group.outcomes.required_successes().tolist() == PLUS  # both must pass
    base = read(path, columns={"score": "base"}).only()
    assert base.required_successes().tolist() == BASE
    assert base.trials.tolist() == [4, 4, 4]


@pytest.mark.parametrize("k", [1, 2, 4])
def test_its_own_pass_at_k(tmp_path: Path, k: int) -> None:
    content = new()
    content["pass_at_k"] = {
        "base": {f"pass@{k}": pass_at_k(BASE, k)}, "plus": {f"pass@{k}": pass_at_k(PLUS, k)},
    }  # fmt: skip
    path = write_json(tmp_path / "r.json", content)
    for name, stated in content["pass_at_k"].items():
        outcomes = read(path, columns={"score": name}).only()
        value = measure(outcomes, f"pass@{k}").value
        assert value == pytest.approx(stated[f"pass@{k}"], abs=1e-15)


def test_only_the_original_tests(tmp_path: Path) -> None:
    trials = {key: [(base, None) for base, _ in row] for key, row in TRIALS.items()}
    path = write_json(tmp_path / "r.json", new(trials))
    (log,) = readers.get("evalplus").read(path, Options(texts=True))
    assert log.scorers == ("base",)
    assert log.outcomes().required_successes().tolist() == BASE
    assert {trial.text for trial in log.trials} == {"pass"}


def test_a_trial_that_passed_base_and_was_not_tested_further(tmp_path: Path) -> None:
    path = write_json(tmp_path / "r.json", new({"a": [("pass", None), ("pass", "pass")]}))
    outcomes = read(path).only()
    assert (outcomes.trials.tolist(), outcomes.unscored["unscored"].tolist()) == ([1], [1])


def test_what_is_wrong(tmp_path: Path) -> None:
    path = write_json(tmp_path / "r.json", new({"a": [("pass", "pass"), ("maybe", "pass")]}))
    with pytest.raises(InvalidInput, match=r"r.json: item 2: base_status must be one of pass, .*"):
        read(path)
    assert read(path, skip_bad=True).only().trials.tolist() == [1]
    uneven = {"eval": {"a": {"base": [["pass", []]], "plus": [["pass", []], ["fail", []]]}}}
    with pytest.raises(InvalidInput, match="item 1: every item must be a JSON object"):
        read(write_json(tmp_path / "r.json", uneven))
    with pytest.raises(InvalidInput, match="has no object named eval"):
        read(write_json(tmp_path / "r.json", {}), reader="evalplus")
