"""The lines of `passband doctor`."""

from passband.report.doctor import doctor_lines
from passband.score.sandbox.doctor import Diagnosis, SandboxFinding

GOOD = (
    SandboxFinding("setup", "start", True, "bubblewrap runs python3"),
    SandboxFinding("escape", "network", True),
    SandboxFinding("forgery", "atexit", True),
)


def test_a_sandbox_that_holds() -> None:
    assert list(doctor_lines([Diagnosis("bubblewrap", GOOD)])) == [
        "bubblewrap",
        "  how programs run",
        "    start                              ok    bubblewrap runs python3",
        "  getting out",
        "    network                            held",
        "  passing a test without being right",
        "    atexit                             held",
        "",
        "bubblewrap holds: all 2 probes were stopped. Programs run in it.",
    ]


def test_one_that_does_not() -> None:
    bad = Diagnosis(
        "docker", (*GOOD, SandboxFinding("leak", "files", False, "the next trial found it"))
    )
    missing = Diagnosis("bubblewrap", (SandboxFinding("setup", "start", False, "no"),))
    lines = list(doctor_lines([missing, bad]))
    assert "    start                              no    no" in lines
    assert "    files                              GOT THROUGH the next trial found it" in lines
    assert lines[-1].startswith("No sandbox holds here: programs of models are refused.")
