"""Finding a sandbox: settings, refusals, one that lets a probe through."""

from collections.abc import Iterator

import pytest

from passband.errors import InvalidInput
from passband.score.sandbox import find, find_sandbox, policy
from passband.score.sandbox.find import SETTING
from passband.score.sandbox.probes import Probe
from support.sandboxes.sandboxes import AMPLE, reason_for_none, square

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def _afresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the sandboxes of this process for a test, and end those that it makes."""
    made: dict[str, object] = {}
    monkeypatch.setattr(find, "_sandboxes", made)
    monkeypatch.delenv(SETTING, raising=False)
    yield
    for sandbox in made.values():
        sandbox.close()  # type: ignore[attr-defined]


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


def test_the_best_one_and_only_once() -> None:
    if reason := reason_for_none():
        pytest.skip(reason)
    sandbox = find_sandbox()
    assert (sandbox.name, sandbox.is_isolated) == ("bubblewrap", True)
    assert find_sandbox(unsafe=True) is sandbox
    assert sandbox.check(square(), AMPLE).passed


@pytest.mark.usefixtures("nothing")
def test_code_is_refused_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "is_unsafe_allowed", False)  # whatever ran before
    with pytest.raises(InvalidInput, match=r"none holds here .*not installed.*--unsafe-code"):
        find_sandbox()


@pytest.mark.usefixtures("nothing")
def test_unsafe_code(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = find_sandbox(unsafe=True)
    assert (sandbox.name, sandbox.is_isolated) == ("none", False)
    assert sandbox.identity["backend"] == "none"
    monkeypatch.setattr(policy, "is_unsafe_allowed", True)
    assert find_sandbox() is sandbox
    with pytest.raises(InvalidInput):
        find_sandbox(unsafe=False)


def test_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "none")
    assert find_sandbox(unsafe=True).name == "none"
    with pytest.raises(InvalidInput, match=r"none holds here \(PASSBAND_SANDBOX=none"):
        find_sandbox(unsafe=False)
    monkeypatch.setenv(SETTING, "bublewrap")
    with pytest.raises(InvalidInput, match="Did you mean 'bubblewrap'"):
        find_sandbox()


def test_one_that_lets_something_through_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := reason_for_none():
        pytest.skip(reason)
    monkeypatch.setenv(SETTING, "bubblewrap")
    leaky = Probe("network", "escape", lambda sandbox: "network devices", is_quick=True)
    monkeypatch.setattr(find, "ESCAPES", (leaky,))
    with pytest.raises(InvalidInput, match="'network' got through: network devices"):
        find_sandbox()
