"""From an empty folder with a data file to a table: `passband run DATA` and `passband init`."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from passband.run.request import make_request
from support.runs.commands import process, run
from support.servers.fault_server import FaultServer, held, ok

ROWS = 50


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, but for 50 problems with whole numbers of three digits as answers."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PASSBAND_PRICES", "PASSBAND_TASKS"):
        monkeypatch.delenv(name, raising=False)
    rng = random.Random(5)
    sums = [(rng.randrange(400), rng.randrange(400)) for _ in range(ROWS)]
    rows = [
        {"problem": f"Let $n = {a} + {b}$. What is {a} + {b}?", "answer": f"{a + b:03}"}
        for a, b in sums
    ]
    Path("problems.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def ask(server: FaultServer, task: str, *more: object) -> tuple[object, ...]:
    address = f"http://127.0.0.1:{server.port}/v1"
    return ("run", task, "--model", "openai:mock", "--base-url", address, *more)


def test_one_command_from_data_to_a_table_with_a_vote() -> None:
    with FaultServer(ok) as server:
        done = run(*ask(server, "problems.jsonl", "-n", 8, "-m", "pass@1,vote@8"))
        assert done.code == 0, done.err
        asked = len(server.requests)
        again = run("init", "problems.jsonl")
        assert (again.code, again.out) == (0, "problems.yaml\n")
        same = run(*ask(server, "problems.yaml", "-n", 8, "-m", "pass@1,vote@8"))
    assert re.search(r"^pass@1 +0\.\d+ +\[.*\] +50 +400$", done.out, re.MULTILINE)
    assert re.search(r"^vote@8 +0\.\d+ +\[.*\] +50 +400$", done.out, re.MULTILINE)
    assert "columns: question = problem, answer = answer\n" in done.err
    assert "scorer: numeric (the answers are numbers)" in done.err
    # The task file asks the same prompts, so that nothing is left to ask.
    assert same.out == done.out
    assert len(server.requests) == asked
    assert "nothing to ask" in same.err


def test_a_system_prompt_in_the_command_and_in_the_file() -> None:
    with FaultServer(ok) as server:
        asked = run(*ask(server, "problems.jsonl", "--limit", 2, "-q", "--system", "Be brief."))
        assert asked.code == 0, asked.err
        assert run("init", "problems.jsonl", "--system", "Be brief.").code == 0
        same = run(*ask(server, "problems.yaml", "--limit", 2))
        assert len(server.requests) == 2
    assert server.requests[0].body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert same.code == 0, same.err
    assert "nothing to ask" in same.err


@pytest.mark.process
def test_the_guesses_are_said_before_the_first_answer() -> None:
    with FaultServer(held()) as server:
        with process(*ask(server, "problems.jsonl", "-n", 8)) as started:
            assert started.stderr is not None
            lines = [started.stderr.readline().decode() for _ in range(4)]
            server.wait_for(1)  # which waits for its answer still
            server.release()
            started.communicate(timeout=60)
        assert started.returncode == 0
    assert lines[0] == "columns: question = problem, answer = answer\n"
    assert lines[3].startswith("guessed; say otherwise with --question")


@pytest.mark.process
def test_nothing_heavy_is_imported_before_the_first_request() -> None:
    code = (
        "import sys; from passband.run.request import make_request; "
        "make_request('problems.jsonl', 'openai:m', base_url='http://localhost:1/v1', n=8)"
        ".tasks[0].load(None); print(*{'numpy', 'pyarrow', 'sympy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_another_prompt_is_not_mixed_with_recorded_answers() -> None:
    with FaultServer(ok) as server:
        command = ask(server, "problems.jsonl", "--limit", 3, "-q")
        assert run(*command).code == 0
        other = run(*command, "--prompt", "{{ problem }} Be brief.")
        assert other.code == 2
        assert "problem '0' has changed its messages" in other.err
        scored = run(*command, "--scorer", "exact_match", "--extract", "last_number")
    assert scored.code == 0  # scoring alone can change
    assert "exact_match (mean)" in scored.out


def test_scoring_again_needs_no_data() -> None:
    with FaultServer(ok) as server:
        assert run(*ask(server, "problems.jsonl", "--limit", 3, "-q")).code == 0
    Path("problems.jsonl").unlink()
    done = run("score", "runs/openai-mock")
    assert done.code == 0, done.err
    assert "numeric" in done.out


def test_a_dry_run_says_what_was_guessed() -> None:
    done = run("run", "problems.jsonl", "--model", "tiny", "--dry-run")
    assert done.code == 0
    assert "note      columns: question = problem, answer = answer" in done.out
    assert "Work step by step, then put the final answer in \\boxed{}." in done.out


def test_quiet_says_nothing_but_warnings() -> None:
    with Path("problems.jsonl").open("a") as file:
        file.write(Path("problems.jsonl").read_text().splitlines()[0] + "\n")
    with FaultServer(ok) as server:
        done = run(*ask(server, "problems.jsonl", "-q", "--limit", 2))
    assert done.err.startswith("warning: problems: 1 of 51 rows repeat an earlier question (row 51")
    assert "columns" not in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "problms.jsonl", "--model", "tiny"), "Did you mean 'problems.jsonl'?"),
        (("run", "problems.jsonl", "--model", "tiny", "--scorer", "nmeric"), "'numeric'"),
        (
            ("run", "arithmetic", "--model", "tiny", "--prompt", "x"),
            "says how a data file",
        ),
        (("init", "problems.yaml"), "a task is made of a data file"),
        (("init", "problems.jsonl", "--output", "x.txt"), "ends with .yaml"),
        (("validate", "problems.jsonl"), "passband init problems.jsonl"),
    ],
)
def test_mistakes(words: tuple[str, ...], told: str) -> None:
    done = run(*words)
    assert done.code == 2
    assert told in done.err
    assert not Path("runs").exists()


def test_a_request_in_python() -> None:
    request = make_request("problems.jsonl", "tiny")
    assert request.tasks[0].notes[0] == "columns: question = problem, answer = answer"
