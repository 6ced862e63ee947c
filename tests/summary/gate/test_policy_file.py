"""Policy files: what they say, and mistakes with their lines and the nearest right key."""

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.summary.gate.policy import GatePolicy, MetricRule, TaskRule
from passband.summary.gate.policy_file import read_policy

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "gate.yaml"


def read(tmp_path: Path, text: str) -> GatePolicy:
    path = tmp_path / "gate.yaml"
    path.write_text(text)
    return read_policy(path)


def test_names_lists_and_mappings_say_the_same(tmp_path: Path) -> None:
    short = read(tmp_path, "metrics: pass@1\ntasks: [sums, words]")
    long = read(tmp_path, "metrics: {pass@1: {}}\ntasks:\n  sums:\n  words: {}")
    assert short == long
    assert short.tasks == {"sums": TaskRule(), "words": TaskRule()}


def test_every_key_is_read(tmp_path: Path) -> None:
    text = """
name: nightly
tolerance: 0.01
metrics: {pass@1: {}, pass@4: {tolerance: 0.05, tier: advisory}}
over: problems
alpha: 0.1
failed: wrong
max_failed: 0.2
max_left_out: 0
others: supporting
tasks: {sums: {tier: advisory, tolerance: 0.2, metrics: [avg]}}
"""
    assert read(tmp_path, text) == GatePolicy(
        "nightly", 0.01, {"pass@1": MetricRule(), "pass@4": MetricRule(0.05, "advisory")},
        "problems", 0.1, "wrong", 0.2, 0,
        {"sums": TaskRule(0.2, "advisory", {"avg": MetricRule()})}, "supporting",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("tolerence: 0.1", 1, "unknown key 'tolerence'. Did you mean 'tolerance'?"),
        ("name: x\nalpha: 2", 2, "alpha must be a number between 0 and 1; got 2."),
        ("tolerance: true", 1, "tolerance must be a number above 0, such as 0.02; got True."),
        ("over: problem", 1, "over must be problems or trials; got 'problem'. Did you mean"),
        ("metrics: [pass@1, pas@4]", 1, "no metric named 'pas@'. Did you mean 'pass@'?"),
        ("tasks:\n  a:\n    teir: required", 3, "unknown key 'teir' in tasks.a. Did you mean"),
        ("tasks:\n  a:\n    metrics:\n      avg:\n        tolerence: 1", 5, "mean 'tolerance'?"),
        ("tasks:\n  a: 3", 2, "tasks.a must be a mapping of keys; got 3."),
        ("others: critical", 1, "others must be required, supporting or advisory; got 'critical'."),
        ("tasks: []", 1, "tasks must be the names of tasks"),
        ("name: 'a --> b'", 1, "name must be up to 60 letters"),
        ("a: ]", 1, "is not YAML"),
        ("", 1, "the file is empty"),
    ],
)  # fmt: skip
def test_a_mistake_has_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read(tmp_path, text)
    assert f"gate.yaml:{line}: " in str(error.value)
    assert words in str(error.value)


def test_the_example_is_a_policy() -> None:
    policy = read_policy(EXAMPLE)
    tiers = {policy.tier_of(task, "pass@1") for task in (*policy.tasks, "other")}
    assert tiers == {"required", "supporting", "advisory"}
