"""Isolate programs with docker or podman: one container per worker, with the same zygote inside.

A container starts too slowly for one per trial. Inside, every program is a fork as a user of its
own, who may neither signal nor see into the processes of the sandbox; what it leaves running or in
memory file systems is removed before the next.
"""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Iterator

from passband.score.sandbox.recipe import BOOT, ZygoteRecipe, call_filter, variables
from passband.score.sandbox.zygotes import Zygotes

SETTING = "PASSBAND_SANDBOX_IMAGE"  # the name of another image
IMAGE = "python:3.12-slim"
_FOR_CLIENT = ("DOCKER_HOST", "DOCKER_CONTEXT", "HOME", "XDG_RUNTIME_DIR", "CONTAINER_HOST")
_FIRST_USER, _USERS = 20_000, 20_000  # numbers that rootless engines have as well


def container(name: str, engine: str, size: int | None = None) -> Zygotes:
    """Return a sandbox made of containers of an engine, docker or podman, at a path."""
    image = os.environ.get(SETTING, IMAGE)
    return Zygotes(name, functools.partial(recipe, engine, image), size=size)


def recipe(engine: str, image: str, hash_seed: int) -> ZygoteRecipe:
    """Return how a zygote is started in a container."""
    seen = {name: os.environ[name] for name in _FOR_CLIENT if name in os.environ}
    python = ("python3", "-s", "-B", "-c", BOOT)
    # Limits on processes count all of a user, in whatever container.
    user = random.SystemRandom().randrange(_FIRST_USER, _FIRST_USER + _USERS, 2) + 1
    settings = {
        "namespaces": False,
        "filter": call_filter(shares_ipc=True),
        "user": user,
        "variables": variables(hash_seed),
    }
    command = (engine, *_options(hash_seed), image, *python)
    return ZygoteRecipe(command, seen, settings=settings, is_remote=True)


def _options(hash_seed: int) -> Iterator[str]:
    """Yield the options of a run that nothing gets out of."""
    yield from ("run", "--rm", "--interactive", "--pull", "never")  # nothing is downloaded unasked
    yield from ("--network", "none", "--read-only", "--hostname", "box")
    yield from ("--cap-drop", "ALL", "--security-opt", "no-new-privileges")
    # For the zygote, to become the user of a trial and to end it; trials have none.
    yield from ("--cap-add", "SETUID", "--cap-add", "SETGID", "--cap-add", "KILL")
    yield from ("--user", "0:0", "--pids-limit", "64", "--memory", "4g", "--memory-swap", "4g")
    yield from ("--tmpfs", "/tmp:rw,nosuid,nodev,size=64m,mode=1777", "--shm-size", "1m")
    yield from ("--workdir", "/tmp", "--env", f"PYTHONHASHSEED={hash_seed}")
