"""Start processes, here and nowhere else: a worker of passband's own, or a sandbox.

A worker is an isolated interpreter that runs a module of passband. It

- imports the standard library first, passband from where this passband is, and other packages from
  where they are installed: nothing from the working folder, whatever is planted there, and nothing
  that shadows the standard library;
- sees a few harmless variables of the environment, and so neither keys nor tokens;
- works in the folder ``/``, and reads and writes pipes;
- has, on Linux, limits and a filter of system calls from its first instruction on, which another
  interpreter set before it in the same process (`passband.system.processes.first_stage`).

What it may do beyond that is for its module to limit; see `passband.system.processes.guard`.

A sandbox is started by the absolute path of its program, and limits itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from passband.system.processes import bpf, system_calls
from passband.system.processes.guard import LIMITS

# -I: neither the working folder nor PYTHON* variables; -S: no .pth file, which may run code;
# -B: no byte code written. What site would have found comes with the import path.
_OPTIONS = ("-I", "-S", "-B", "-X", "utf8")
_START = """
import json, sys
from importlib import import_module, util
path, here, module, arguments = json.loads(sys.argv[1])
sys.path += path
spec = util.spec_from_file_location("passband", here)
passband = sys.modules["passband"] = util.module_from_spec(spec)
spec.loader.exec_module(passband)
import_module(module).main(*arguments)
"""
_VARIABLES = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
_LIBRARIES = ("DYLD_LIBRARY_PATH", "LD_LIBRARY_PATH")  # folders; without them numpy may not load
_PACKAGES = ("site-packages", "dist-packages")
_HERE = Path(__file__).resolve().parents[2] / "__init__.py"
_FIRST_STAGE = Path(__file__).resolve().with_name("first_stage.py")


def launch(module: str, arguments: Sequence[str] = ()) -> subprocess.Popen[bytes]:
    """Start a process that calls `main` of a module of passband with some texts."""
    job = json.dumps([import_path(), str(_HERE), module, list(arguments)])
    return subprocess.Popen(
        confined([sys.executable, *_OPTIONS, "-c", _START, job]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        env=environment(os.environ),
        cwd="/",
        close_fds=True,
        start_new_session=True,  # Ctrl-C and signals to the group are for the parent
    )


def confined(command: Sequence[str]) -> list[str]:
    """Return a command that runs another one with limits and a filter, where there are filters."""
    if not bpf.is_supported():
        return list(command)
    address = system_calls.random_address()
    limits = " ".join(f"{name}={most}" for name, most in LIMITS.items())
    arguments = [system_calls.program(address).hex(), str(address), limits]
    return [sys.executable, *_OPTIONS, str(_FIRST_STAGE), *arguments, *command]


def import_path() -> list[str]:
    """Return where a process finds installed packages, after the standard library."""
    return list(dict.fromkeys(_outside_of_working_folder(sys.path)))


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the few variables that a process may see; keys and tokens are not among them."""
    seen = {name: variables[name] for name in _VARIABLES if name in variables}
    for name in _LIBRARIES:
        folders = _outside_of_working_folder(variables.get(name, "").split(os.pathsep))
        if folders := list(folders):
            seen[name] = os.pathsep.join(folders)
    return seen


def end_process(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait for a process that is about to end by itself; kill it if it does not in time."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    process.kill()
    process.wait()
    if process.stderr is not None:
        process.stderr.close()


def find_program(name: str) -> str | None:
    """Return the path of a program in the folders of PATH, the working folder left out."""
    folders = _outside_of_working_folder(os.environ.get("PATH", os.defpath).split(os.pathsep))
    return shutil.which(name, path=os.pathsep.join(folders))


def _outside_of_working_folder(folders: Iterable[str]) -> Iterable[str]:
    """Yield absolute folders that are neither the working folder nor, unless installed, in it."""
    try:
        working: Path | None = Path.cwd().resolve()
    except OSError:  # it was deleted, and so holds nothing
        working = None
    for folder in folders:
        if not os.path.isabs(folder):
            continue
        path = Path(folder).resolve()
        is_inside = working is not None and (path == working or working in path.parents)
        # A virtual environment often is in the folder of the project that one works in.
        if not is_inside or (path != working and path.name in _PACKAGES):
            yield folder


def start_on_socket(
    command: Sequence[str],
    control: socket.socket,
    variables: Mapping[str, str],
    *,
    user: int | None = None,
    answers: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a sandbox on a socket as standard input, with the given variables only.

    It runs as the given user and without groups, if one is given. If it answers on standard
    output, that is the same socket.
    """
    if not os.path.isabs(command[0]):
        raise ValueError(f"{command[0]} is no absolute path")
    return subprocess.Popen(
        list(command),
        stdin=control.fileno(),
        stdout=control.fileno() if answers else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=dict(variables),
        cwd="/",
        close_fds=True,
        start_new_session=True,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
