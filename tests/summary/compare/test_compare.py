"""Comparisons from sources: which model is which, task by task, and what is left out."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from passband import InvalidInput, Outcomes, compare
from passband.errors import UnknownName
from passband.readers import Groups, read
from passband.readers.groups import Group
from passband.readers.run_counts import RunTally
from passband.stats.decision.family import family_of
from passband.stats.decision.ranking.simultaneous import holm
from passband.summary.compare.compare import ComparisonSummary, compare_sources
from passband.summary.compare.models import ComparisonOptions
from passband.summary.compare.remarks import sandbox_remarks
from support.runs.commands import run
from support.samples.inspect_logs import sample, write_eval
from support.samples.stores import filled

METRIC = ComparisonOptions(("pass@1",))


def wins(seed: int, problems: int = 8) -> list[list[float]]:
    return np.random.default_rng(seed).integers(0, 2, (problems, 4)).astype(float).tolist()


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Two run directories; both have the task sums, each one more of its own."""
    a, b = tmp_path / "a", tmp_path / "b"
    for number, (directory, tasks) in enumerate({a: ("sums", "odd"), b: ("even", "sums")}.items()):
        for task in tasks:
            filled(directory, wins(number + len(task)), task=task)
    return a, b


def table(path: Path, head: str, rows: Sequence[tuple[object, ...]]) -> Path:
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def tasks(summary: ComparisonSummary) -> dict[str | None, tuple[str, ...]]:
    return {task.task: task.models for task in summary.tasks}


def important(summary: ComparisonSummary) -> list[str]:
    return [str(remark) for remark in summary.remarks if remark.important]


def test_runs_are_compared_task_by_task(runs: tuple[Path, Path]) -> None:
    summary = compare_sources(runs, METRIC)
    assert tasks(summary) == {"sums": ("a", "b")}
    assert important(summary) == [
        "task odd is only in a and left out", "task even is only in b and left out",
    ]  # fmt: skip
    sides = [
        next(group.outcomes for group in read(directory).groups if group.task == "sums")
        for directory in runs
    ]
    assert summary.tasks[0].comparisons == tuple(family_of([compare(*sides, "pass@1")]))  # type: ignore[arg-type]


def test_every_shared_task_has_its_row(runs: tuple[Path, Path]) -> None:
    filled(runs[0], wins(9), task="even")
    summary = compare_sources(runs, METRIC)
    assert tasks(summary) == {"even": ("a", "b"), "sums": ("a", "b")}
    done = run("compare", *runs, "-m", "pass@1")
    assert done.code == 0
    assert [line.split()[:2] for line in done.out.splitlines()[2:]] == [
        ["even", "pass@1"], ["sums", "pass@1"],
    ]  # fmt: skip
    assert "task odd is only in a" in done.err
    assert "task odd is only in a" in run("compare", *runs, "-q").err
    details = run("compare", *runs, "-m", "pass@1", "--details").err
    assert "even / pass@1: 8 problems count" in details
    rows = run("compare", *runs, "-m", "pass@1", "--format", "csv", "-q").out.splitlines()
    assert [row.split(",")[0] for row in rows] == ["task", "even", "sums"]
    whole = json.loads(run("compare", *runs, "-m", "pass@1", "--json").out)
    assert [task["task"] for task in whole["tasks"]] == ["even", "sums"]


def test_verdicts_allow_for_all_tasks_and_metrics(runs: tuple[Path, Path]) -> None:
    filled(runs[0], wins(9), task="even")
    summary = compare_sources(runs, ComparisonOptions(("pass@1,4", "pass^2")))
    found = [one for task in summary.tasks for one in task.comparisons]
    assert [one.family for one in found] == [6] * 6
    assert [one.p_adjusted for one in found] == holm([one.p_value or 1.0 for one in found])
    json_tasks = json.loads(json.dumps(summary.as_json()))["tasks"]
    written = [one for task in json_tasks for one in task["comparisons"]]
    assert [one["p_adjusted"] for one in written] == [one.p_adjusted for one in found]
    assert {one["family"] for one in written} == {6}


def test_rankings_allow_for_all_tasks_and_metrics(runs: tuple[Path, Path], tmp_path: Path) -> None:
    filled(tmp_path / "c", wins(5), task="sums")
    summary = compare_sources([*runs, tmp_path / "c"], ComparisonOptions(("pass@1", "pass@4")))
    (task,) = [task for task in summary.tasks if task.task == "sums"]
    assert [one.family for one in task.rankings] == [2, 2]
    pairs = [pair for one in task.rankings for pair in one.pairs]
    assert [pair.p_holm for pair in pairs] == holm([pair.p_value or 1.0 for pair in pairs])
    alone = compare_sources([*runs, tmp_path / "c"], METRIC).tasks[0].rankings[0]
    assert task.rankings[0].reach > alone.reach


def test_tasks_can_be_chosen(runs: tuple[Path, Path]) -> None:
    assert tasks(compare_sources(runs, METRIC, tasks=["sums"])) == {"sums": ("a", "b")}
    assert important(compare_sources(runs, METRIC, tasks=["sums"])) == []
    with pytest.raises(UnknownName, match=r"no task named 'sum'. Did you mean 'sums'\? Known: "):
        compare_sources(runs, METRIC, tasks=["sum"])
    with pytest.raises(InvalidInput, match="no task was asked of two models: a has odd"):
        compare_sources(runs, METRIC, tasks=["odd"])
    assert run("compare", *runs, "--task", "sums", "--task", "odd").code == 0


def test_the_same_run_is_recognized(runs: tuple[Path, Path], tmp_path: Path) -> None:
    for other in (f"{runs[0]}/", runs[0] / ".." / "a", runs[0]):
        done = run("compare", runs[0], other)
        assert (done.code, done.out) == (2, "")
        assert "are the same; a model cannot be compared with itself" in done.err


def test_one_task_each_is_compared_under_other_names(tmp_path: Path) -> None:
    a = filled(tmp_path / "a", wins(1), task="short")
    b = filled(tmp_path / "b", wins(2), task="long")
    summary = compare_sources([a, b], METRIC)
    assert tasks(summary) == {None: ("a", "b")}
    assert "different names, short and long" in important(summary)[0]


def test_different_scorers_are_named(tmp_path: Path) -> None:
    rows = [sample(f"p{n}", value="CI"[n % 2]) for n in range(6)]
    others = [{**row, "scores": {"rating": {"value": n}}} for n, row in enumerate(rows)]
    a, b = write_eval(tmp_path / "a.eval", rows), write_eval(tmp_path / "b.eval", rows[:5])
    c = write_eval(tmp_path / "c.eval", others, eval={"scorers": [{"name": "rating"}]})
    metric = ComparisonOptions(("avg",))
    (remark,) = important(compare_sources([a, c], metric))
    assert "scored by match and rating, which may differ in scale" in remark
    assert not important(compare_sources([a, b], metric))


ROWS = [
    (m, t, p, (p * 7 + len(m + t)) % 3 > 0) for m in ("x", "yy") for t in "uv" for p in range(6)
]


def test_different_sandboxes_are_named() -> None:
    def reading(model: str, *sandboxes: str) -> Groups:
        tally = RunTally("code", {}, sandboxes=sandboxes)
        outcomes = Outcomes.from_counts([1], trials=2)
        return Groups(model, (), (Group((), outcomes, "t", model, tally=tally),))

    one, other = reading("a", "numpy 2.0"), reading("b", "numpy none")
    (remark,) = sandbox_remarks([one, other], ["t"])
    assert "t: programs ran in different sandboxes" in str(remark)
    assert str(remark).endswith("numpy 2.0 | numpy none")
    assert not sandbox_remarks([one, one, reading("judged")], ["t"])


def test_other_problems_under_the_same_ids_are_named(tmp_path: Path) -> None:
    a, b, c = (
        write_eval(tmp_path / f"{name}.eval", [sample(n, 1, "C", target=target) for n in range(4)])
        for name, target in (("a", "4"), ("b", "5"), ("c", "4"))
    )

    def targets_note(*sources: Path, paired: bool = True) -> list[str]:
        (task,) = compare_sources(sources, ComparisonOptions(paired=paired)).tasks
        (first, *_) = task.comparisons
        notes = [note.text for note in first.notes if note.code == "different-targets"]
        assert (first.decision.verdict == "not-comparable") == bool(notes)
        return notes

    (text,) = targets_note(a, b)
    assert "4 of 4 problems have one id but different targets (the first is '0')" in text
    assert not targets_note(a, c)
    assert not targets_note(a, b, paired=False)

    d, e = tmp_path / "d.csv", tmp_path / "e.csv"
    d.write_text("problem,score,target\n" + "".join(f"{n},1,4\n" for n in range(4)), "utf-8")
    e.write_text(d.read_text("utf-8").replace(",4", ",5"), "utf-8")
    (text,) = targets_note(d, e)
    assert "4 of 4 problems have one id but different targets" in text


def test_models_and_tasks_in_one_file(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "model,task,problem,passed", ROWS)
    assert tasks(compare_sources([path], METRIC)) == {"u": ("x", "yy"), "v": ("x", "yy")}
    swapped = compare_sources([path], METRIC, by="task")
    assert tasks(swapped) == {"x": ("u", "v"), "yy": ("u", "v")}


def test_any_column_can_tell_models_apart(tmp_path: Path) -> None:
    rows = [(phase, p, t, (p + t + len(phase)) % 2) for phase in ("early", "late")
            for p in range(6) for t in range(3)]  # fmt: skip
    path = table(tmp_path / "t.csv", "phase,problem,trial,passed", rows)
    done = run("compare", path, "--by", "phase", "-m", "pass@1")
    assert done.out.split()[:3] == ["metric", "early", "late"]
    refused = run("compare", path)
    assert (refused.code, refused.out) == (2, "")
    known = table(tmp_path / "k.csv", "checkpoint,problem,trial,passed", rows)
    assert tasks(compare_sources([known], METRIC)) == {None: ("early", "late")}


def test_a_run_id_is_another_name_of_the_model(tmp_path: Path) -> None:
    rows = [(m, f"id-{m}", p, (p + len(m)) % 2) for m in ("x", "yy") for p in range(6)]
    path = table(tmp_path / "t.csv", "model,run_id,problem,passed", rows)
    assert tasks(compare_sources([path], METRIC)) == {None: ("x", "yy")}
    filters = [(m, f, p, (p + len(m + f)) % 2) for m in ("x", "yy") for f in "fg" for p in range(6)]
    path = table(tmp_path / "f.csv", "model,filter,problem,passed", filters)
    assert tasks(compare_sources([path], METRIC)) == {"f": ("x", "yy"), "g": ("x", "yy")}


def test_tasks_alone_are_not_models(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "task,problem,passed", [row[1:] for row in ROWS[:12]])
    with pytest.raises(InvalidInput, match="one source must hold several models"):
        compare_sources([path], METRIC)
    directory = tmp_path / "run"
    for task in "uv":
        filled(directory, wins(3), task=task)
    with pytest.raises(InvalidInput, match="one source must hold several models"):
        compare_sources([directory], METRIC)


def test_names_of_models(tmp_path: Path) -> None:
    head = "model,problem,passed"
    files = {m: [(m, p, (p + len(m)) % 2) for p in range(6)] for m in ("gpt", "llama")}
    a, b = (table(tmp_path / f"{n}.csv", head, rows) for n, rows in enumerate(files.values()))
    assert compare_sources([a, b], METRIC).tasks[0].models == ("gpt", "llama")
    again = table(tmp_path / "2.csv", head, files["gpt"])
    assert compare_sources([a, again], METRIC).tasks[0].models == ("0", "2")
    both = table(tmp_path / "both.csv", head, [*files["gpt"], *files["llama"]])
    three = compare_sources([both, again], METRIC).tasks[0]
    assert three.models == ("both: gpt", "both: llama", "2")
    assert len(three.rankings) == 1


def test_status_and_cluster_columns(tmp_path: Path) -> None:
    head, rows = "item,go,ok,fate,kind", [(p, 0, p % 2, "ok", p // 2) for p in range(6)]
    a = table(tmp_path / "a.csv", head, rows)
    b = table(tmp_path / "b.csv", head, [*rows, (0, 1, "", "lost", 0)])
    named = ("--trial", "go", "--score", "ok", "--status", "fate", "--cluster", "kind")
    done = run("compare", a, b, *named, "-m", "pass@1")
    assert done.code == 0, done.err
    assert "cluster = kind, status = fate" in done.err
    assert run("compare", a, b, *named, "--policy", "error").code == 2


def test_three_models_are_not_unpaired(tmp_path: Path) -> None:
    rows = [(m, p, (p + len(m)) % 2) for m in ("x", "yy", "zzz") for p in range(6)]
    path = table(tmp_path / "t.csv", "model,problem,passed", rows)
    with pytest.raises(InvalidInput, match="three or more models are compared on the problems"):
        compare_sources([path], ComparisonOptions(("pass@1",), paired=False))


def test_different_pairs_of_models_share_a_table(tmp_path: Path) -> None:
    directories = []
    for name, held in {"a": "uv", "b": "uw", "c": "vw"}.items():
        for task in held:
            filled(tmp_path / name, wins(len(name) + ord(task)), task=task)
        directories.append(tmp_path / name)
    done = run("compare", *directories, "-m", "pass@1", "-q")
    assert [line.split()[:4] for line in done.out.splitlines()[2:]] == [
        ["u", "a", "b", "pass@1"], ["v", "a", "c", "pass@1"], ["w", "b", "c", "pass@1"],
    ]  # fmt: skip


def test_the_json_is_plain(runs: tuple[Path, Path]) -> None:
    found = compare_sources(runs, METRIC).as_json()
    assert json.loads(json.dumps(found)) == found
    (task,) = found["tasks"]
    assert set(task) == {"task", "models", "comparisons", "rankings", "abilities"}
    assert isinstance(task["comparisons"][0]["flips"], list)
    assert {"over", "level", "paired", "policy", "remarks"} <= set(found)


def test_outcomes_are_the_same_as_in_python(tmp_path: Path) -> None:
    a, b = (table(tmp_path / f"{n}.csv", "problem,trial,score",
                  [(p, t, int(s)) for p, row in enumerate(wins(n)) for t, s in enumerate(row)])
            for n in (1, 2))  # fmt: skip
    (task,) = compare_sources([a, b], METRIC).tasks
    expected = compare(Outcomes.from_file(a), Outcomes.from_file(b), "pass@1")
    assert task.comparisons == tuple(family_of([expected]))


def test_trials_that_were_stopped_by_their_outcome_are_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    paths = tmp_path / "retried.csv", tmp_path / "fixed.csv"
    for path in paths:
        rows = ["problem,score"]
        for problem, rate in enumerate(rng.beta(1.0, 1.0, 60)):
            scores = (rng.random(8) < rate).astype(int).tolist()
            if path.stem == "retried" and 1 in scores:
                scores = scores[: scores.index(1) + 1]
            rows += [f"p{problem},{score}" for score in scores]
        path.write_text("\n".join(rows) + "\n")
    (task,) = compare_sources(paths, METRIC).tasks
    (compared,) = task.comparisons
    (note,) = (note for note in compared.notes if note.code == "stopped-by-outcome")
    assert "tried until its first success" in note.text
    assert note.text.startswith("a: ")
    assert compared.decision.verdict == "not-comparable"
