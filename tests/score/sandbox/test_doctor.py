"""Every probe, in a real sandbox; and that probes can fail."""

import pytest

from passband.errors import InvalidInput
from passband.score.sandbox.doctor import PROBES, Diagnosis, SandboxFinding, examine
from passband.score.sandbox.find import unconfined
from passband.score.sandbox.probes import Probe
from passband.score.sandbox.probes.forgeries import HONEST, PROGRAMS, TEST, unit_tests
from passband.score.sandbox.protocol import UnitTests
from passband.score.sandbox.zygotes import Zygotes
from support.sandboxes.sandboxes import AMPLE

pytestmark = pytest.mark.process


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: f"{probe.kind} {probe.name}")
def test_the_sandbox_holds(confined: Zygotes, probe: Probe) -> None:
    assert probe.got_through(confined) is None


def test_the_same_zygote_has_met_them_all(confined: Zygotes) -> None:
    assert confined.check(unit_tests(HONEST), AMPLE).passed
    assert confined.pool.started == 1


def test_no_probe_is_tried_without_a_sandbox() -> None:
    sandbox = unconfined(size=1)
    for probe in PROBES:
        with pytest.raises(InvalidInput, match="needs a sandbox"):
            probe.got_through(sandbox)
    assert sandbox.pool.started == 0


def test_probes_notice_what_gets_through(confined: Zygotes) -> None:
    """A sandbox that shares what it should not is told by the probes made for it."""
    by_name = {probe.name: probe for probe in PROBES}
    seen = {
        "network": "network devices\nheld\n",
        "environment": "OPENAI_API_KEY\nheld\n",
        "memory": "1073741824 bytes\n",
        "fork bomb": "300 processes\nheld\n",
        "system calls": "ptrace\nheld\n",
    }
    for name, printed in seen.items():
        lenient = _Printing(printed)
        assert by_name[name].got_through(lenient), name


class _Printing(Zygotes):
    """Runs programs whose output is given."""

    def __init__(self, printed: str) -> None:
        self.name, self.is_isolated, self._printed = "bubblewrap", True, printed

    def run_program(self, program: str, stdin: str, limits, hash_seed: int = 0):
        from passband.score.sandbox.protocol import ProgramExit

        return ProgramExit(0, stdout=self._printed)


@pytest.mark.parametrize("name", ["object equal to everything", "number equal to everything"])
def test_one_interpreter_can_be_fooled(confined: Zygotes, name: str) -> None:
    """The documented weakness of `same`: what the forgeries are there to find."""
    tests = UnitTests(PROGRAMS[name], TEST, "square", verdict="same")
    assert confined.check(tests, AMPLE).passed


def test_a_machine_without_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    diagnoses = examine()
    assert [diagnosis.backend for diagnosis in diagnoses] == ["bubblewrap", "docker", "podman"]
    assert not any(diagnosis.holds for diagnosis in diagnoses)
    assert "not installed" in diagnoses[0].findings[0].detail
    assert "PyPI is something else" in diagnoses[0].findings[0].detail


def test_one_probe_that_gets_through_is_enough() -> None:
    good = SandboxFinding("escape", "network", True)
    assert Diagnosis("bubblewrap", (good,)).holds
    assert not Diagnosis("bubblewrap", (good, SandboxFinding("leak", "files", False, "x"))).holds
