"""EVA's aggregation by name: what its functions give for trials that were worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from passband.errors import WrongType
from passband.summary.eva.aggregation import (
    compute_record_aggregates,
    compute_run_level_aggregates,
    scenario_means_for_metric,
)
from passband.summary.eva.bootstrap import mean_ci_fields


def trial(**scores: Any) -> dict[str, Any]:
    return {"metrics": {name: {"score": score} for name, score in scores.items()}}


def passing(task: float) -> dict[str, Any]:
    return trial(task_completion=task, faithfulness=0.5, agent_speech_fidelity=0.96)


RUN = {
    "s1/trial_0": passing(1.0),
    "s1/trial_1": passing(0.0),
    "s2/trial_0": passing(1.0),
    "s2/trial_1": passing(1.0),
}


def test_scenario_means() -> None:
    assert scenario_means_for_metric(RUN, "task_completion").tolist() == [0.5, 1.0]
    errored = {**RUN, "s3": {"metrics": {"task_completion": {"score": 0.0, "error": "no"}}}}
    assert scenario_means_for_metric(errored, "task_completion").tolist() == [0.5, 1.0]
    assert scenario_means_for_metric(RUN, "conciseness").tolist() == []
    normalized = {"a": {"metrics": {"m": {"score": 3.0, "normalized_score": 0.5}}}}
    assert scenario_means_for_metric(normalized, "m").tolist() == [0.5]


def test_composites_of_a_trial() -> None:
    made = compute_record_aggregates(passing(1.0))
    assert made["EVA-A_pass"] == 1.0
    assert made["EVA-A_mean"] == pytest.approx((1 + 0.5 + 0.96) / 3)
    assert made["EVA-X_pass"] is None
    assert made["EVA-overall_pass"] is None
    assert compute_record_aggregates(passing(0.0))["EVA-A_pass"] == 0.0


def test_composites_of_a_run() -> None:
    made = compute_run_level_aggregates(RUN, 2, seed=7)
    entry = made["EVA-A_pass"]
    assert (entry["mean"], entry["count"], entry["none_count"]) == (0.75, 4, 0)
    interval = mean_ci_fields([0.5, 1.0], seed=7)
    assert {name: entry[name] for name in interval} == interval
    block = made["pass_k"]["EVA-A_pass"]
    assert (block["pass_at_1"], block["pass_at_k"]) == (0.75, 1.0)
    assert (block["pass_power_k_observed"], block["pass_power_k_theoretical"]) == (0.5, 0.625)
    assert "pass_k" not in compute_run_level_aggregates(RUN, seed=7)
    assert compute_run_level_aggregates({}, seed=7) == {}


def test_what_is_no_trial_is_refused() -> None:
    with pytest.raises(WrongType, match=r"metrics\.json"):
        compute_record_aggregates({"task_completion": 1.0})
