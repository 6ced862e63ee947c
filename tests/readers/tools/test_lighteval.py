"""Details of lighteval: its pass@k comes out, and failed requests are not wrong answers."""

from math import comb
from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, measure
from passband.readers import Options, read, readers
from support.samples.tool_logs import detail, write_parquet

ONE = "pass@k:k=1&n=4"
FOUR = "pass@k:k=2&n=4"


def row(number: int, successes: int, n: int = 4, **more: Any) -> dict[str, Any]:
    texts = [str(number + 1)] * successes + ["x"] * (n - successes)
    metric = {ONE: successes / n, FOUR: 1 - comb(n - successes, 2) / comb(n, 2)}
    return detail(number, texts, metric, **more)


def important(groups: Any) -> list[str]:
    return [str(remark) for remark in groups.remarks if remark.important]


def test_successes_are_counted(tmp_path: Path) -> None:
    rows = [row(0, 3), row(1, 0), row(2, 4), row(3, 1)]
    folder = tmp_path / "details" / "openai" / "gpt-4o" / "2026-01-01T00-00-00"
    folder.mkdir(parents=True)
    groups = read(write_parquet(folder / "details_sums|0_2026-01-01T00-00-00.parquet", rows))
    (group,) = groups.groups
    assert (group.task, group.model) == ("sums|0", "openai/gpt-4o")
    assert group.outcomes.trials.tolist() == [4] * 4
    assert group.outcomes.required_successes().tolist() == [3, 0, 4, 1]
    for k, name in ((1, ONE), (2, FOUR)):
        expected = sum(one["metric"][name] for one in rows) / 4
        assert measure(group.outcomes, f"pass@{k}").value == pytest.approx(expected, abs=1e-14)
    assert important(groups) == []
    assert "which of them are is not in the file" in str(groups.remarks[1])


def test_one_generation_has_the_scores_of_its_metrics(tmp_path: Path) -> None:
    rows = [detail(n, [str(n)], {"em": float(n % 2), "f1": 0.5}) for n in range(3)]
    path = write_parquet(tmp_path / "details_sums.parquet", rows)
    (log,) = readers.get("lighteval").read(path, Options(texts=True))
    assert (log.scorers, log.model) == (("em", "f1"), "sums")
    assert [[s.value for s in trial.scores] for trial in log.trials] == [
        [0, 0.5],
        [1, 0.5],
        [0, 0.5],
    ]
    assert [trial.text for trial in log.trials] == ["0", "1", "2"]
    assert '"targets":["1"]' in log.problems[0].record
    assert [group.key for group in read(path, by="level").groups] == [("0",), ("1",)]


def test_other_metrics_are_one_number(tmp_path: Path) -> None:
    rows = [detail(n, ["a", "b"], {"avg@n:n=2": 0.25}) for n in range(3)]
    path = write_parquet(tmp_path / "d.parquet", rows)
    groups = read(path)
    assert groups.only().trials.tolist() == [1, 1, 1]
    assert measure(groups.only(), "avg").value == 0.25
    assert important(groups) == [
        "there are 2 generations per problem, but each metric has one number for all of them: it "
        "is read as one trial"
    ]
    (log,) = readers.get("lighteval").read(path, Options(texts=True))
    assert [(trial.text, trial.scores) for trial in log.trials] == [("a", []), ("b", [])] * 3
    assert "they are kept without scores" in str(log.remarks[0])


def test_a_failed_request_is_not_a_wrong_answer(tmp_path: Path) -> None:
    failed = detail(1, [""], {ONE: 0.0, FOUR: 0.0}, doc={"num_samples": 4})
    groups = read(write_parquet(tmp_path / "d.parquet", [row(0, 2), failed]))
    outcomes = groups.only()
    assert outcomes.trials.tolist() == [4, 0]
    assert outcomes.unscored["gave_up"].tolist() == [0, 4]
    assert important(groups)[0].startswith("4 answers are empty, which is how lighteval writes")
    assert measure(outcomes, "pass@1").value == 0.5
    assert measure(outcomes, "pass@1", policy="fail").value == 0.25  # as lighteval has it


def test_tokens_tell_an_empty_answer_from_a_failed_request(tmp_path: Path) -> None:
    metric = {"em": 0.0}
    rows = [
        detail(0, ["1"], {"em": 1.0}, output_tokens=[[5]]),
        detail(1, [""], metric, output_tokens=[[2]]),  # the model ended at once
        detail(2, [""], metric, output_tokens=[[]]),
    ]
    groups = read(write_parquet(tmp_path / "d.parquet", rows))
    assert groups.only().trials.tolist() == [1, 1, 0]
    assert groups.only().unscored["gave_up"].tolist() == [0, 0, 1]
    without = [detail(n, [text], metric) for n, text in enumerate(["1", "", ""])]
    groups = read(write_parquet(tmp_path / "d.parquet", without))
    assert groups.only().trials.tolist() == [1, 1, 1]
    assert important(groups) == [
        "2 answers are empty and scored; lighteval writes requests that failed in this way, and "
        "scores them as wrong"
    ]


def test_generations_that_are_missing(tmp_path: Path) -> None:
    short = detail(1, ["2", "x"], {ONE: 0.25, FOUR: 0.5})  # two of four came back
    outcomes = read(write_parquet(tmp_path / "d.parquet", [row(0, 4), short])).only()
    assert (outcomes.trials.tolist(), outcomes.required_successes().tolist()) == ([4, 2], [4, 1])
    assert outcomes.unscored["missing"].tolist() == [0, 2]


def test_generations_that_no_metric_counts_are_named(tmp_path: Path) -> None:
    rows = [detail(n, ["1", "x"], {"pass@k:k=1&n=1": 1.0, "avg@n:n=2": 0.5}) for n in range(2)]
    groups = read(write_parquet(tmp_path / "d.parquet", rows))
    assert groups.only().trials.tolist() == [1, 1]
    assert important(groups) == ["only 1 of 2 generations per problem are scored"]


def test_tasks_in_one_file_are_not_pooled(tmp_path: Path) -> None:
    rows = [row(0, 2), row(0, 1, doc={"task_name": "other|0"})]
    groups = read(write_parquet(tmp_path / "d.parquet", rows))
    assert [group.key for group in groups.groups] == [("sums|0",), ("other|0",)]


def test_what_is_wrong(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "d.parquet", [row(0, 2), row(1, 1) | {"metric": {ONE: 0.3}}])
    with pytest.raises(
        InvalidInput, match=r"d.parquet: row 2: pass@k:k=1&n=4 must be a number of 4"
    ):
        read(path)
    groups = read(path, skip_bad=True)
    assert groups.only().trials.tolist() == [4]
    assert important(groups) == ["left out 1 row that cannot be read (row 2)"]
    more = detail(1, ["x"], {ONE: 0.5})
    with pytest.raises(InvalidInput, match="row 2: the metric counts more right generations"):
        read(write_parquet(tmp_path / "d.parquet", [row(0, 2), more]))
    twice = write_parquet(tmp_path / "d.parquet", [detail(0, ["1"], {"em": 1.0})] * 2)
    with pytest.raises(InvalidInput, match="row 2: document '0' occurs twice"):
        read(twice)
