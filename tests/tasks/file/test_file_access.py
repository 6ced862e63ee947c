"""The files that an untrusted task may name, by every key that names one."""

import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput, Place
from passband.tasks.data.rows import DataSource, read_rows
from passband.tasks.file.file_access import FileAccess
from passband.tasks.file.loader import load_task
from support.runs.commands import run

Read = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a task, beside one that is none of its business."""
    (tmp_path / "home" / "task").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    (tmp_path / "home" / "test.jsonl").write_text('{"a": "secret"}\n')
    (tmp_path / "home" / "task" / "own.jsonl").write_text('{"a": "own"}\n')
    (tmp_path / "here" / "here.jsonl").write_text('{"a": "here"}\n')
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "home"


@pytest.fixture
def read(home: Path) -> Read:
    def rows(path: str, *, trust: bool = False, **options: Any) -> Sequence[dict[str, Any]]:
        place = Place(home / "task" / "t.yaml", 3)
        return read_rows(DataSource(path, place, place.file.parent, None, options, trust), None)

    return rows  # type: ignore[return-value]


def refused(read: Read, message: str, path: str, **options: Any) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        read(path, **options)
    assert caught.value.place is not None
    assert 'secret"' not in str(caught.value)


def test_files_of_the_task_and_of_the_working_folder_are_read(read: Read, home: Path) -> None:
    assert read("own.jsonl") == [{"a": "own"}]
    assert read(str(home / "task" / "own.jsonl")) == [{"a": "own"}]
    assert read("../../here/here.jsonl") == [{"a": "here"}]
    assert read("json", data_files="*.jsonl") == [{"a": "own"}]


OUTSIDE = [
    ("../test.jsonl", {}),
    ("json", {"data_files": "../test.jsonl"}),
    ("json", {"data_files": {"test": ["own.jsonl", "../test.jsonl"]}}),
    ("json", {"data_files": "test.jsonl", "data_dir": ".."}),
    ("json", {"data_files": "link.jsonl"}),
    ("json", {"data_files": "folder/test.jsonl"}),
    ("json", {"data_files": "l*.jsonl"}),
    ("link.jsonl", {}),
    ("..", {}),
    ("folder", {}),
]


@pytest.mark.parametrize(("path", "options"), OUTSIDE)
def test_other_files_need_trust(read: Read, home: Path, path: str, options: Any) -> None:
    (home / "task" / "link.jsonl").symlink_to(home / "test.jsonl")
    (home / "task" / "folder").symlink_to(home)
    refused(read, r"neither below the task's folder .*--trust-task-code", path, **options)
    assert {"a": "secret"} in read(path, trust=True, **options)


def test_patterns_do_not_leave_the_folders(read: Read, home: Path) -> None:
    for pattern in ("../*.jsonl", f"{home}/*.jsonl", "*/../../*.jsonl"):
        refused(read, "leads out of the task's folder", "json", data_files=pattern)
    for pattern in ("../*.jsonl", f"{home}/*.jsonl"):
        assert read("json", trust=True, data_files=pattern) == [{"a": "secret"}]
    for pattern in ("../../here/*.jsonl", f"{home.parent}/here/h*.jsonl"):
        assert read("json", data_files=pattern) == [{"a": "here"}]


@pytest.mark.parametrize(
    "path", ["/proc/self/environ", "/dev/zero", "/dev/stdin", "/sys/kernel/notes", "/run/x"]
)
def test_files_of_the_system_are_no_data(
    read: Read, path: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"delimiter": "\x01", "column_names": ["x"]}
    refused(read, r"--trust-task-code", "csv", data_files=path, **options)
    monkeypatch.chdir("/")  # where everything is below the working folder
    refused(read, r"--trust-task-code", "csv", data_files=path, **options)
    refused(read, r"neither below", "csv", data_files="/etc/passwd", **options)
    monkeypatch.chdir(Path(path).parts[0] + Path(path).parts[1])
    refused(read, r"a file of the system", "csv", data_files=path, **options)


def test_up_and_down_again_is_found_out(read: Read) -> None:
    refused(read, "neither below", "csv", data_files="../" * 30 + "etc/passwd", column_names=["x"])
    refused(read, "neither below", "csv", data_files="~/passwords.csv", column_names=["x"])


def test_pipes_sockets_and_folders_are_no_data(read: Read, home: Path) -> None:
    os.mkfifo(home / "task" / "pipe.jsonl")
    (home / "task" / "folder.jsonl").mkdir()
    refused(read, "pipe.jsonl is a pipe; data are read from regular files", "pipe.jsonl")
    refused(read, "folder.jsonl is a folder", "folder.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(home / "task")  # a socket's path has to be short
        server.bind("s.jsonl")
        refused(read, "s.jsonl cannot be read", "s.jsonl")


def test_hidden_folders_are_private(
    read: Read, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".ssh").mkdir()
    (home / ".ssh" / "keys.jsonl").write_text('{"a": "secret"}\n')
    monkeypatch.chdir(home)
    assert read("../test.jsonl") == [{"a": "secret"}]  # the working folder's own
    refused(read, r"keys\.jsonl is hidden, or in a hidden folder", "../.ssh/keys.jsonl")


def test_without_a_working_folder_the_task_still_has_its_own(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert read("own.jsonl") == [{"a": "own"}]
    refused(read, "neither below", "../test.jsonl")


def test_a_file_of_holes_is_not_read(read: Read, home: Path) -> None:
    with (home / "task" / "huge.jsonl").open("wb") as file:
        file.truncate(1 << 40)
    refused(read, r"huge\.jsonl is 1,099,511,627,776 bytes long and holds", "huge.jsonl")


def test_a_file_that_is_not_there_is_said_to_be_missing(read: Read) -> None:
    refused(read, "there is no data file .*none.jsonl", "none.jsonl")


@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("csv", {"data_files": "file:///etc/passwd"}),
        ("text", {"data_files": "/etc/passwd"}),
        ("text", {"data_files": "own.txt"}),
        ("pandas", {"data_files": "x.pkl"}),
        ("pandas", {}),
        ("org/set", {"data_files": "/etc/passwd"}),
        ("org/set", {"data_files": "../../etc/passwd"}),
        ("org/set", {"data_files": {"test": ["~/x"]}}),
        ("org/set", {"data_dir": "/etc"}),
        ("org/set", {"cache_dir": "/etc"}),
        ("sql", {"con": "sqlite:///x.db"}),
    ],
)
def test_the_hub_reads_no_file_of_ours(read: Read, path: str, options: Any) -> None:
    refused(read, "only with --trust-task-code", path, **options)


def test_the_hub_may_be_asked_for_its_own() -> None:
    reach = FileAccess(Path("task"))
    reach.refuse_remote("gsm8k", {"revision": "main"})
    reach.refuse_remote("org/set", {"data_files": "data/test.parquet", "data_dir": "main"})
    reach.refuse_remote("json", {"data_files": "https://example.org/x.json"})
    FileAccess(Path("task"), True).refuse_remote("text", {"data_files": "/etc/passwd"})


# --- the task file ---------------------------------------------------------------------------

OWN = "task: t\ndoc_to_target: a\nmetric_list: [{metric: exact_match}]\n"
TASK = OWN + "doc_to_text: a\ndataset_path: "


def test_the_command_refuses_and_trust_lifts_it(home: Path) -> None:
    task = home / "task" / "t.yaml"
    task.write_text(f"{TASK}../test.jsonl\n")
    words = ["run", task, "--model", "python:shlex:quote", "--out", home / "run", "-n", 1]
    done = run(*words)
    assert done.code == 2
    assert "t.yaml:5: " in done.err
    assert "--trust-task-code" in done.err
    assert not (home / "run").exists()
    assert run("validate", task).code != 0
    assert run(*words, "--trust-task-code").code == 0


def test_the_environment_is_no_prompt(home: Path) -> None:
    task = home / "task" / "t.yaml"
    text = f"{TASK}csv\n" + "dataset_kwargs: {data_files: /proc/self/environ, "
    task.write_text(text + 'delimiter: "\\x01", column_names: [a]}\n')
    done = run("run", task, "--model", "python:shlex:quote", "--out", home / "run", "-n", 1)
    assert done.code == 2
    assert "a file of the system" in done.err


def test_included_settings_may_be_above_but_nowhere_else(home: Path) -> None:
    task, shared = home / "task" / "t.yaml", home / "shared.yaml"
    shared.write_text("doc_to_text: '{{ a }}'\n")
    own = f"{OWN}dataset_path: own.jsonl\n"
    task.write_text(f"include: ../shared.yaml\n{own}")
    assert load_task(task).load(None)[0].messages[0].content == "own"
    task.write_text(f"include: {shared}\n{own}")
    with pytest.raises(InvalidInput, match=r"include: .*only with --trust-task-code"):
        load_task(task)
    assert load_task(task, trust=True).name == "t"
    task.write_text(f"include: ../../../../../../../../proc/self/environ\n{own}")
    with pytest.raises(InvalidInput, match=r"include: .* a file of the system"):
        load_task(task)
    os.mkfifo(home / "task" / "pipe.yaml")
    task.write_text(f"include: pipe.yaml\n{own}")
    with pytest.raises(InvalidInput, match="include: no file"):
        load_task(task)
