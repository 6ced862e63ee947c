"""Isolate programs with bubblewrap: Linux namespaces, set up by `bwrap`.

One bwrap per worker holds a zygote; each trial is a clone of it in further namespaces of its own.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

from passband.score.sandbox.interpreter import Interpreter, find_interpreter
from passband.score.sandbox.recipe import BOOT, ZygoteRecipe, call_filter, variables
from passband.score.sandbox.zygotes import Zygotes

USER = 65_432  # whom root's trials run as: limits on processes do not hold for a real root
_INSIDE = "65534"  # the number of that user inside
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_OF_ETC = ("/etc/alternatives", "/etc/ld.so.cache")  # /usr/bin/awk may be a link into the first
_SHARED = 16 << 20  # bytes of the zygote's own /tmp


def bubblewrap(bwrap: str, size: int | None = None) -> Zygotes:
    """Return a sandbox made by the bwrap at a path."""
    user = user_of_trials()
    interpreter = find_interpreter(user)
    return Zygotes("bubblewrap", functools.partial(recipe, bwrap, interpreter, user), size=size)


def user_of_trials() -> int | None:
    """Return the number of the user that trials run as; None: the one of this process."""
    return USER if os.geteuid() == 0 else None


def recipe(bwrap: str, interpreter: Interpreter, user: int | None, hash_seed: int) -> ZygoteRecipe:
    """Return how a zygote is started in bubblewrap."""
    command = (bwrap, *_options(interpreter), *_environment(hash_seed), "--")
    python = (interpreter.path, "-s", "-B", "-c", BOOT)
    settings = {"namespaces": True, "filter": call_filter()}
    return ZygoteRecipe((*command, *python), {}, user, settings)


def _options(interpreter: Interpreter) -> Iterator[str]:
    """Yield the options, in the order in which bwrap carries them out."""
    # --unshare-all only tries to make a user namespace; asked for by name, it must be there.
    yield from ("--unshare-all", "--unshare-user", "--disable-userns")
    yield from ("--uid", _INSIDE, "--gid", _INSIDE, "--hostname", "box")
    yield from ("--die-with-parent", "--new-session", "--clearenv")
    yield from ("--ro-bind", "/usr", "/usr")
    yield from _links()
    for folder in interpreter.folders:
        yield from ("--ro-bind", folder, folder)
    yield from ("--dev", "/dev", "--tmpfs", "/dev/shm", "--proc", "/proc")
    yield from ("--size", str(_SHARED), "--tmpfs", "/tmp", "--chdir", "/tmp")
    # Both are file systems in memory, which anyone inside could write to.
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")
    yield from ("--cap-add", "CAP_SYS_ADMIN")  # to make namespaces; a trial gives it up


def _links() -> Iterator[str]:
    """Yield options that show the system's folders as they are: links into /usr, or folders."""
    for path in _SYSTEM:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)
    for path in _OF_ETC:
        yield from ("--ro-bind-try", path, path)


def _environment(hash_seed: int) -> Iterator[str]:
    for name, value in variables(hash_seed).items():
        yield from ("--setenv", name, value)
