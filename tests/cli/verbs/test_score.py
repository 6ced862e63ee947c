"""`passband score` from the outside."""

import json
from pathlib import Path
from typing import Any

import pytest

from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from passband.trials.store import Store
from support.runs.commands import Done, run
from support.samples.stores import begin, forget, recount, writing


@pytest.fixture
def directory(ask) -> Path:
    done = ask("-q")
    assert done.code == 0, done.err
    return Path("run")


def found(done: Done) -> list[dict[str, Any]]:
    assert done.code == 0, done.err
    rows = []
    for group in json.loads(done.out)["summary"]["groups"]:
        for counts in group["scorers"]:
            (line,) = [line for line in group["lines"] if line["scorer"] == counts["name"]]
            statuses = {name: n for name, n in counts.items() if name != "name" and n}
            row = {"task": group["task"], "scorer": counts["name"], "counts": statuses}
            rows.append(row | {"estimate": line["estimate"]})
    return rows


def test_a_second_scorer_is_added(directory: Path) -> None:
    done = run("score", directory, "--scorer", "numeric", "--extract", "last_number")
    assert done.code == 0, done.err
    head, _, own, new = done.out.splitlines()
    assert head.split() == [
        "task", "scorer", "mean", "95%", "interval", "scored", "no", "answer", "error", "timeout",
    ]  # fmt: skip
    assert own.split()[:2] == ["sums", "exact_match"]
    assert new.split()[:2] == ["sums", "numeric"]
    assert own.split()[2:] == new.split()[2:]
    assert done.err == "\n24 scores added to run\n"
    again = run("score", directory, "--scorer", "numeric", "--extract", "last_number")
    assert again.out == done.out
    assert again.err == "\n0 scores added to run\n"


def test_json(directory: Path) -> None:
    done = run("score", directory, "--scorer", "numeric", "--extract", "last_number", "--json")
    assert done.err == ""
    own, new = found(done)
    assert json.loads(done.out)["added"] == 24
    assert (own["task"], own["scorer"]) == ("sums", "exact_match")
    assert own["counts"] == {"ok": 24}
    assert own["estimate"]["low"] < own["estimate"]["value"] < own["estimate"]["high"]
    assert new["scorer"] == "numeric"


def test_filters_that_are_left_out_are_named(directory: Path) -> None:
    for options in (("-q",), ("--json",), ()):
        done = run("score", directory, "--scorer", "numeric", *options)
        assert done.code == 0
        assert done.err.splitlines()[0] == (
            "warning: numeric scored whole completions, without the task's filters (extract); "
            "--extract RULES finds the answer in them."
        )
    assert "warning" not in run("score", directory, "-q").err


def test_the_new_scorer_can_be_the_main_one(directory: Path) -> None:
    run("score", directory, "--scorer", "f1", "--main")
    with Trials(directory) as trials:
        assert [scorer.name for scorer in trials.run("sums").scorers] == ["f1", "exact_match"]
    own = found(run("score", directory, "--json"))
    assert [each["scorer"] for each in own] == ["exact_match", "f1"]  # kept, but no longer first
    assert own[0]["counts"] == own[1]["counts"] == {"ok": 24}


def test_the_new_main_scorer_stays_so_in_the_next_run(directory: Path, ask) -> None:
    """The next run scores new trials by it too, until the task's own order is restored."""
    run("score", directory, "--scorer", "f1", "--main")
    for options in ((), ("-n", 4)):
        assert ask("-q", *options).code == 0
        with Trials(directory) as trials:
            assert [scorer.name for scorer in trials.run("sums").scorers] == ["f1", "exact_match"]
    scored = found(run("score", directory, "--scorer", "numeric", "--json"))
    assert [each["scorer"] for each in scored] == ["f1", "exact_match", "numeric"]
    assert len({str(each["counts"]) for each in scored}) == 1  # none has fewer trials
    run("score", directory)
    assert ask("-q").code == 0
    with Trials(directory) as trials:
        assert trials.run("sums").scorers[0].name == "exact_match"


def test_quiet_prints_only_the_table(directory: Path) -> None:
    assert run("score", directory, "-q").err == ""


def test_the_task_may_have_changed(directory: Path) -> None:
    text = Path("sums.yaml").read_text()
    Path("sums.yaml").write_text(text.replace("last_number", "boxed"))
    (own,) = found(run("score", directory, "--task", "sums.yaml", "--json"))
    assert own["counts"] == {"no_answer": 24}
    assert own["estimate"]["value"] == 0.0
    Path("sums.yaml").write_text(text)
    done = run("score", directory, "--json")
    assert json.loads(done.out)["added"] == 0
    assert found(done)[0]["counts"] == {"ok": 24}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scorer", "numerik"], "'numeric'?"),
        (["--scorer", "numeric", "--extract", "boxt"], "boxed"),
        (["--task", "other.yaml"], "other.yaml"),
        (["--extract", "boxed"], "name it with --scorer"),
        (["--main"], "name it with --scorer"),
    ],
)
def test_what_is_refused(directory: Path, options: list[str], words: str) -> None:
    done = run("score", directory, *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert found(run("score", directory, "--json"))[0]["counts"] == {"ok": 24}


def test_a_scorer_named_twice_is_used_once(directory: Path) -> None:
    done = run("score", directory, "--scorer", "numeric", "--scorer", "numeric", "--json")
    assert [each["scorer"] for each in found(done)] == ["exact_match", "numeric"]


def test_a_task_that_is_not_in_the_run(directory: Path) -> None:
    text = Path("sums.yaml").read_text().replace("task: sums", "task: products")
    Path("products.yaml").write_text(text)
    done = run("score", directory, "--task", "products.yaml")
    assert done.code == 2
    assert "there are no trials of 'products' here, only of sums" in done.err


def test_a_run_without_trials(folder: Path) -> None:
    store = Store(Path("run"), low_water=0)
    store.close()
    done = run("score", "run")
    assert (done.code, done.out) == (2, "")
    assert "run holds no trials yet" in done.err


def test_a_task_without_trials_has_no_mean(ask) -> None:
    ask("-q", "--limit", "1", "-n", "1")
    with writing(Path("run")) as store:
        forget(store, 1, ("ok",))
    done = run("score", "run")
    assert done.code == 0, done.err
    assert done.out.splitlines()[2].split() == ["sums", "exact_match", "-", "-", "0", "0", "0", "0"]


def test_a_run_that_is_being_written_to(directory: Path) -> None:
    with writing(directory):
        done = run("score", directory)
    assert done.code == 5
    assert "in use by process" in done.err


def test_what_was_cut_off(directory: Path) -> None:
    with writing(directory) as store:
        store.append(1, [TrialRow(0, 9, "truncated", "it is 0")])
    assert found(run("score", directory, "--json"))[0]["counts"] == {"ok": 24}
    (scored,) = found(run("score", directory, "--truncated", "score", "--json"))
    assert scored["counts"] == {"ok": 25}
    (left,) = found(run("score", directory, "--truncated", "leave", "--json"))
    assert left["counts"] == {"ok": 24}


def test_a_problem_that_was_lost_does_not_shift_the_others(directory: Path) -> None:
    """As after salvaging: answers must not be compared with the next problem's target."""
    with writing(directory) as store, store.transaction():
        for table in ("problem", "trial", "score"):
            store._connection.execute(f"DELETE FROM {table} WHERE problem=2")
        recount(store)
    own, new = found(
        run("score", directory, "--scorer", "numeric", "--extract", "last_number", "--json")
    )
    assert new["estimate"]["value"] == own["estimate"]["value"] > 0.3


def test_not_a_run(folder: Path) -> None:
    done = run("score", "rows")
    assert done.code == 2
    assert "is not a run directory" in done.err
    with writing(Path("run")) as store:
        begin(store)
    assert run("score", "run").code == 0
