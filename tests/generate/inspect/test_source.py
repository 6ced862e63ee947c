"""Tasks of Inspect by name, and names that are of none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from inspect_ai import SampleSource, Task

from passband.errors import InvalidInput, UnknownName
from passband.generate.inspect.source import load_inspect_tasks
from passband.generate.registry import Connection
from passband.run.tasks import load_tasks
from support.samples import inspect_tasks

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
FILE = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample

@task
def first(count: int = 2):
    return Task([Sample(f"{i}") for i in range(count)])

@task(name="other")
def second():
    return Task([Sample("a", id="x")])

@task
def broken():
    raise RuntimeError("no data here")
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some_tasks.py"
    path.write_text(FILE)
    return path


def test_a_task_of_a_file_is_named_by_its_function(file: Path) -> None:
    (task,) = load_inspect_tasks(f"{file}@first", {"count": 3})
    assert (task.name, list(task.samples), task.arguments) == (
        "first",
        ["1", "2", "3"],
        {"count": 3},
    )
    assert all(sample.id is None for sample in task.task.dataset)  # the task itself is untouched
    (other,) = load_inspect_tasks(f"{file}@other")
    assert (other.name, list(other.samples)) == ("other", ["x"])


def test_a_file_may_hold_several_tasks(file: Path) -> None:
    file.write_text(FILE.replace("@task\ndef broken", "def broken"))
    names = [task.name for task in load_tasks(f"inspect:{file}")]
    assert names == ["first", "other"]
    assert len(load_inspect_tasks(str(file), {"count": 5})[0].samples) == 5  # where it is taken
    with pytest.raises(UnknownName, match="-T cuont"):
        load_inspect_tasks(str(file), {"cuont": 5})


def test_a_function_that_is_not_registered_gives_its_task_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inspect_tasks, "bare", lambda: Task(inspect_tasks.sums(1)), raising=False)
    inspect_tasks.bare.__name__ = "bare"  # type: ignore[attr-defined]
    (task,) = load_inspect_tasks("support.samples.inspect_tasks:bare")
    assert (task.name, list(task.samples)) == ("bare", ["p0"])


def test_arguments_that_a_task_does_not_have_are_refused(file: Path) -> None:
    with pytest.raises(UnknownName, match=r"-T cuont: .* Did you mean 'count'"):
        load_inspect_tasks(f"{file}@first", {"cuont": 3})
    with pytest.raises(UnknownName, match="It takes: nothing"):
        load_inspect_tasks("support.samples.inspect_tasks:two_turns", {"count": 3})


def test_what_a_tasks_code_raises_is_reported(file: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be loaded: RuntimeError: no data here"):
        load_inspect_tasks(f"{file}@broken")


def test_a_syntax_error_is_reported_as_such(tmp_path: Path) -> None:
    path = tmp_path / "slip.py"
    path.write_text("def f(:\n")
    with pytest.raises(InvalidInput, match=r"cannot be loaded: SyntaxError.*slip\.py, line 1"):
        load_inspect_tasks(str(path))


def test_what_a_task_prints_stays_off_the_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "loud.py"
    path.write_text(
        "from inspect_ai import Task, task\nprint('loaded')\n"
        "@task\ndef loud():\n    print('made')\n    return Task([])\n"
    )
    with pytest.raises(InvalidInput):  # it has no samples
        load_inspect_tasks(f"{path}@loud")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "loaded" in printed.err


def test_samples_made_on_the_way_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_tasks, "sums", lambda count: SampleSource.from_samples([]))
    with pytest.raises(InvalidInput, match="makes its samples while it runs"):
        load_inspect_tasks("support.samples.inspect_tasks:plain")


def test_keys_in_an_env_file_are_found_as_by_inspect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "x")
    monkeypatch.delenv("OTHER_API_KEY")
    connection = Connection("http://127.0.0.1:1/v1")
    with pytest.raises(InvalidInput, match="OTHER_API_KEY"):
        load_inspect_tasks(
            "support.samples.inspect_tasks:plain", None, "openai-api/other/m", connection
        )
    (tmp_path / ".env").write_text("OTHER_API_KEY=y\n")
    (task,) = load_inspect_tasks(
        "support.samples.inspect_tasks:plain", None, "openai-api/other/m", connection
    )
    assert task.model is not None


def test_arguments_without_a_task_that_could_take_them_are_refused() -> None:
    with pytest.raises(InvalidInput, match="-T gives arguments to tasks of Inspect"):
        load_tasks("arithmetic", task_args={"count": 3})


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("support.samples.inspect_tasks:same_ids", "two samples have the same id: 1 and '1'"),
        ("support.samples.inspect_tasks:plan", "Did you mean 'plain'"),
        ("support.samples.inspect_tasks:sums", "must return a Task of Inspect; got list"),
        ("no_such_module:plain", "No module named"),
        ("nowhere.py@plain", "there is no file nowhere.py"),
        ("no_such_package/plain", "no package no_such_package is installed"),
        ("inspect_ai/plain", "Inspect knows no task named 'inspect_ai/plain'"),
        ("", "needs the name of a task"),
    ],
)
def test_a_task_that_is_not_there_is_an_error(task: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        load_tasks(f"inspect:{task}")


def test_a_task_that_a_file_does_not_have_is_an_error_with_those_it_has(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(FILE)
    with pytest.raises(UnknownName, match=r"has no task named 'frist'\. Did you mean 'first'"):
        load_tasks(f"inspect:{tmp_path / 'tasks.py'}@frist")
    with pytest.raises(UnknownName, match=r"has no task named 'xyz'\. It has .*first, .*other"):
        load_tasks(f"inspect:{tmp_path / 'tasks.py'}@xyz")
