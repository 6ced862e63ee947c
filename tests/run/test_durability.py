"""A run that is read, stopped or short of room while it goes on."""

import random
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

import fault_server as faults
from fault_server import Behaviour, FaultServer, Received
from runs import Bench, sums

pytestmark = pytest.mark.process
READER = Path(__file__).resolve().parents[1] / "live_reader.py"


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
    command = [sys.executable, READER, bench.directory, str(total)]
    counts: list[int] = []
    with (
        FaultServer(mixed) as server,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader,
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

ON_A_SMALL_DISK = """
mount -t tmpfs -o size=70m none "$1" || exit 99
"$2" -m passband run "$3" --model openai:m --base-url "$4" --out "$1/run" --batch 1 -q
echo "run $?"
"$2" -m passband stats "$1/run" -m pass@1
echo "stats $?"
"$2" -m passband check "$1/run"
echo "check $?"
mount -o remount,size=200m "$1"
"$2" -m passband run "$3" --model openai:m --base-url "$4" --out "$1/run" --batch 1 -q
echo "again $?"
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
        words = [disk, sys.executable, task_file, server.url]
        script = ["unshare", "-rm", "sh", "-c", ON_A_SMALL_DISK, "sh", *map(str, words)]
        done = subprocess.run(script, capture_output=True, encoding="utf-8", timeout=120)
        if done.returncode == 99 or "unshare failed" in done.stderr:
            pytest.skip("file systems cannot be mounted here")
        requests = len(server.requests)
    codes = re.findall(r"^(?:run|stats|check|again) \d+$", done.stdout, re.MULTILINE)
    assert codes == ["run 6", "stats 0", "check 0", "again 0"], done.stderr
    assert "make room and run the same command again" in done.stderr
    assert "Traceback" not in done.stderr
    assert requests >= 40
