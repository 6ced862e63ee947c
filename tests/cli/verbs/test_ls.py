"""`passband ls` from the outside."""

import json
from pathlib import Path

import pytest

from support.runs.commands import run


@pytest.fixture
def here(folder: Path) -> Path:
    (folder / "tasks").mkdir()
    (folder / "tasks" / "group.yaml").write_text("group: both\ntask: [sums, arithmetic]\n")
    return folder


def test_a_table_of_tasks(here: Path) -> None:
    done = run("ls")
    assert (done.code, done.err) == (0, "")
    rows = {line.split()[0]: line.split() for line in done.out.splitlines()[2:]}
    assert rows["sums"][1:3] == ["task", "sums.yaml"]
    assert rows["arithmetic"][1:] == ["task", "built", "in"]
    assert rows["both"][1:] == ["group", "tasks/group.yaml", "sums,", "arithmetic"]


def test_json(here: Path) -> None:
    done = run("ls", "--json")
    found = {entry["name"]: entry for entry in json.loads(done.out)}
    assert found["sums"]["kind"] == "task"
    assert found["both"]["members"] == ["sums", "arithmetic"]


def test_what_is_listed_can_be_validated(here: Path) -> None:
    listed = [entry["name"] for entry in json.loads(run("ls", "--json").out)]
    # The data of the built-in benchmarks would have to be downloaded.
    local = [name for name in listed if name in ("arithmetic", "both", "sums")]
    assert len(local) == 3
    for name in local:
        assert run("validate", name).code == 0


def test_other_folders(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far = tmp_path / "far"
    far.mkdir()
    (far / "far.yaml").write_text((here / "sums.yaml").read_text().replace("sums", "distant"))
    assert "distant" not in run("ls").out
    monkeypatch.setenv("PASSBAND_TASKS", str(far))
    assert "distant" in run("ls").out


def test_broken_and_hostile_files_are_listed_and_harmless(here: Path) -> None:
    (here / "broken.yaml").write_text("task: broken\ndataset_path: [\n")
    (here / "hostile.yaml").write_text('task: "\\e[2J\\u202eevil"\ndataset_path: json\n')
    done = run("ls")
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
    assert "\\x1b[2J" in done.out
    (line,) = (line for line in done.out.splitlines() if line.startswith("broken"))
    assert line.split()[1] == "broken"
    assert json.loads(run("ls", "--json").out)


def test_wide_groups_are_cut_and_every_column_has_a_heading(here: Path) -> None:
    names = [f"a_task_with_a_long_name_{number}" for number in range(50)]
    (here / "tasks" / "wide.yaml").write_text(f"group: wide\ntask: [{', '.join(names)}]\n")
    done = run("ls")
    head, rule, *rows = done.out.splitlines()
    assert head.split(None, 3)[3] == "members, tags or error"
    assert len(rule.split()) == 4
    (line,) = (row for row in rows if row.startswith("wide"))
    assert line.endswith("...")
    assert len(line) < 160
    entries = {entry["name"]: entry for entry in json.loads(run("ls", "--json").out)}
    assert entries["wide"]["members"] == names


def test_the_diagnostic_of_a_broken_file(here: Path) -> None:
    (here / "broken.yaml").write_text("task: broken\ndataset_path: [\n")
    entries = {entry["name"]: entry for entry in json.loads(run("ls", "--json").out)}
    assert entries["broken"]["diagnostic"].startswith("broken.yaml:3: is not YAML")
    assert entries["sums"]["diagnostic"] is None


def test_tasks_of_lm_eval_are_listed_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passband.tasks.lm_eval_index.lm_eval_tasks", lambda: None)
    done = run("ls", "--lm-eval")
    assert done.code == 2
    assert "--lm-eval: lm-eval is not installed; pip install lm-eval." in done.err
