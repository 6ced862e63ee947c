"""The commands that describe tinker-cookbook's bootstrapped evaluation, under passband's name.

Only the module paths differ, and where the weights come from: a server instead of tinker.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from passband.inspect_evals.bootstrap_utils import (
    bootstrap_mean,
    bootstrap_stderr,
    mean_metric,
    pass_at_k,
)
from passband.inspect_evals.run_bootstrapped_inspect_evals import main
from passband.trials.reader import Trials
from support.servers.fault_server import FaultServer, ok

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

BASIC_USAGE = r"""
python -m passband.inspect_evals.run_bootstrapped_inspect_evals \
    model_name="Qwen/Qwen3-8B-Base" \
    model_path="sampler_weights/run_name" \
    tasks=support.samples.seed_tasks:aime2024 \
    renderer_name="qwen3_instruct" \
    max_tokens=16384 \
    temperature=0.6 \
    top_p=0.95 \
    num_choices=64 \
    pass_at_k=1 \
    bootstrap_stderr=True \
    bootstrap_iters=1000 \
    bootstrap_seed=42
"""
INTEGRATION_TEST = r"""
python -m passband.inspect_evals.run_bootstrapped_inspect_evals \
    model_path="your-model-path" \
    tasks=support.samples.seed_tasks:simple_math_task \
    renderer_name="qwen3_instruct" \
    model_name="Qwen/Qwen3-8B-Base" \
    num_choices=3 \
    pass_at_k=1 \
    limit=2 \
    bootstrap_stderr=True
"""
LINES = re.compile(
    r"(\w+)/pass@(\d+): (\d\.\d{4})\n"
    r"\1/pass@\2_bootstrap_stderr: (\d\.\d{6})\n"
    r"\1/pass@\2_bootstrap_mean: (\d\.\d{4})\n"
)


def words(command: str) -> list[str]:
    """Return the words of a command after `python`, as a shell does."""
    return shlex.split(command.replace("\\\n", " "))[1:]


def scores(out: Path) -> list[list[int]]:
    """Return the scores of every problem."""
    with Trials(out) as trials:
        run = trials.run()
        found: dict[int, list[int]] = {}
        for row in trials.trials(run):
            found.setdefault(row.problem, []).append(int(row.scores[0].value or 0))
        return list(found.values())


def test_basic_usage(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    with FaultServer(ok) as server:
        main([*words(BASIC_USAGE)[2:], f"base_url={server.url}", f"out={out}", "seed=7"])
    printed = capsys.readouterr()
    match = LINES.fullmatch(printed.out)
    assert match is not None
    problems = scores(out)
    assert [len(problem) for problem in problems] == [64] * 6
    values = [pass_at_k(problem, k=1) for problem in problems]
    error = bootstrap_stderr(mean_metric, values, 1000, seed=42)
    mean = bootstrap_mean(mean_metric, values, 1000, seed=42)
    assert match.groups() == (
        "aime2024", "1", f"{mean_metric(values):.4f}", f"{error:.6f}", f"{mean:.4f}"
    )  # fmt: skip
    assert "renderer_name=qwen3_instruct is only for tinker" in printed.err
    assert len(server.requests) == 6 * 64
    for request in server.requests:
        assert request.body["model"] == "sampler_weights/run_name"
        assert request.body["max_tokens"] == 16384
        assert (request.body["temperature"], request.body["top_p"]) == (0.6, 0.95)
        assert not {"top_k", "n"} & request.body.keys()
    seeds = {request.body["seed"] for request in server.requests}
    assert len(seeds) == 6 * 64  # no two trials share one


@pytest.mark.process
def test_integration_test() -> None:
    tests = Path(__file__).parent.parent
    with FaultServer(ok) as server:
        command = [sys.executable, *words(INTEGRATION_TEST), f"base_url={server.url}"]
        done = subprocess.run(command, cwd=tests, capture_output=True, text=True, check=True)
    match = LINES.fullmatch(done.stdout)
    assert match is not None
    assert match.group(1) == "simple_math_task"
    assert len(server.requests) == 2 * 3
    assert all("seed" not in request.body for request in server.requests)
    assert "a task may print" in done.stderr


@pytest.mark.process
def test_the_package_is_a_command_too() -> None:
    command = [sys.executable, "-m", "passband.inspect_evals", "help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "num_choices=1\n" in done.stdout


def test_pass_at_several(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    with FaultServer(ok) as server:
        options = [f"base_url={server.url}", f"out={out}", "num_choices=8", "pass_at_k=4"]
        main(["tasks=support.samples.seed_tasks:simple_math_task", "model_name=m", *options])
    match = LINES.fullmatch(capsys.readouterr().out)
    assert match is not None
    values = [pass_at_k(problem, k=4) for problem in scores(out)]
    assert match.groups()[1:3] == ("4", f"{mean_metric(values):.4f}")
