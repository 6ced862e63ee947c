"""The launcher that a command names: processes of this machine, or actors of a Ray cluster."""

from __future__ import annotations

from pathlib import Path

from passband.run.shards.launch import Launch, Launcher
from passband.run.shards.local import LocalProcesses
from passband.system import available_cpus


def make_launcher(launch: Launch, directory: Path) -> Launcher:
    """Return the launcher of shards whose stores are in a directory."""
    if launch.on is None:
        return LocalProcesses(cpus=max(1, available_cpus() // launch.shards))
    from passband.run.shards.ray import RayActors  # heavy, and seldom needed

    return RayActors(launch.on, launch.shards, directory)
