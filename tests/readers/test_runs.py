"""Run directories and exports: the same outcomes either way, split and clustered by name."""

import json
from pathlib import Path

import numpy as np
import pytest

from passband import InvalidInput, Outcomes, estimate
from passband.errors import UnknownName
from passband.readers import Log, read
from passband.readers.options import Options
from passband.readers.tables.export import Export
from passband.trials.rows import ScoreRow, Status, TrialRow
from support.runs.commands import run
from support.samples.stores import begin, filled, problem, writing

FORMS = ["jsonl", "csv", "parquet"]


def assert_same(a: Outcomes, b: Outcomes) -> None:
    """Compare everything that a number could depend on, to the last bit."""
    assert list(a.problems) == list(b.problems)
    assert a.trials.tolist() == b.trials.tolist()
    assert a.is_binary == b.is_binary
    if a.is_binary:
        assert a.required_successes().tolist() == b.required_successes().tolist()
    else:
        assert a.graded is not None
        assert b.graded is not None
        assert a.graded.values.tobytes() == b.graded.values.tobytes()
    assert a.status_counts == b.status_counts
    assert (a.clusters and list(a.clusters)) == (b.clusters and list(b.clusters))
    if a.n_trials:
        assert estimate(a, "avg") == estimate(b, "avg")


def exported(directory: Path, form: str) -> Path:
    path = directory.with_suffix(f".{form}")
    done = run("export", directory, "--format", form, "-o", path)
    assert done.code == 0, done.err
    return path


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A run with two scorers, one of them graded, and trials without a score."""
    directory = tmp_path / "mixed"
    rng = np.random.default_rng(0)
    with writing(directory) as store:
        rows = [problem(at, cluster=f"c{at // 2}") for at in range(6)]
        number, (exact, f1) = begin(store, rows, scorers=[("exact", "exact 1"), ("f1", "f1 1")])
        trials = []
        for at in range(6):
            for trial in range(4):
                scores = [
                    ScoreRow(exact, float(rng.integers(2)), answer="7", rule="boxed"),
                    ScoreRow(f1, float(rng.random()), answer="7"),
                ]
                if (at, trial) == (1, 2):
                    scores = [ScoreRow(exact, None, "error", detail="x"), scores[1]]
                if (at, trial) == (2, 0):
                    scores = []
                status: Status = "truncated" if (at, trial) == (3, 3) else "ok"
                kept = scores if status == "ok" else []
                trials.append(TrialRow(at, trial, status, "=7", seed=at, scores=kept))
        store.append(number, trials)
    return directory


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scorer", [None, "f1"])
def test_an_export_gives_what_its_run_gives(mixed: Path, form: str, scorer: str | None) -> None:
    stored = read(mixed, columns={"score": scorer})
    table = read(exported(mixed, form), columns={"score": scorer})
    assert (stored.reader, table.reader) == ("run directory", "export")
    assert_same(stored.only(), table.only())
    if scorer is None:
        expected = {"ok": 21, "scorer_error": 1, "truncated": 1, "unscored": 1}
        assert stored.only().status_counts == expected


@pytest.mark.parametrize("form", FORMS)
def test_stats_prints_the_same_of_a_run_and_of_its_export(mixed: Path, form: str) -> None:
    for options in (["--json"], ["--json", "--score", "f1", "-m", "avg", "-m", "max@2"]):
        printed = [
            json.loads(run("stats", source, *options).out)
            for source in (mixed, exported(mixed, form))
        ]
        (run_group,), (export_group,) = (summary["groups"] for summary in printed)
        for group in (run_group, export_group):
            del group["scorers"]  # an export does not name its main scorer
            for line in group["lines"]:
                del line["scorer"]
            notes = [note for note in group["notes"] if note["code"] != "scorer-errors"]
            group["notes"] = notes  # nor does it hold the details of errors
        assert run_group == export_group


def test_an_export_is_a_log(mixed: Path) -> None:
    path = exported(mixed, "jsonl")
    (log,) = Export().read(path, Options())
    assert isinstance(log, Log)
    assert (log.task, log.model, log.scorers) == ("sums", "tiny", ("score", "f1"))
    assert (log.source.reader, log.source.file) == ("export", str(path))
    assert len(log.source.sha256) == 64
    first = log.trials[0]  # type: ignore[index]
    assert (first.status, first.text, first.scores[0].answer) == ("ok", "=7", "7")
    assert first.scores[0].rule == "boxed"
    assert [problem.cluster for problem in log.problems][:3] == ["c0", "c0", "c1"]


def test_an_export_is_still_a_table(mixed: Path) -> None:
    path = exported(mixed, "csv")
    assert read(path, by="status").by == ("status",)
    assert read(path, columns={"score": "score:f1"}).columns is not None
    with pytest.raises(InvalidInput, match=r"no scorer named 'f2'. It has score, f1"):
        read(path, columns={"score": "f2"})


def test_a_spoilt_export_is_refused(mixed: Path) -> None:
    path = exported(mixed, "jsonl")
    good = path.read_text()
    for old, new, message in (
        ('"status":"ok"', '"status":"lost"', "row 1 has status 'lost'; it must be one of ok"),
        ('"score":', '"score":"x","was":', "row 1 has score 'x', not a number"),
        ('"trial":0', '"trial":"one"', "row 1 has trial 'one', not a whole number"),
    ):
        path.write_text(good.replace(old, new, 1))
        with pytest.raises(InvalidInput, match=message):
            read(path)


# -- what a run directory is asked -----------------------------------------------------------


def test_tasks_are_groups(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    filled(directory, [[1, 0], [1, 1]], task="a")
    filled(directory, [[0, 0], [0.5, 1]], task="b")
    groups = read(directory)
    assert (groups.by, [group.key for group in groups.groups]) == (("task",), [("a",), ("b",)])
    assert [group.task for group in groups.groups] == ["a", "b"]
    assert {group.model for group in groups.groups} == {"tiny"}
    assert [str(remark) for remark in groups.remarks] == [
        "run directory: a scored by exact, b scored by exact", "split by: task",
    ]  # fmt: skip
    with pytest.raises(InvalidInput, match=r"holds several groups, by task \(a, b\)"):
        Outcomes.from_file(directory)
    assert read(directory, threshold=0.6).groups[1].outcomes.is_binary


@pytest.mark.parametrize("role", ["problem", "trial", "status"])
def test_columns_do_not_apply(mixed: Path, role: str) -> None:
    with pytest.raises(InvalidInput, match=rf"--{role}\) does not apply to a run directory"):
        read(mixed, columns={role: "x"})
    done = run("stats", mixed, f"--{role}", "x", "-q")
    assert (done.code, done.out) == (2, "")


def test_by_names_of_the_run_and_of_the_data(mixed: Path) -> None:
    assert read(mixed, by=["task", "model"]).groups[0].key == ("sums", "tiny")
    scorers = read(mixed, by="scorer")
    assert [group.key for group in scorers.groups] == [("exact",), ("f1",)]
    assert [group.outcomes.is_binary for group in scorers.groups] == [True, False]
    by_id = read(mixed, by="id", columns={"score": "f1"})
    assert [group.key for group in by_id.groups] == [(f"p{at}",) for at in range(6)]
    whole = read(mixed, columns={"score": "f1"}).only()
    assert sum(group.outcomes.n_trials for group in by_id.groups) == whole.n_trials
    assert sum(group.outcomes.n_unscored for group in by_id.groups) == whole.n_unscored
    with pytest.raises(UnknownName, match=r"split by 'tsk'. Did you mean 'task'\? Known: task,"):
        read(mixed, by="tsk")


def test_clusters_from_the_data(mixed: Path) -> None:
    assert read(mixed, columns={"cluster": "id"}).only().clusters == [f"p{at}" for at in range(6)]
    with pytest.raises(UnknownName, match=r"clustered by 'idd'. Did you mean 'id'\?"):
        read(mixed, columns={"cluster": "idd"})


def test_a_folder_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not a run directory"):
        read(tmp_path)


def test_an_empty_name_is_no_name(mixed: Path) -> None:
    for role in ("problem", "trial", "score", "status", "cluster"):
        with pytest.raises(InvalidInput, match=rf"--{role}\) is empty; give a name"):
            read(mixed, columns={role: ""})
    assert run("stats", mixed, "--trial", "", "-q").code == 2
