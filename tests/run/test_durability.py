"""A run that is read, stopped or short of room while it goes on."""

import os
import random
import shutil
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from support.runs.runs import Bench, sums
from support.servers import fault_server as faults
from support.servers.fault_server import Behaviour, FaultServer, Received

pytestmark = pytest.mark.process
READER = Path(__file__).resolve().parents[1] / "support/runs/live_reader.py"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(READER.parents[2])}


# --- a second process that reads -------------------------------------------------------------

KINDS = {
    "18": faults.status(500),
    "19": faults.html_200,
    "20": faults.length,
    "21": faults.content_filter,
    "22": faults.hostile_text,
    "23": faults.reset_mid_body,
}


def mixed(request: Received) -> Behaviour:
    """Faults of six kinds by problem; from the 40th request on, only when let go."""
    fault = KINDS.get(request.prompt[8:10], faults.ok)
    return fault if request.number < 40 else faults.held(fault)


def test_a_second_process_reads_one_moment_after_another(bench: Bench) -> None:
    task, total = sums(12), 12 * 4
    bench.play(task=task, n=1)
    command = [sys.executable, str(READER), str(bench.directory), str(total)]
    counts: list[int] = []
    with (
        FaultServer(mixed) as server,
        subprocess.Popen(
            command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as reader,
    ):

        def follow() -> None:
            assert reader.stdout is not None
            for line in reader.stdout:
                counts.append(int(line))
                if Counter(counts)[counts[-1]] > 1 and counts[-1] > 12:
                    server.release()
            server.release()  # whatever went wrong, the run must end

        follower = threading.Thread(target=follow)
        follower.start()
        try:
            bench.run(server, task, n=4)
            assert reader.wait(60) == 0, reader.stderr and reader.stderr.read().decode()
        finally:
            reader.kill()
            follower.join()
    assert counts == sorted(counts)
    assert counts[-1] == total
    assert any(12 < count < total for count in counts)
    assert bench.statuses == {
        "ok": 4 * 7 + 5, "truncated": 3, "refused": 3, "invalid": 3, "gave_up": 6
    }  # fmt: skip


# --- a disk that fills up --------------------------------------------------------------------

MOUNTED = 'mount -t tmpfs -o size=70m none "$1" || exit 99; shift; exec "$@"'
FILLING = """
import subprocess, sys
from support.runs.commands import run

disk, task, url = sys.argv[1:]
asking = ["run", task, "--model", "openai:m", "--base-url", url, "--out", disk + "/run"]
asking += ["--batch", "1", "-q"]
full = run(*asking)
read = run("export", disk + "/run", "-o", task + ".jsonl")  # long texts may lack a score
print(full.err, read.err, file=sys.stderr)
check = run("check", disk + "/run")
subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)
print(*map(int, [full.code, read.code, check.code, run(*asking).code]))
"""
LETTERS = str.maketrans("0123456789", "ghijklmnop")  # in which no number is looked for


def long_text(request: Received) -> Behaviour:
    """A completion of 400 kB that becomes half as long at best."""
    letters = random.Random(request.number).randbytes(200_000).hex().translate(LETTERS)
    return faults.says(f"{letters} 42")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("unshare") is None, reason="no name spaces")
def test_a_disk_that_is_really_full(task_file: Path, tmp_path: Path) -> None:
    """A file system of 70 MB, in a name space of its own: the run stops with 64 MB free."""
    disk = tmp_path / "disk"
    disk.mkdir()
    with FaultServer(long_text) as server:
        filling: list[str | Path] = [sys.executable, "-c", FILLING, disk, task_file, server.url]
        command = ["unshare", "-rm", "sh", "-c", MOUNTED, "sh", disk, *filling]
        done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, timeout=120)
        told = done.stderr.decode()
        if done.returncode == 99 or "unshare failed" in told:
            pytest.skip("file systems cannot be mounted here")
        assert done.stdout.split() == [b"6", b"0", b"0", b"0"], told
        assert "make room and run the same command again" in told
        assert len(server.requests) >= 40
