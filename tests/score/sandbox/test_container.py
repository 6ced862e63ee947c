"""Containers, with a stand-in for the engine that runs the harness here, as another user."""

import json
import os
import sys
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.score.sandbox.container import IMAGE, SETTING, recipe
from passband.score.sandbox.find import make_sandbox
from passband.score.sandbox.protocol import CommandJob, Limits, SandboxFailed
from passband.score.sandbox.zygotes import Zygotes
from support.sandboxes.sandboxes import AMPLE, square

pytestmark = pytest.mark.process
ENGINE = """#!{python}
import json, os, sys
words = sys.argv[1:]
with open({log!r}, "w") as file:
    json.dump([words, sorted(os.environ)], file)
at = words.index("python3")
os.execv("/usr/bin/python3", ["python3", *words[at + 1:]])
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a docker into PATH; return the file that it writes its arguments to."""
    folder, log = tmp_path / "bin", tmp_path / "log"
    folder.mkdir()
    (folder / "docker").write_text(ENGINE.format(python=sys.executable, log=str(log)))
    (folder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    return log


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become the user of programs")
@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="no Python of the system")
def test_trials_in_a_container(engine: Path) -> None:
    sandbox = make_sandbox("docker", size=1)
    _try_all(sandbox)
    sandbox.close()
    words, variables = json.loads(engine.read_text())
    assert words[:3] == ["run", "--rm", "--interactive"]
    assert IMAGE in words
    assert "OPENAI_API_KEY" not in variables


def _try_all(sandbox: Zygotes) -> None:
    assert sandbox.identity["backend"] == "docker"
    assert sandbox.check(square(), AMPLE).passed
    assert sandbox.check(square("def square(x):\n    return 5"), AMPLE).status == "failed"
    assert sandbox.check(square("import os\nos._exit(0)"), AMPLE).status == "crashed"
    who = sandbox.run_program("import os\nprint(os.getuid(), len(os.environ))", "", AMPLE)
    user, count = map(int, who.stdout.split())
    assert 20_000 < user <= 40_000
    assert count < 12
    echoed = sandbox.run(CommandJob(("cat",), {}, b"\xff\x00bytes", AMPLE))
    assert echoed.stdout == "\ufffd\0bytes"
    assert sandbox.run_program("import signal\nsignal.pause()", "", Limits(wall=0.2)).timed_out
    _leave(sandbox)


def _leave(sandbox: Zygotes) -> None:
    """Leave a file and a process; both are gone in the next trial."""
    leave = (
        "import os, signal, sys\nopen('/tmp/passband-left', 'w').close()\n"
        "pid = os.fork()\nif pid == 0:\n    os.setsid()\n    os.close(1)\n    signal.pause()\n"
        "print(pid)"
    )
    pid = int(sandbox.run_program(leave, "", AMPLE).stdout)
    look = (
        f"import os\nprint(os.path.exists('/tmp/passband-left'), os.path.exists('/proc/{pid}/exe'))"
    )
    assert sandbox.run_program(look, "", AMPLE).stdout == "False False\n"


def test_what_the_engine_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/docker.sock")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    made = recipe("/usr/bin/docker", "image:1", 5)
    words = " ".join(made.command)
    for option in (
        "--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges",
        "--pids-limit 64", "--memory 4g", "--memory-swap 4g", "--pull never", "--tmpfs /tmp:rw",
        "--env PYTHONHASHSEED=5", "--user 0:0",
    ):  # fmt: skip
        assert option in words
    assert "--volume" not in words
    assert "canary" not in str(made)
    assert made.variables["DOCKER_HOST"] == "unix:///run/docker.sock"


def test_an_engine_that_does_not_answer(engine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker = engine.with_name("bin") / "docker"
    docker.write_text("#!/bin/sh\necho 'Cannot connect to the daemon.' >&2\nexit 1\n")
    with pytest.raises(SandboxFailed, match="does not start: Cannot connect to the daemon"):
        make_sandbox("docker", size=1).facts()
    with pytest.raises(InvalidInput, match="podman is not installed"):
        make_sandbox("podman")
    monkeypatch.setenv(SETTING, "mine:2")
    assert "mine:2" in make_sandbox("docker").pool._recipe(0).command
