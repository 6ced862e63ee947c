"""Choose the Python for programs: passband's own where a sandbox can see it, else the system's."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from passband.errors import InvalidInput

SETTING = "PASSBAND_SANDBOX_PYTHON"  # the path of another one
_OF_SYSTEM = ("/usr/bin/python3", "/usr/local/bin/python3")
_HIDDEN = tuple(map(Path, ("/tmp", "/dev", "/proc")))
_SHOWN = Path("/usr")  # what every sandbox shows


@dataclass(frozen=True)
class Interpreter:
    """A Python, and the folders that it needs beside /usr."""

    path: str
    folders: tuple[str, ...] = ()
    instead_of: str | None = None  # the one that could not be used


def find_interpreter(user: int | None) -> Interpreter:
    """Return the interpreter for programs that run as a user; None: the one of this process."""
    if setting := os.environ.get(SETTING):
        if not os.path.isabs(setting) or not is_visible(Path(setting), user):
            who = "the user of this process" if user is None else f"uid {user}"
            raise InvalidInput(f"{SETTING}={setting} is not a file that {who} can run.")
        return Interpreter(setting, _outside([str(Path(setting).parent.parent)]))
    folders = [sys.prefix, sys.base_prefix]
    if sys.executable and all(_can_show(Path(path), user) for path in (sys.executable, *folders)):
        return Interpreter(sys.executable, _outside(folders))
    for path in _OF_SYSTEM:
        if is_visible(Path(path), user):
            return Interpreter(path, instead_of=sys.executable)
    raise InvalidInput(
        f"no Python that uid {user} can run: {sys.executable} is in a closed folder and there is "
        f"no {_OF_SYSTEM[0]}; install one, or name one in {SETTING}."
    )


def _outside(folders: list[str]) -> tuple[str, ...]:
    """Return the folders that are not shown anyway, each once."""
    paths = dict.fromkeys(Path(folder).resolve() for folder in folders)
    return tuple(str(path) for path in paths if _SHOWN not in (path, *path.parents))


def _can_show(path: Path, user: int | None) -> bool:
    """Return whether a sandbox can show a path: it has its own /tmp, and links stay links."""
    places = (path, path.resolve())
    return is_visible(path, user) and not any(
        hidden in place.parents for place in places for hidden in _HIDDEN
    )


def is_visible(path: Path, user: int | None) -> bool:
    """Return whether a user, who owns nothing and is in no group, can read and enter a path."""
    try:
        real = path.resolve(strict=True)
        if user is None:
            return os.access(real, os.R_OK | os.X_OK)
        bits = stat.S_IROTH | stat.S_IXOTH
        above = all(
            parent.stat().st_mode & stat.S_IXOTH for parent in (*path.parents, *real.parents)
        )
        return above and real.stat().st_mode & bits == bits
    except OSError:
        return False
