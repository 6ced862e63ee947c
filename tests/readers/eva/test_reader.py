"""Run directories of EVA become logs in which errored, missing and skipped stay apart."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, compare, estimate, read
from passband.readers.eva.record import MetricScore, Turns, metric_score
from passband.readers.eva.run import read_eva_run
from passband.readers.options import Options
from passband.readers.reader import find_reader
from passband.readers.runs import groups_of_runs
from support.runs.commands import run as command
from support.samples.any_files import json_values
from support.samples.eva_runs import CONFIG, content, example, metric, write_run, write_trial


def test_the_example(tmp_path: Path) -> None:
    path = example(tmp_path)
    assert find_reader(path)[0] == "eva"
    (group,) = read(path).groups
    assert (group.task, group.model) == ("airline", "gpt-x")
    outcomes = group.outcomes
    assert outcomes.trials.tolist() == [3, 2, 2]
    assert outcomes.required_successes().tolist() == [2, 2, 0]
    assert outcomes.status_counts == {"ok": 7, "missing": 1, "scorer_error": 1}
    assert estimate(path, "pass@2").value == pytest.approx(2 / 3)


def test_trials_keep_their_numbers_and_problems_their_order(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for scenario in ("1.10.1", "1.2.1", "1.9.1"):
        for trial in (10, 2):
            write_trial(run, f"{scenario}/trial_{trial}", {"m": 1.0})
    (log,) = find_reader(run)[1].read(run, Options())
    assert [problem.key for problem in log.problems] == ["1.2.1", "1.9.1", "1.10.1"]
    assert [trial.trial for trial in log.trials] == [2, 10] * 3


@pytest.mark.parametrize(
    ("folders", "trials"),
    [
        (["a/trial_0", "a/trial_1", "b/trial_0"], {"a": [0, 1], "b": [0]}),
        (["a_trial_0", "a_trial_1", "b_trial_0"], {"a": [0, 1], "b": [0]}),
        (["a", "b"], {"a": [0], "b": [0]}),
        (["my_trial_3", "my_trial_x"], {"my": [3], "my_trial_x": [0]}),
    ],
)
def test_layouts(tmp_path: Path, folders: list[str], trials: dict[str, list[int]]) -> None:
    run = tmp_path / "run"
    for folder in folders:
        write_trial(run, folder, {"m": 1.0})
    (log,) = find_reader(run)[1].read(run, Options())
    keys = [problem.key for problem in log.problems]
    assert {key: [t.trial for t in log.trials if keys[t.problem] == key] for key in keys} == trials


@pytest.mark.parametrize("suffix", ["attempt", "failed_attempt", "extra", "unvalidated"])
def test_attempts_are_no_trials(tmp_path: Path, suffix: str) -> None:
    run = example(tmp_path)
    write_trial(run, f"s1/trial_0_{suffix}_1", {"m": 0.0})
    write_trial(run, f"s9_{suffix}_2", {"m": 0.0})
    groups = read(run)
    assert groups.groups[0].outcomes.n_trials == 7
    assert "left out 2 folders of attempts that are not trials" in map(str, groups.remarks)


def test_a_trial_without_metrics_is_errored(tmp_path: Path) -> None:
    run = example(tmp_path)
    folder = write_trial(run, "s3/trial_2", None)
    (folder / "result.json").write_text(json.dumps({"error": "the line went dead"}))
    (log,) = find_reader(run)[1].read(run, Options())
    assert log.outcomes().status_counts == {"ok": 7, "errored": 1, "scorer_error": 1}
    assert [row.detail for row in log.attempts] == ["no metrics.json: the line went dead"]
    assert any("s3/trial_2" in remark.text and remark.important for remark in log.remarks)


def test_skipped_is_not_failed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"s": [{"m": 1.0}, {"m": "skipped"}, {"m": "null"}]})
    groups = read(run)
    assert groups.groups[0].outcomes.status_counts == {"ok": 1, "unscored": 2}
    assert any(
        "nothing to score" in str(remark) and "m in 1" in str(remark) for remark in groups.remarks
    )


def test_every_metric_is_a_scorer_and_the_main_one_leads(tmp_path: Path) -> None:
    values = {"faithfulness": 0.5, "task_completion": 1.0, "conciseness": 0.25}
    run = write_run(tmp_path / "run", {"s": [values] * 3})
    (log,) = find_reader(run)[1].read(run, Options())
    assert log.scorers == ("task_completion", "conciseness", "faithfulness")
    groups = groups_of_runs(
        [log], Options.of({"score": "conciseness"}, ()), source="x", kind="a log"
    )
    assert groups.groups[0].outcomes.required_graded().values.tolist() == [0.25] * 3
    assert "EVA-A_pass" not in log.scorers


def test_names_that_eva_has_changed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"s": [{"conversation_finished": 1.0}]})
    assert read_eva_run(run).metrics == ("conversation_valid_end",)


def test_a_metric_under_both_of_its_names(tmp_path: Path) -> None:
    old = {"conversation_finished": 1.0, "conversation_valid_end": 0.0}
    run = write_run(tmp_path / "run", {"s": [old, {"m": 1.0}]})
    with pytest.raises(InvalidInput, match="has both 'conversation_valid_end' and 'conv"):
        read(run)


@pytest.mark.parametrize(
    ("config", "task", "model", "planned"),
    [
        (CONFIG, "airline", "gpt-x", 3),
        ({"model": {"s2s": "live"}, "domain": "itsm"}, "itsm", "live", 2),
        ({"model": {"llm_model": "old"}, "num_trials": True}, "eva", "old", 2),
        ({"model": 3, "num_trials": 0}, "eva", "run", 2),
        (None, "eva", "run", 2),
    ],
)
def test_the_plan(tmp_path: Path, config: Any, task: str, model: str, planned: int) -> None:
    run = write_run(tmp_path / "run", {"s": [{"m": 1.0}] * 2, "t": [{"m": 1.0}]}, config)
    found = read_eva_run(run)
    assert (found.task, found.model, found.planned) == (task, model, planned)
    told = any("does not say how many trials" in remark.text for remark in found.remarks)
    assert told is (planned == 2)


def test_a_plan_of_too_many_trials(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"s": [{"m": 1.0}]}, {"num_trials": 10**12})
    with pytest.raises(InvalidInput, match=r"config.json: num_trials must be at most 1,000,000"):
        read(run)


def test_two_runs_are_compared(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {f"s{i}": [{"m": float(i > 5)}] * 3 for i in range(12)})
    b = write_run(tmp_path / "b", {f"s{i}": [{"m": float(i > 2)}] * 3 for i in range(12)})
    assert compare(a, b, "pass@1").value == pytest.approx(3 / 12)
    done = command("compare", str(a), str(b), "-m", "pass@1", "-q")
    assert done.code == 0, done.err
    assert "0.25" in done.out


def test_the_hash_is_that_of_the_content(tmp_path: Path) -> None:
    first, second = example(tmp_path / "x"), example(tmp_path / "y")
    assert read_eva_run(first).source.sha256 == read_eva_run(second).source.sha256
    file = second / "records" / "s1" / "trial_0" / "metrics.json"
    file.write_text(file.read_text().replace("1.0", "0.0"))
    assert read_eva_run(first).source.sha256 != read_eva_run(second).source.sha256


# -- bad input -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ("[]", "must be a JSON object with 'metrics'"),
        ("{}", "must be a JSON object with 'metrics'"),
        ('{"metrics": {"m": 1}}', "'m' must be a JSON object; got 1"),
        ('{"metrics": {"m": {"score": "high"}}}', "score of m must be a number; got 'high'"),
        ('{"metrics": {"m": {"score": Infinity}}}', "score of m is infinite"),
        ('{"metrics": {"m": {"score": 1' + "0" * 400 + "}}}", "score of m is infinite"),
        ('{"metrics": {"m": {"sub_metrics": {"x": 1}}}}', "sub-metric 'x' of m"),
        ('{"record_id": "s2/trial_0", "metrics": {}}', "metrics of record 's2/trial_0'"),
        ('{"record_id": "s1/trial_1", "metrics": {}}', "its folder is that of 's1/trial_0'"),
        (b"\xff\xfe\x00", "is not UTF-8"),
    ],
)
def test_a_bad_file_is_named_or_left_out(tmp_path: Path, text: str | bytes, reason: str) -> None:
    run = example(tmp_path)
    file = run / "records" / "s1" / "trial_0" / "metrics.json"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InvalidInput, match=r"s1/trial_0/metrics\.json") as error:
        read(run)
    assert reason in str(error.value)
    groups = read(run, skip_bad=True)
    assert groups.groups[0].outcomes.status_counts == {"ok": 6, "missing": 2, "scorer_error": 1}
    assert any("left out 1 metrics.json file" in str(remark) for remark in groups.remarks)


@pytest.mark.parametrize("twin", ["s1_trial_0", "s1/trial_00"])
def test_a_trial_twice(tmp_path: Path, twin: str) -> None:
    run = example(tmp_path)
    folder = run / "records" / twin
    folder.mkdir()
    (folder / "metrics.json").write_text(json.dumps(content("s1/trial_0", {"m": 1.0})))
    for skip_bad in (False, True):
        with pytest.raises(InvalidInput, match="'s1' has trial 0 in 2 folders"):
            read(run, skip_bad=skip_bad)


def test_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="empty"):
        read(tmp_path / "empty")
    run = tmp_path / "run"
    (run / "records").mkdir(parents=True)
    assert find_reader(run)[0] != "eva"
    (run / "config.json").write_text("{}")
    with pytest.raises(InvalidInput, match="no trial has metrics yet"):
        read(run)
    (run / "records" / "s1").mkdir()
    (run / "records" / "a file").touch()
    with pytest.raises(InvalidInput, match="no trial has metrics yet"):
        read(run)


def test_a_config_that_is_no_object(tmp_path: Path) -> None:
    run = example(tmp_path)
    (run / "config.json").write_text("[1]")
    with pytest.raises(InvalidInput, match=r"config\.json: must be a JSON object"):
        read(run)


# -- scores --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "status", "value"),
    [
        ({"score": 3, "normalized_score": 1.0}, "ok", 1.0),
        ({"score": 3}, "ok", 3.0),
        ({"score": True}, "ok", 1.0),
        ({"score": float("nan")}, "missing", None),
        ({}, "missing", None),
        ({"score": 0.0, "error": "boom"}, "errored", None),
        ({"score": 0.0, "error": ""}, "errored", None),
        ({"skipped": True}, "skipped", None),
        ({"score": 1.0, "skipped": True}, "skipped", None),
    ],
)
def test_a_score_or_the_reason_for_none(
    fields: dict[str, Any], status: str, value: float | None
) -> None:
    score = metric_score("m", fields)
    assert (score.status, score.value) == (status, value)


def test_turns_and_parts() -> None:
    fields = metric(
        "m",
        1.0,
        details={"num_turns": 9, "num_evaluated": 7, "num_not_applicable": 2},
        sub_metrics={"a": metric("m.a", 0.5), "b": {"score": None, "normalized_score": 1.0}},
    )
    score = metric_score("m", fields)
    assert score.turns == Turns(9, 7, 2)
    assert score.parts == {"a": 0.5, "b": None}
    for wrong in ({"num_turns": "9", "num_evaluated": 7}, {"num_turns": -1, "num_evaluated": 0}, 3):
        assert metric_score("m", {"details": wrong}) == MetricScore()


def written(folder: Path, value: object) -> Path:
    """Write a run with one good trial, and one that has this content."""
    run = folder / "run"
    if not run.exists():
        write_trial(run, "s/trial_0", {"m": 1.0})
        write_trial(run, "s/trial_1", None)
    (run / "records" / "s" / "trial_1" / "metrics.json").write_text(json.dumps(value))
    return run


@given(value=json_values)
def test_any_metrics_file(tmp_path: Path, value: object) -> None:
    check(written(tmp_path, value))


@given(metrics=st.dictionaries(st.text(max_size=4), json_values, max_size=3))
def test_any_metrics(tmp_path: Path, metrics: dict[str, object]) -> None:
    check(written(tmp_path, {"metrics": metrics}))


def check(run: Path) -> None:
    """Read a run, or have it refused with the name of the file."""
    try:
        assert read(run).groups[0].outcomes.n_problems == 1
    except InvalidInput as refusal:
        named = "metrics.json" in str(refusal)
        assert named
    groups = read(run, columns={"score": "m"}, skip_bad=True)
    assert groups.groups[0].outcomes.n_trials >= 1
