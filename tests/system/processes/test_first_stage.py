"""The interpreter before the one that works: what it leaves in force, and how it goes on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from passband.system.processes import bpf, first_stage, system_calls

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not bpf.is_supported(), reason="Linux on x86-64 only"),
]

SHOW = """
import os, resource, sys
limits = resource.getrlimit(resource.RLIMIT_CORE)
print(ascii(sys.argv[1:]), ascii(os.environb.get(b"NAME")), limits)
"""


def run(program: bytes, place: int, *command: str) -> subprocess.CompletedProcess[str]:
    arguments = [program.hex(), str(place), "CORE=0 NO_SUCH_LIMIT=1 NOFILE=64", *command]
    return subprocess.run(
        [sys.executable, "-I", "-S", "-B", str(Path(first_stage.__file__)), *arguments],
        env={"NAME": "\udcff =\u00fc"},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("takes_filter", [True, False])
def test_the_next_program_gets_its_words_its_environment_and_the_limits(takes_filter: bool) -> None:
    place = system_calls.random_address()
    program = system_calls.program(place) if takes_filter else b""  # the kernel takes no empty one
    done = run(program, place, sys.executable, "-I", "-c", SHOW, "", "a b", "\udcff")
    environment = os.fsencode("\udcff =\u00fc")
    assert done.stdout == f"['', 'a b', '\\udcff'] {environment!a} (0, 0)\n", done.stderr


def test_a_page_that_cannot_be_had_ends_the_process() -> None:
    done = run(system_calls.program(1 << 60), 1 << 60, sys.executable, "-c", "print(1)")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the address is taken" in done.stderr


def test_a_program_that_does_not_start_is_named() -> None:
    place = system_calls.random_address()
    done = run(system_calls.program(place), place, "/no/such/program")
    assert (done.returncode, done.stdout) == (1, "")
    assert "/no/such/program: No such file" in done.stderr
