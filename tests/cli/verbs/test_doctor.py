"""`passband doctor` on a machine with a sandbox, and on one without."""

import json

import pytest

from passband.score.sandbox import doctor
from support.runs.commands import run
from support.sandboxes.sandboxes import reason_for_none

pytestmark = pytest.mark.process


def test_a_sandbox_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a few of the probes; all of them are in tests/score/sandbox/test_doctor.py."""
    if reason := reason_for_none():
        pytest.skip(reason)
    monkeypatch.setattr(doctor, "PROBES", [probe for probe in doctor.PROBES if probe.is_quick])
    done = run("doctor")
    assert (done.code, done.err) == (0, "")
    assert "    network                            held\n" in done.out
    assert done.out.endswith("bubblewrap holds: all 7 probes were stopped. Programs run in it.\n")
    (diagnosis,) = json.loads(run("doctor", "--json").out)
    assert (diagnosis["backend"], diagnosis["holds"]) == ("bubblewrap", True)
    assert {"kind": "escape", "name": "network", "is_good": True, "detail": ""} in (
        diagnosis["findings"]
    )


def test_none_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = run("doctor")
    assert done.code == 1
    assert "no    bubblewrap is not installed" in done.out
    assert "No sandbox holds here" in done.out
    assert [each["holds"] for each in json.loads(run("doctor", "--json").out)] == [False] * 3
