"""Reports of SWE-bench: a trial per report, errors without a score, several reports as trials."""

from pathlib import Path

import pytest

from passband import InvalidInput, Outcomes, read
from support.runs.commands import run
from support.samples.log_samples import SWE_BENCH, Sample, document, folder, report

SAMPLE = Sample(folder(SWE_BENCH), 9, 4, 3, reader="swe-bench")


def counts(outcomes: Outcomes) -> dict[str, list[int]]:
    return {name: found.tolist() for name, found in outcomes.unscored.items()}


def test_a_report_is_a_trial_of_each_instance(tmp_path: Path) -> None:
    path = document("org__m-4.1.r1.json", SWE_BENCH["org__m.r1.json"])(tmp_path)
    groups = read(path)
    (group,) = groups.groups
    assert (group.task, group.model) == ("SWE-bench", "org__m-4.1")
    scores = dict(
        zip(group.outcomes.problems, group.outcomes.required_successes().tolist(), strict=True)
    )
    assert scores == {f"a__b-{number}": int(number == 1) for number in range(1, 7)}
    trials = dict(zip(group.outcomes.problems, group.outcomes.trials.tolist(), strict=True))
    assert [key for key, number in trials.items() if number] == ["a__b-1", "a__b-2", "a__b-6"]
    assert {name: sum(found) for name, found in counts(group.outcomes).items()} == {
        "errored": 2, "missing": 1,
    }  # fmt: skip
    texts = [str(remark) for remark in groups.remarks if remark.important]
    assert [text.partition(",")[0] for text in texts] == [
        "no score: 1 instance with an error",
        "no score: 1 instance in infra_failure_ids; SWE-bench counts them as unresolved",
    ]


def test_as_failures_the_share_is_that_of_swe_bench(tmp_path: Path) -> None:
    """SWE-bench divides by all instances, those without a prediction among them."""
    path = document("m.r1.json", SWE_BENCH["org__m.r1.json"])(tmp_path)
    shown = run("stats", path, "-m", "avg", "--policy", "fail", "--format", "csv", "-q").out
    header, row = shown.splitlines()
    value = dict(zip(header.split(","), row.split(","), strict=True))["value"]
    assert float(value) == pytest.approx(1 / 6)


def test_a_folder_holds_trials_of_each_model(tmp_path: Path) -> None:
    other = {"N.r1.json": report(resolved=["a__b-1"]), "notes.json": {"x": 1}}
    groups = read(folder({**SWE_BENCH, **other})(tmp_path))
    assert [group.model for group in groups.groups] == ["N", "org__m"]
    outcomes = groups.groups[1].outcomes
    by_key = dict(zip(outcomes.problems, outcomes.trials.tolist(), strict=True))
    assert by_key == {
        "a__b-1": 2, "a__b-2": 2, "a__b-3": 1, "a__b-4": 1, "a__b-5": 1, "a__b-6": 2,
    }  # fmt: skip
    assert any("2 reports (org__m.r1.json, org__m.r2.json) are read" in str(remark)
               for remark in groups.remarks)  # fmt: skip


def test_a_report_is_not_counted_twice(tmp_path: Path) -> None:
    files = {"m.r1.json": SWE_BENCH["org__m.r1.json"], "m.copy.json": SWE_BENCH["org__m.r1.json"]}
    with pytest.raises(InvalidInput, match=r"m.copy.json and m.r1.json are the same report"):
        read(folder(files)(tmp_path))


def test_an_instance_has_one_outcome(tmp_path: Path) -> None:
    path = document("m.r1.json", report(resolved=["a"], unresolved=["b", "a"]))(tmp_path)
    with pytest.raises(InvalidInput, match="'a' is in resolved_ids and in unresolved_ids"):
        read(path)


def test_a_report_that_cannot_be_read_is_left_out_on_request(tmp_path: Path) -> None:
    bad = {**SWE_BENCH["org__m.r1.json"], "resolved_ids": [1]}
    path = folder({"org__m.r0.json": bad, **SWE_BENCH})(tmp_path)
    with pytest.raises(InvalidInput, match=r"r0.json: resolved_ids must be a list of texts; got 1"):
        read(path)
    groups = read(path, skip_bad=True)
    assert "left out 1 report that cannot be read (report 1)" in str(groups.remarks[1])
    assert int(groups.groups[0].outcomes.trials.sum()) == 9


def test_a_long_report_is_recognized_by_its_beginning(tmp_path: Path) -> None:
    instances = [f"repository__project-{number:06}" for number in range(20_000)]
    path = document("m.r1.json", report(resolved=instances))(tmp_path)
    groups = read(path)
    assert (groups.reader, groups.only().n_problems) == ("swe-bench", 20_000)
