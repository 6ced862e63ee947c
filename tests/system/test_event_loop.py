"""Loops that are made here are closed here, also where asyncio is patched."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from passband.system.event_loop import complete, is_inside_a_loop


async def _inside() -> tuple[asyncio.AbstractEventLoop, bool]:
    return asyncio.get_running_loop(), is_inside_a_loop()


def test_a_loop_of_its_own_is_closed() -> None:
    loop, is_inside = complete(_inside())
    assert is_inside
    assert loop.is_closed()
    assert not is_inside_a_loop()


_PATCHED = """
import os, tempfile, threading
import nest_asyncio2
nest_asyncio2.apply()
from passband import simple_evaluate

def evaluate(number):
    out = os.path.join(folder, str(number))
    simple_evaluate("tiny", "arithmetic", num_repeats=1, limit=2, out=out)

with tempfile.TemporaryDirectory() as folder:
    counts = []
    for number in range(3):
        thread = threading.Thread(target=evaluate, args=(number,))
        thread.start()
        thread.join()
        counts.append(len(os.listdir("/proc/self/fd")))
assert counts[1] == counts[2], counts
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="counts file descriptors in /proc")
@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.Runner is of 3.11")
def test_runs_leave_no_loop_open_where_inspect_has_patched_asyncio() -> None:
    done = subprocess.run([sys.executable, "-c", _PATCHED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
