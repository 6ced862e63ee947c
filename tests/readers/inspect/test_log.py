"""Folders of logs of Inspect: each log is one of its own; attempts and copies count once."""

import json
from pathlib import Path
from typing import Any

import pytest

from passband import InvalidInput, read
from passband.readers.inspect.log import InspectLog
from support.runs.commands import run
from support.samples.inspect_logs import failed, grid, sample, write_eval, write_json, write_killed

GOOD, POOR = grid({"a": ["C", "C"], "b": ["C", "I"]}), grid({"a": ["I", "C"], "b": ["I", "I"]})


def spec(task: str = "sums", model: str = "M", task_id: str = "one", **more: Any) -> dict[str, Any]:
    return {"task": task, "model": model, "task_id": task_id, **more}


def test_every_file_is_a_log(tmp_path: Path) -> None:
    write_eval(tmp_path / "1.eval", GOOD, eval=spec())
    write_eval(tmp_path / "2.eval", POOR, eval=spec(model="N"))
    write_json(tmp_path / "3.json", POOR, eval=spec(task="words"))
    (tmp_path / "logs.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("x")
    groups = read(tmp_path)
    assert groups.by == ("task", "model")
    assert [(one.key, int(one.outcomes.required_successes().sum())) for one in groups.groups] == [
        (("sums", "M"), 3), (("sums", "N"), 1), (("words", "M"), 1),
    ]  # fmt: skip
    compared = run("compare", tmp_path, "--task", "sums", "-m", "avg", "--json")
    (task,) = json.loads(compared.out)["tasks"]
    assert (task["models"], task["comparisons"][0]["value"]) == (["M", "N"], -0.5)


def test_of_several_attempts_the_one_that_got_furthest_counts(tmp_path: Path) -> None:
    write_killed(tmp_path / "1.eval", [POOR[:2]], eval=spec())
    write_eval(tmp_path / "2.eval", GOOD, eval=spec())
    write_killed(tmp_path / "3.eval", [POOR[:1]], eval=spec())
    groups = read(tmp_path)
    assert groups.only().required_successes().sum() == 3
    (remark,) = [one for one in groups.remarks if one.important]
    assert "2 logs are left out, as attempts at an evaluation" in remark.text
    assert "1.eval, 3.eval" in remark.text


def test_a_copy_in_the_other_format_counts_once(tmp_path: Path) -> None:
    write_eval(tmp_path / "1.eval", GOOD)
    write_json(tmp_path / "1.json", GOOD)
    assert read(tmp_path).only().n_trials == 4


def test_two_runs_of_one_task_and_model_are_not_pooled(tmp_path: Path) -> None:
    write_eval(tmp_path / "first.eval", GOOD, eval=spec(task_id="one"))
    write_eval(tmp_path / "second.eval", POOR, eval=spec(task_id="two"))
    groups = read(tmp_path)
    assert (groups.by, [group.key for group in groups.groups]) == (
        ("log",), [("first.eval",), ("second.eval",)],
    )  # fmt: skip
    with pytest.raises(InvalidInput, match="holds several groups, by log"):
        groups.only()
    compared = run("compare", tmp_path, "-m", "avg", "--json")
    (task,) = json.loads(compared.out)["tasks"]
    assert task["models"] == ["first.eval", "second.eval"]
    assert run("stats", tmp_path, "--by", "level", "-q").code == 0
    assert read(tmp_path, by="scorer").by == ("log", "scorer")


def test_a_log_without_an_id_is_nobodys_attempt(tmp_path: Path) -> None:
    for name in ("1", "2"):
        write_eval(tmp_path / f"{name}.eval", GOOD, eval=spec(task_id=""))
    assert len(read(tmp_path).groups) == 2


def test_a_bad_file_is_named_or_left_out(tmp_path: Path) -> None:
    write_eval(tmp_path / "1.eval", GOOD)
    (tmp_path / "2.eval").write_bytes(b"nothing")
    with pytest.raises(InvalidInput, match=r"2\.eval: is not a log of Inspect"):
        read(tmp_path)
    groups = read(tmp_path, skip_bad=True)
    assert groups.only().n_trials == 4
    assert any("left out 1 file that cannot be read (file 2)" in str(r) for r in groups.remarks)
    (tmp_path / "1.eval").unlink()
    with pytest.raises(InvalidInput, match="found no trials"):
        read(tmp_path, skip_bad=True)


def test_other_folders_are_not_taken(tmp_path: Path) -> None:
    assert not InspectLog().sniff(tmp_path)
    (tmp_path / "x.json").write_text('{"eval": 1}')
    (tmp_path / "deep").mkdir()
    write_eval(tmp_path / "deep" / "1.eval", [sample("a")])
    assert not InspectLog().sniff(tmp_path)


@pytest.mark.parametrize(("form", "ending"), [("eval", "eval"), ("inspect-json", "json")])
def test_what_is_imported_and_written_again_is_the_same(
    tmp_path: Path, form: str, ending: str
) -> None:
    records = [*grid({"a": ["C", "P", "I"], "b": ["N", "C"], "c": ["C"]}), failed("c", 2)]
    path = write_eval(tmp_path / "x.eval", records)
    assert run("import", path, "-o", tmp_path / "run").code == 0
    again = tmp_path / f"again.{ending}"
    assert run("export", tmp_path / "run", "--format", form, "-o", again).code == 0
    first, last = read(path).only(), read(again).only()
    assert list(first.problems) == list(last.problems)
    assert first.trials.tolist() == last.trials.tolist()
    assert first.graded is not None
    assert last.graded is not None
    assert first.graded.values.tolist() == last.graded.values.tolist()
    assert first.status_counts["errored"] == last.status_counts["errored"] == 1
