"""The power goes off during a run: is everything that was announced on the disk?

    sudo python benchmarks/power_cut.py [--cuts 20] [--seed 0]

benchmarks/kill.py cannot tell, because what a dead process wrote is still in the memory of the
system. Here the run directory is on an ext4 file system inside a file. At a random moment the run
is stopped, the file is copied as it is, and the copy is mounted: what had not been written through
to the disk is missing there, as it is after a power cut. The next process goes on from the copy,
until the run ends, and must export the same bytes as a run that was left in peace. The columns are
those of kill.py, with `cuts` for `kills`.

A disk that says it has written what it has not, or that writes in another order than it was told
to, is not imitated. Needs Linux, root and a free loop device; does nothing elsewhere.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import kill
import loopback

SIZE = 256_000_000  # bytes: a run stops when fewer than 64 million are free


def command(*words: object) -> None:
    subprocess.run([*map(str, words)], check=True, capture_output=True)


@contextmanager
def mounted(image: Path, at: Path) -> Iterator[Path]:
    """Mount the file system in a file, which replays its journal as after a power cut."""
    at.mkdir(exist_ok=True)
    command("mount", "-o", "loop", image, at)
    try:
        yield at
    finally:
        command("umount", at)


def new_disk(image: Path) -> None:
    with image.open("wb") as file:
        file.truncate(SIZE)
    command("mkfs.ext4", "-q", "-F", "-b", "4096", image)


def stop(run: kill.Running) -> None:
    """Stop a process and wait until it stands still, and until what it said has been heard."""
    run.process.send_signal(signal.SIGSTOP)
    while run.process.poll() is None and kill.state(run.process.pid) != "T":
        time.sleep(0.001)
    time.sleep(0.05)


def cut(bench: kill.Bench, folder: Path, starting: float, work: float) -> tuple[bool, int]:
    """Run on the disk until the power goes; return whether the run ended, and what it said."""
    disk, after = folder / "disk", folder / "after"
    with (
        mounted(disk, folder / "mounted") as mount,
        kill.running(bench.command(mount / "run")) as run,
    ):
        kill.wait_for_the_moment(bench.rng, run, starting, work)
        stop(run)
        if run.process.poll() is not None:
            if run.process.returncode:
                raise RuntimeError(f"a run ended by itself with {run.process.returncode}")
            return True, run.done
        command("cp", "--sparse=always", disk, after)
        acknowledged = run.done
    after.replace(disk)
    return False, acknowledged


def series(bench: kill.Bench, cuts: int, starting: float, work: float) -> kill.Count:
    """Cut the power again and again until a run ends; then let it end."""
    new_disk(bench.folder / "disk")
    count = kill.Count(series=1)
    while count.kills < cuts:
        ended, acknowledged = cut(bench, bench.folder, starting, work)
        if ended:
            break
        with mounted(bench.folder / "disk", bench.folder / "mounted") as mount:
            count = count.plus(kill.looked_at(mount / "run", acknowledged))
    with mounted(bench.folder / "disk", bench.folder / "mounted") as mount:
        bench.undisturbed(mount / "run")
        expected = kill.exported(bench.folder / "undisturbed")
        count.identical = int(kill.exported(mount / "run") == expected)
    return count


def measured(setting: kill.Setting, cuts: int, rng: random.Random) -> kill.Count:
    total = kill.Count()
    with (
        tempfile.TemporaryDirectory() as name,
        loopback.started(latency=setting.latency) as url,
    ):
        kill.write_task(Path(name), setting.pattern)
        bench = kill.Bench(setting, Path(name), url, rng)
        starting, work = bench.timed()
        while total.kills < cuts:
            total = total.plus(series(bench, cuts - total.kills, starting, work))
    return total


def can_mount() -> bool:
    """Tell whether this system lets us make a disk out of a file."""
    if not sys.platform.startswith("linux") or os.geteuid() or not shutil.which("mkfs.ext4"):
        return False
    with tempfile.TemporaryDirectory() as name:
        try:
            new_disk(Path(name) / "disk")
            with mounted(Path(name) / "disk", Path(name) / "mounted"):
                return True
        except subprocess.CalledProcessError:
            return False


def main() -> None:
    parser = argparse.ArgumentParser(description="Power cuts at random moments of a run.")
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the cuts")
    options = parser.parse_args()
    if not can_mount():
        print("not done: it needs Linux, root, mkfs.ext4 and a free loop device")
        return
    rng, total = random.Random(options.seed), kill.Count()
    print(kill.line("", ["cuts", *list(asdict(total))[1:]]), flush=True)
    for at, setting in enumerate(kill.SETTINGS[:2]):
        count = measured(setting, (options.cuts + at) // 2, rng)
        total = total.plus(count)
        print(kill.line(setting.name, kill.values(count)), flush=True)
    print(kill.line("all", kill.values(total)))
    sys.exit(0 if total.is_clean else 1)


if __name__ == "__main__":
    main()
