"""Processes of passband: where they import from, and what they see."""

import base64
import contextlib
import os
import pickle
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from passband.errors import PassbandError
from passband.score.sandbox.find import make_sandbox
from passband.score.sandbox.protocol import Limits
from passband.score.workers.worker_pool import WorkerPool
from passband.system.processes import bpf, launch
from passband.system.processes.guard import MEMORY

PLANTED = """
import pathlib
pathlib.Path({marker!r}).write_text("imported")
"""
STRANGERS = (
    "functools.py",
    "json.py",
    "types.py",
    "re.py",
    "sympy.py",
    "math_verify.py",
    "jinja2.py",
    "importlib/__init__.py",
    "passband/__init__.py",
    "passband/score/__init__.py",
)
CANARIES = {"OPENAI_API_KEY": "sk-canary", "SECRET_TOKEN": "canary", "HF_TOKEN": "hf-canary"}
NO_ROWS = base64.b64encode(pickle.dumps([])).decode()


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(size=2)
    yield pool
    pool.close()


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file that modules planted in the working folder write when imported."""
    folder, marker = tmp_path / "strange", tmp_path / "marker"
    for name in STRANGERS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(PLANTED.format(marker=str(marker)))
    monkeypatch.chdir(folder)
    return marker


@pytest.mark.process
@pytest.mark.parametrize("on_path", ["", ".", "absolute", "through a link", "inside"])
def test_nothing_is_imported_from_the_working_folder(
    pool: WorkerPool, marker: Path, monkeypatch: pytest.MonkeyPatch, on_path: str
) -> None:
    here = Path.cwd()
    (marker.parent / "link").symlink_to(here)
    (here / "lib").mkdir()
    (here / "lib" / "math_verify.py").write_text((here / "math_verify.py").read_text())
    chosen = {"absolute": here, "through a link": marker.parent / "link", "inside": here / "lib"}
    monkeypatch.setattr(sys, "path", [str(chosen.get(on_path, on_path)), *sys.path])
    assert pool.call("findall", ["a", "banana"], seconds=30) == ["a"] * 3
    if on_path in ("absolute", "inside"):
        assert pool.call("math", ["1/2", "0.5"], seconds=60) is True
    assert not marker.exists()


@pytest.mark.process
def test_nothing_shadows_the_standard_library(
    pool: WorkerPool, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder on the path, such as that of a script, comes after the standard library."""
    strange = Path.cwd()
    (marker.parent / "elsewhere").mkdir()
    monkeypatch.chdir(marker.parent / "elsewhere")
    for name in ("sympy.py", "math_verify.py", "jinja2.py"):
        (strange / name).unlink()
    monkeypatch.setattr(sys, "path", [str(strange), *sys.path])
    assert str(strange) in launch.import_path()
    assert pool.call("findall", ["a", "banana"], seconds=30) == ["a"] * 3
    assert not marker.exists()


@pytest.mark.process
def test_a_running_process_sees_no_secrets(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    pool.call("search", ["a", "a"], seconds=30)
    ((_, worker),) = pool._idle
    process = Path(f"/proc/{worker._process.pid}")
    if not process.exists():
        pytest.skip("needs /proc")
    assert b"canary" not in (process / "environ").read_bytes()
    assert b"canary" not in (process / "cmdline").read_bytes()
    assert os.readlink(process / "cwd") == "/"
    opened = [os.readlink(path) for path in (process / "fd").iterdir()]
    assert all(name.startswith("pipe:") or name == os.devnull for name in opened)


CALLS: dict[str, list[object]] = {
    "search": ["a", "a"],
    "math": ["1/2", "0.5"],
    "render": ["{{ a }}", NO_ROWS],
}


@pytest.mark.process
@pytest.mark.parametrize("function", CALLS)
def test_a_worker_has_a_filter_and_never_loads_ctypes(pool: WorkerPool, function: str) -> None:
    pool.call(function, CALLS[function], seconds=60)
    ((_, worker),) = pool._idle
    process = Path(f"/proc/{worker._process.pid}")
    if not process.exists():
        pytest.skip("needs /proc")
    mapped = (process / "maps").read_text()
    assert "/_json." in mapped or "_json" in sys.builtin_module_names  # extensions are seen here
    assert "ctypes" not in mapped
    assert "libffi" not in mapped
    if bpf.is_supported():
        assert "NoNewPrivs:\t1" in (process / "status").read_text()
        assert "first_stage" not in (process / "cmdline").read_text()
        limits = (process / "limits").read_text().splitlines()
        assert [line.split()[-3:-1] for line in limits if "address space" in line] == [
            [str(MEMORY)] * 2
        ]


def test_where_there_is_no_filter_a_command_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpf, "is_supported", lambda: False)
    assert launch.confined(["a", "b"]) == ["a", "b"]


def test_the_environment_is_a_short_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    libraries = os.pathsep.join(["", ".", str(tmp_path), "/usr/lib/conda"])
    variables = {**CANARIES, "LANG": "C.UTF-8", "PATH": "/bin", "LD_LIBRARY_PATH": libraries}
    assert launch.environment(variables) == {"LANG": "C.UTF-8", "LD_LIBRARY_PATH": "/usr/lib/conda"}
    assert launch.environment({"LD_LIBRARY_PATH": "."}) == {}


def test_installed_packages_stay_even_inside_of_the_working_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed = tmp_path / ".venv" / "lib" / "site-packages"
    installed.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), str(installed), "/elsewhere"])
    assert launch.import_path() == [str(installed), "/elsewhere"]


def test_a_deleted_working_folder_is_no_obstacle(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert all(map(os.path.isabs, launch.import_path()))


@pytest.mark.process
def test_sandboxes_see_nothing_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its programs, though PATH names it, nor its modules, nor keys."""
    marker = tmp_path / "marker"
    for name in ("json.py", "types.py", "socket.py", "box.py"):
        (tmp_path / name).write_text(PLANTED.format(marker=str(marker)))
    for name in ("bwrap", "docker", "python3"):
        (tmp_path / name).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{tmp_path}::{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    assert launch.find_program("bwrap") != str(tmp_path / "bwrap")
    for sandbox in (make_sandbox(name, size=1) for name in ("none", "bubblewrap")):
        with contextlib.suppress(PassbandError):  # where there is none
            seen = sandbox.run_program("import os\nprint(os.environ)", "", Limits(wall=60))
            assert "canary" not in seen.stdout
            assert "PATH" in seen.stdout
        sandbox.close()
    assert not marker.exists()


def test_sandboxes_are_started_by_absolute_paths() -> None:
    one, other = socket.socketpair()
    with one, other, pytest.raises(ValueError, match="no absolute path"):
        launch.start_on_socket(["bwrap"], one, {})
