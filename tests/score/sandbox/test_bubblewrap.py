"""The command line of bubblewrap, and killing passband in the middle of a trial."""

import os
import select
import signal
import subprocess
import sys

import pytest

from passband.score.sandbox.bubblewrap import recipe
from passband.score.sandbox.interpreter import Interpreter
from support.sandboxes.sandboxes import reason_for_none

SCRIPT = """
import sys
from passband.score.sandbox import Limits
from passband.score.sandbox.find import make_sandbox
sandbox = make_sandbox({name!r}, size=1)
sandbox.facts()
(_, worker), = sandbox.pool._idle
print(worker._process.pid, flush=True)
program = "import os, signal\\nif os.fork() == 0:\\n    os.setsid()\\nsignal.pause()"
sandbox.run_program(program, "", Limits(wall=600))
"""


def test_the_order_of_options() -> None:
    made = recipe("/usr/bin/bwrap", Interpreter("/opt/python/bin/python3", ("/opt/python",)), 7, 3)
    words = list(made.command)
    assert words[0] == "/usr/bin/bwrap"
    assert made.user == 7
    assert not made.variables
    for option in ("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent",
                   "--new-session", "--clearenv"):  # fmt: skip
        assert option in words
    place = words.index("--remount-ro")
    binds = [n for n, word in enumerate(words) if word in ("--ro-bind", "--tmpfs", "--symlink")]
    assert max(binds) < place  # what is mounted later could be written to
    assert words[words.index("/opt/python") - 1] == "--ro-bind"
    assert words[words.index("PYTHONHASHSEED") + 1] == "3"
    assert words.count("--cap-add") == 1
    shown = [words[n + 1] for n, word in enumerate(words) if word == "--ro-bind"]
    assert set(shown) <= {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
                          "/opt/python"}  # fmt: skip


@pytest.mark.process
@pytest.mark.parametrize("name", ["bubblewrap"])
def test_nothing_outlives_passband(name: str) -> None:
    """Killed with -9 in the middle of a trial whose program has a child in its own session."""
    if reason := reason_for_none():
        pytest.skip(reason)
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(name=name)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        sandbox = int(process.stdout.readline())
        processes: list[int] = []
        while len(processes) < 5:  # bwrap, its first process, the zygote, a program, its child
            processes = [sandbox, *_descendants(sandbox)]
        watched = [os.pidfd_open(pid) for pid in processes]
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    for handle in watched:
        readable, _, _ = select.select([handle], [], [], 60)
        assert readable, "a process lives on"
        os.close(handle)


def _descendants(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = [int(word) for word in file.read().split()]
    except OSError:
        return []
    return [one for child in children for one in (child, *_descendants(child))]
