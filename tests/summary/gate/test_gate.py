"""Gates from outcomes: tiers, what is not certified, what is missing."""

from typing import Any

import numpy as np
import pytest

from passband import Outcomes
from passband.errors import ExitCode, InvalidInput
from passband.report.gate.text import gate_notes
from passband.summary.gate.gate import gate
from passband.summary.gate.policy import GatePolicy, MetricRule, TaskRule
from passband.summary.gate.result import GateResult

BASE = Outcomes.from_counts([3, 0, 8, 5, 1, 7, 0, 2] * 25, 8)
SAME = Outcomes.from_counts([3, 0, 7, 5, 2, 7, 0, 2] * 25, 8)
WORSE = Outcomes.from_counts([2, 0, 7, 4, 0, 6, 0, 1] * 25, 8)
FEW = Outcomes.from_counts([3, 0, 7, 5, 2, 7, 0, 2], 8, problems=range(8))
TASKS = GatePolicy(tolerance=0.03, tasks={"a": TaskRule(), "b": TaskRule(tier="supporting")})


def verdicts(result: GateResult) -> dict[str, str]:
    return {line.task: line.verdict for line in result.lines}


def test_a_required_task_must_be_shown_to_be_no_worse() -> None:
    passed = gate({"a": BASE}, {"a": SAME}, GatePolicy(tolerance=0.03))
    assert (passed.verdict, passed.exit_code) == ("pass", ExitCode.OK)
    lost = gate({"a": BASE}, {"a": WORSE}, GatePolicy(tolerance=0.03))
    assert (lost.verdict, lost.exit_code) == ("regression", ExitCode.REGRESSION)
    small = BASE.take(np.arange(8))
    left = gate({"a": small}, {"a": FEW}, GatePolicy(tolerance=0.03))
    assert (left.verdict, left.exit_code) == ("undecided", ExitCode.UNDECIDED)
    assert left.lines[0].more is not None


def test_a_supporting_task_must_not_be_shown_to_be_worse() -> None:
    def result(new: Outcomes) -> GateResult:
        return gate({"a": BASE, "b": BASE}, {"a": SAME, "b": new}, TASKS)

    assert result(WORSE).verdict == "regression"
    left_open = result(FEW)
    assert left_open.verdict == "pass"
    assert verdicts(left_open)["b"] == "not-certified"


def test_what_is_not_named_is_advisory_and_decides_nothing() -> None:
    result = gate({"a": BASE, "c": BASE}, {"a": SAME, "c": WORSE}, TASKS)
    assert result.verdict == "pass"
    assert verdicts(result) == {"a": "pass", "b": "not-certified", "c": "regression"}


@pytest.mark.parametrize("side", [0, 1])
def test_a_missing_required_task_is_not_certified(side: int) -> None:
    sides = [{"a": BASE}, {"a": SAME}]
    sides[side] = {}
    result = gate(*sides, GatePolicy(tasks={"a": TaskRule()}))  # type: ignore[arg-type]
    assert (result.verdict, result.exit_code) == ("not-certified", ExitCode.UNDECIDED)
    assert ("BASE", "NEW")[side] in result.lines[0].reason


def test_a_comparison_has_the_weaker_tier_and_the_nearest_tolerance() -> None:
    policy = GatePolicy(
        tolerance=0.1,
        metrics={"pass@1,2": MetricRule(0.2, "supporting")},
        tasks={
            "a": TaskRule(tolerance=0.3),
            "b": TaskRule(
                tier="advisory", metrics={"pass@1": MetricRule(0.4), "avg": MetricRule()}
            ),
        },
    )
    assert policy.tier_of("a", "pass@2") == "supporting"
    assert policy.tier_of("b", "pass@1") == "advisory"
    assert policy.tier_of("c", "pass@2") == "advisory"
    pairs = [("a", "pass@2"), ("b", "pass@1"), ("b", "avg"), ("c", "pass@2")]
    assert [policy.tolerance_of(*pair) for pair in pairs] == [0.3, 0.4, 0.1, 0.2]


def test_a_rule_for_every_k_is_for_its_own_family_and_yields_to_one_k() -> None:
    metrics = {
        "pass@*": MetricRule(tier="advisory"),
        "pass@2": MetricRule(tolerance=0.1),
        "pass^1": MetricRule(tolerance=0.05),
    }
    policy = GatePolicy(metrics=metrics)
    assert policy.tier_of("a", "pass@4") == "advisory"
    assert (policy.tier_of("a", "pass@2"), policy.tolerance_of("a", "pass@2")) == ("required", 0.1)
    assert (policy.tier_of("a", "pass^1"), policy.tolerance_of("a", "pass^1")) == ("required", 0.05)


def test_failed_trials_that_are_left_out_or_wrong_are_mentioned() -> None:
    failed = [1] + [0] * 199
    new = Outcomes.from_counts(SAME.successes, 8, unscored={"timeout": failed})
    for choice, words in (("drop", "are left out"), ("wrong", "count as wrong")):
        policy = GatePolicy(tolerance=0.03, failed=choice)  # type: ignore[arg-type]
        notes = gate_notes(gate({"a": BASE}, {"a": new}, policy))
        assert f"a / pass@1: failed trials (0 of BASE, 1 of NEW) {words}, as asked" in notes


def test_a_run_of_errors_is_a_loss_only_where_errors_are_wrong_answers() -> None:
    broken = Outcomes.from_counts([0] * 200, 0, unscored={"timeout": [8] * 200})
    for choice, verdict in (("wrong", "regression"), ("bracket", "not-certified")):
        policy = GatePolicy(failed=choice, max_failed=1.0)  # type: ignore[arg-type]
        assert gate({"a": BASE}, {"a": broken}, policy).verdict == verdict


@pytest.mark.parametrize(
    "wrong", [{"failed": "wrogn"}, {"others": "requird"}, {"tolerance": float("nan")}]
)
def test_a_policy_refuses_what_it_does_not_know(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"must be .*; got"):
        GatePolicy(**wrong)
    with pytest.raises(InvalidInput, match="Did you mean 'advisory'"):
        TaskRule(tier="advisry")  # type: ignore[arg-type]
