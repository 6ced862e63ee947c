"""EVA's rules: a worked example, a second writing of them from the files, and their properties."""

import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import metrics_summary
from passband.summary.eva.bootstrap import (
    bootstrap_ci_fields,
    mean_ci_fields,
    named_ci_fields,
    run_seed,
)
from passband.summary.eva.composed import displayed
from passband.summary.eva.composites import read_composites
from passband.summary.eva.document import MetricsSummary, PassK
from passband.summary.eva.eva_rules import EvaRules, pass_at_k, pass_power_k
from passband.summary.eva.run import runs_of
from support.fuzz.properties import one_in
from support.samples.eva_runs import (
    CONFIG,
    EXAMPLE,
    SIX,
    Value,
    example,
    metric,
    write_run,
    write_trial,
)


def codes(summary: MetricsSummary) -> set[str]:
    return {note.code for note in summary.notes}


# -- by hand -------------------------------------------------------------------------------


def test_the_worked_example(tmp_path: Path) -> None:
    """s1 = 1, 1, 0; s2 = 1, error, 1; s3 = 0, 0. The mean pools 4 passes of 7 records.

    Its interval is around (2/3 + 1 + 0) / 3. A scenario mean of 0 comes up in all three draws with
    probability 1/27 = 3.7 % > 2.5 %, and so does 1, hence [0, 1]. For pass@k s2 has 2 valid of 3
    attempts and is dropped; s3 has 2 attempts and is kept with k = 2. So pass@1 is (2/3 + 0) / 2,
    pass@k (1 + 0) / 2, pass^k (0 + 0) / 2, and (c/n)^k gives ((2/3)^3 + 0) / 2 = 4/27.
    """
    summary = metrics_summary(example(tmp_path), method="eva")
    assert summary.seed == run_seed(EXAMPLE) == 1906410363
    assert summary.total_records == 8
    entry = summary.per_metric["m"]
    assert entry.mean == 0.5714 == round(4 / 7, 4)
    assert (entry.min, entry.max, entry.count) == (0.0, 1.0, 7)
    assert (entry.none_count, entry.error_count, entry.missing_count) == (1, 1, 0)
    assert (entry.mean_ci_lower, entry.mean_ci_upper, entry.mean_ci_n_scenarios) == (0.0, 1.0, 3)
    block = entry.pass_k
    assert block is not None
    assert block.pass_at_1 == 0.3333
    assert (block.pass_at_1_ci_lower, block.pass_at_1_ci_upper) == (0.0, 0.6667)
    assert block.pass_at_k == 0.5
    assert (block.pass_at_k_ci_lower, block.pass_at_k_ci_upper) == (0.0, 1.0)
    assert block.pass_power_k_observed == 0.0
    assert (block.pass_power_k_observed_ci_lower, block.pass_power_k_observed_ci_upper) == (0, 0)
    assert block.pass_power_k_theoretical == 0.1481 == round(4 / 27, 4)
    assert (block.k, block.count) == (3, 2)
    assert codes(summary) >= {"eva-pooled-mean", "eva-mixed-k", "eva-unseen-trials"}


def test_a_record_without_the_metric_is_counted(tmp_path: Path) -> None:
    run = example(tmp_path)
    write_trial(run, "s3/trial_2", {"other": 1.0})
    entry = metrics_summary(run, method="eva").per_metric["m"]
    assert (entry.total_records, entry.missing_count, entry.none_count) == (9, 1, 2)


def test_composites_of_the_worked_example(tmp_path: Path) -> None:
    """A composite drops s2 for its error and s3 for its third trial; s1 alone is left."""
    rows: dict[str, list[Value | None]] = {
        "s1": [1.0, 1.0, 0.0],
        "s2": [1.0, "error", 1.0],
        "s3": [0.0, 0.0, None],
    }
    trials = {
        name: [None if value is None else SIX | {"task_completion": value} for value in row]  # type: ignore[dict-item]
        for name, row in rows.items()
    }
    summary = metrics_summary(write_run(tmp_path / EXAMPLE, trials), method="eva")
    blocks = summary.overall_scores["pass_k"]
    assert isinstance(blocks, dict)
    block = blocks["EVA-A_pass"]
    assert (block.pass_at_1, block.pass_at_k) == (0.6667, 1.0)
    assert (block.pass_power_k_observed, block.pass_power_k_theoretical) == (0.0, 0.2963)
    assert (block.count, block.pass_at_1_ci_lower, block.pass_at_1_ci_upper) == (1, 0.6667, 0.6667)
    assert set(blocks) == {"EVA-A_pass", "EVA-X_pass", "EVA-overall_pass"}
    assert codes(summary) >= {"eva-dropped-scenarios", "eva-partial-means"}


def test_the_mean_may_lie_outside_its_interval(tmp_path: Path) -> None:
    """Five scenarios of ten passes and fifteen of one failure: 50/65 pooled, 5/20 by scenario."""
    trials: dict[str, list[Mapping[str, Any] | None]] = {
        f"p{i}": [{"m": 1.0}] * 10 for i in range(5)
    }
    trials |= {f"f{i}": [{"m": 0.0}] for i in range(15)}
    summary = metrics_summary(write_run(tmp_path / "run", trials), method="eva")
    entry = summary.per_metric["m"]
    assert entry.mean == 0.7692
    assert entry.mean_ci_upper is not None
    assert entry.mean_ci_upper < 0.5 < entry.mean
    assert "eva-pooled-mean" in codes(summary)
    ours = metrics_summary(tmp_path / "run").per_metric["m"]
    assert ours.mean == pytest.approx(0.25)


def test_errors_without_a_message(tmp_path: Path) -> None:
    """EVA leaves such a trial out of the mean, and takes its 0 into the interval."""
    run = write_run(tmp_path / "run", {"s": [{"m": 1.0}], "t": [{"m": ""}]})
    summary = metrics_summary(run, method="eva")
    entry = summary.per_metric["m"]
    assert (entry.mean, entry.error_count, entry.mean_ci_n_scenarios) == (1.0, 1, 2)
    assert entry.mean_ci_lower == 0.0
    assert "eva-empty-errors" in codes(summary)


def test_turns_and_parts(tmp_path: Path) -> None:
    turns = {"num_turns": 8, "num_evaluated": 6, "num_not_applicable": 1}
    parts = {"early_rate": metric("m.early_rate", 0.25), "late": metric("m.late", "null")}
    trials = [
        {"m": metric("m", 1.0, details=turns, sub_metrics=parts)},
        {"m": metric("m", "error", details=turns, sub_metrics=parts)},
        {"m": metric("m", "skipped", details={"num_turns": 2, "num_evaluated": 2})},
    ]
    summary = metrics_summary(write_run(tmp_path / "run", {"s": trials}), method="eva")
    entry = summary.per_metric["m"]
    coverage, sub_metrics = entry.per_turn_coverage, entry.sub_metrics
    assert coverage is not None
    assert coverage.model_dump() == {
        "total_turns": 10,
        "evaluated_turns": 8,
        "none_turns": 2,
        "none_turn_rate": 0.2,
        "records_with_none_turns": 1,
        "not_applicable_turns": 1,
    }
    gaps = summary.data_quality.metrics_with_per_turn_nones
    assert gaps is not None
    assert gaps["m"].records_affected == 1
    assert sub_metrics is not None
    early, late = sub_metrics["early_rate"], sub_metrics["late"]
    assert (early.mean, early.count, early.missing_count, early.higher_is_better) == (
        0.25,
        1,
        2,
        False,
    )
    assert (late.mean, late.count, late.missing_count, late.higher_is_better) == (None, 0, 3, True)
    assert (entry.missing_count, entry.error_count) == (1, 1)
    assert "eva-skipped-as-missing" in codes(summary)


# -- from trials to scenarios ----------------------------------------------------------------


def rules_of(run: Path) -> EvaRules:
    return EvaRules(runs_of(run)[0], read_composites("eva"), 3, 42)


@pytest.mark.parametrize(
    ("trials", "means"),
    [
        ({"a": [0.5], "b": [1.0]}, [0.5, 1.0]),
        ({"a": [0.0, 0.5, 1.0]}, [0.5]),
        ({"a": [1.0, "error"]}, [1.0]),
        ({"a": ["error", "error"], "b": [0.5]}, [0.5]),
        ({"a": ["error"]}, []),
    ],
)
def test_trials_collapse_to_scenarios(
    tmp_path: Path, trials: dict[str, list[Value]], means: list[float]
) -> None:
    rows = {name: [{"m": value} for value in row] for name, row in trials.items()}
    rules = rules_of(write_run(tmp_path / "run", rows))
    numbers = [displayed(score) for score in rules.columns["m"]]
    assert sorted(rules.scenario_means(numbers)) == means


def test_composites_collapse_to_pass_rates(tmp_path: Path) -> None:
    trials = [SIX, SIX | {"task_completion": 0.0}]
    rules = rules_of(write_run(tmp_path / "run", {"a": trials}))
    column = rules.composite_columns["EVA-A_pass"]
    assert rules.scenario_means([score.number for score in column]) == [0.5]


def test_fields_are_merged_as_in_eva() -> None:
    entry: dict[str, Any] = {"mean": 0.5}
    seed = run_seed("2026-04-16_18-55-44.848147_gpt-realtime-1.5")
    scenario_values = [0.0, 1.0, 0.5]
    entry.update(mean_ci_fields(scenario_values, seed=seed))
    entry.update(bootstrap_ci_fields({"pass_at_1": scenario_values}, seed=seed))
    assert set(entry) == {
        "mean", "mean_ci_lower", "mean_ci_upper", "mean_ci_n_scenarios",
        "pass_at_1_ci_lower", "pass_at_1_ci_upper",
    }  # fmt: skip
    assert entry["mean_ci_lower"] == entry["pass_at_1_ci_lower"]


# -- an exact twin of the two formulas -------------------------------------------------------


@pytest.mark.parametrize("trials", range(1, 8))
def test_formulas(trials: int) -> None:
    for passed in range(trials + 1):
        for k in range(1, trials + 1):
            every = Fraction(math.comb(passed, k), math.comb(trials, k))
            some = 1 - Fraction(math.comb(trials - passed, k), math.comb(trials, k))
            assert pass_power_k(trials, passed, k) == pytest.approx(float(every), abs=1e-15)
            assert pass_at_k(trials, passed, k) == pytest.approx(float(some), abs=1e-15)


# -- the rules a second time, straight from the files ----------------------------------------

values = st.sampled_from([0.0, 1.0, 0.5, 0.8, 0.95, 0.25, "error", "", "skipped"])
names = st.sampled_from([*SIX, "response_speed", "another"])
records = st.dictionaries(names, values, max_size=8)
runs = st.lists(
    st.lists(st.none() | records, min_size=1, max_size=4), min_size=1, max_size=5
).filter(lambda run: any(record for scenario in run for record in scenario))


@one_in(2)
@given(run=runs, k=st.integers(1, 4), nested=st.booleans())
def test_a_second_writing_of_the_rules(
    tmp_path_factory: pytest.TempPathFactory, run: list[Any], k: int, nested: bool
) -> None:
    folder = tmp_path_factory.mktemp("eva") / "run"
    for scenario, trials in enumerate(run):
        for trial, record in enumerate(trials):
            mark = "/" if nested else "_"
            if record is not None:
                write_trial(folder, f"s{scenario}{mark}trial_{trial}", record)
    summary = metrics_summary(folder, method="eva", k=k)
    twin = Twin(folder, k)
    for name, entry in summary.per_metric.items():
        twin.check_metric(name, entry.model_dump())
    for name in ("EVA-A_pass", "EVA-A_mean", "EVA-overall_pass"):
        entry_of = summary.overall_scores[name]
        assert not isinstance(entry_of, dict)
        twin.check_composite(name, entry_of.model_dump())
    blocks = summary.overall_scores.get("pass_k", {})
    assert isinstance(blocks, dict)
    twin.check_pass_k("EVA-overall_pass", blocks.get("EVA-overall_pass"))


class Twin:
    """EVA's rules written again, on the JSON of the files, with exact fractions."""

    def __init__(self, run: Path, k: int) -> None:
        self.k, self.seed = k, run_seed(run.name)
        self.records: list[tuple[str, dict[str, Any]]] = []
        for folder in (run / "records").iterdir():
            inner = sorted(path for path in folder.iterdir() if path.is_dir()) or [folder]
            for path in inner:
                text = (path / "metrics.json").read_text()
                self.records.append(
                    (folder.name.partition("_trial_")[0], json.loads(text)["metrics"])
                )

    def check_metric(self, name: str, entry: dict[str, Any]) -> None:
        all_fields = [metrics.get(name) for _, metrics in self.records]
        whole = [
            m["score"] for m in all_fields if m and m["error"] is None and m["score"] is not None
        ]
        assert entry["count"] == len(whole)
        assert entry["error_count"] == sum(bool(m and m["error"] is not None) for m in all_fields)
        self.same_mean(entry["mean"], whole)
        lenient = [m["score"] if m and not m["error"] else None for m in all_fields]
        assert entry | mean_ci_fields(self.scenario_means(lenient), seed=self.seed) == entry
        threshold = {"task_completion": 1.0, "agent_speech_fidelity": 0.95, "turn_taking": 0.8}
        if name == "response_speed":
            assert entry["pass_k"] is None
            return
        samples: list[tuple[int, int, int]] = []
        for scenario in dict.fromkeys(base for base, _ in self.records):
            tries = [m[name] for base, m in self.records if base == scenario and name in m]
            valid = [m["score"] for m in tries if m["error"] is None and not m["skipped"]]
            draws = min(self.k, len(tries))
            if tries and len(valid) >= draws:
                passed = sum(score >= threshold.get(name, 0.5) for score in valid)
                samples.append((len(valid), passed, draws))
        self.check_block(entry["pass_k"], samples)

    def check_composite(self, name: str, entry: dict[str, Any]) -> None:
        column = [self.composite(name, metrics) for _, metrics in self.records]
        present = [value for value in column if value is not None]
        assert (entry["count"], entry["none_count"]) == (len(present), len(column) - len(present))
        self.same_mean(entry["mean"], present)
        assert entry | mean_ci_fields(self.scenario_means(column), seed=self.seed) == entry

    def check_pass_k(self, name: str, block: PassK | None) -> None:
        samples = []
        for scenario in dict.fromkeys(base for base, _ in self.records):
            column = [self.composite(name, m) for base, m in self.records if base == scenario]
            if self.k > 1 and len(column) >= self.k and None not in column:
                samples.append((len(column), column.count(1.0), self.k))
        self.check_block(None if block is None else block.model_dump(), samples)

    def check_block(
        self, block: dict[str, Any] | None, samples: Sequence[tuple[int, int, int]]
    ) -> None:
        if not samples:
            assert block is None
            return
        assert block is not None
        exact = {
            "pass_at_1": [Fraction(c, n) for n, c, _ in samples],
            "pass_at_k": [
                1 - Fraction(math.comb(n - c, k), math.comb(n, k)) for n, c, k in samples
            ],
            "pass_power_k_observed": [
                Fraction(math.comb(c, k), math.comb(n, k)) for n, c, k in samples
            ],
            "pass_power_k_theoretical": [Fraction(c, n) ** k for n, c, k in samples],
        }
        for name, sample in exact.items():
            assert abs(Fraction(block[name]) - sum(sample) / len(sample)) <= Fraction(51, 10**6)  # type: ignore[operator]
        del exact["pass_power_k_theoretical"]
        floats = {name: [float(value) for value in sample] for name, sample in exact.items()}
        for name, end in named_ci_fields(floats, seed=self.seed).items():
            assert block[name] == pytest.approx(end, abs=1.01e-4)
        assert (block["k"], block["count"]) == (self.k, len(samples))

    def composite(self, name: str, metrics: Mapping[str, Any]) -> float | None:
        accuracy = {"task_completion": 1.0, "faithfulness": 0.5, "agent_speech_fidelity": 0.95}
        experience = {"conversation_progression": 0.5, "turn_taking": 0.8, "conciseness": 0.5}
        if name == "EVA-A_mean":
            found = [
                metrics[m]["score"] for m in accuracy if m in metrics and not metrics[m]["error"]
            ]
            present = [score for score in found if score is not None]
            return sum(present) / len(present) if present else None
        if name == "EVA-overall_pass":
            both = [self.passed(metrics, accuracy), self.passed(metrics, experience)]
            return None if None in both else float(both == [1.0, 1.0])
        return self.passed(metrics, accuracy)

    def passed(self, metrics: Mapping[str, Any], thresholds: Mapping[str, float]) -> float | None:
        if any(name not in metrics or metrics[name]["error"] for name in thresholds):
            return None
        kept = {name: end for name, end in thresholds.items() if not metrics[name]["skipped"]}
        return float(all(metrics[n]["score"] >= end for n, end in kept.items())) if kept else None

    def scenario_means(self, column: Sequence[float | None]) -> list[float]:
        groups: dict[str, list[float]] = {}
        for (scenario, _), value in zip(self.records, column, strict=True):
            if value is not None:
                groups.setdefault(scenario, []).append(value)
        return [sum(group) / len(group) for group in groups.values()]

    def same_mean(self, mean: float | None, sample: Sequence[float]) -> None:
        if not sample:
            assert mean is None
            return
        assert mean is not None
        exact = sum(map(Fraction, sample)) / len(sample)
        assert abs(Fraction(mean) - exact) <= Fraction(51, 10**6)  # type: ignore[operator]


# -- what the description of the fields promises ---------------------------------------------


def clean(run: Path, scenarios: int, passing: int) -> Path:
    """Write one trial of each scenario, of which the first ones pass everything."""
    for number in range(scenarios):
        scores = SIX | {"task_completion": float(number < passing)}
        write_trial(run, f"1.1.{number}", scores)
    (run / "config.json").write_text(json.dumps(CONFIG | {"num_trials": 1}))
    return run


def repeated(run: Path, groups: Sequence[tuple[int, int]]) -> Path:
    """Write three trials of each scenario: (scenarios, passing trials) for each group."""
    number = 0
    for scenarios, passing in groups:
        for _ in range(scenarios):
            number += 1
            for trial in range(3):
                scores = SIX | {"task_completion": float(trial < passing)}
                write_trial(run, f"1.1.{number}/trial_{trial}", scores)
    (run / "config.json").write_text(json.dumps(CONFIG))
    return run


ALL = [
    "EVA-A_pass",
    "EVA-X_pass",
    "EVA-A_mean",
    "EVA-X_mean",
    "EVA-overall_mean",
    "EVA-overall_pass",
]


@pytest.mark.parametrize("method", ["eva", "auto"])
def test_composites_have_intervals(tmp_path: Path, method: str) -> None:
    summary = metrics_summary(clean(tmp_path / "run", 20, 10), method=method)
    assert list(summary.overall_scores) == ALL
    for name in ALL:
        entry = summary.as_json()["overall_scores"][name]
        assert {"mean_ci_lower", "mean_ci_upper", "mean_ci_n_scenarios"} <= set(entry)
        assert entry["mean_ci_n_scenarios"] == entry["count"] == 20
        assert entry["mean_ci_lower"] <= entry["mean"] <= entry["mean_ci_upper"]
        if name == "EVA-X_mean" and method == "auto":  # 0.6 in every scenario
            assert entry["mean_ci_lower"] < entry["mean"] < entry["mean_ci_upper"]
            assert [note["code"] for note in entry["notes"]] == ["all-same-value", "scale-guessed"]
    assert "pass_at_k_config" not in summary.as_json()
    assert "pass_k" not in summary.as_json()["per_metric"]["task_completion"]


@pytest.mark.parametrize("method", ["eva", "auto"])
def test_pass_k_has_three_intervals(tmp_path: Path, method: str) -> None:
    summary = metrics_summary(
        repeated(tmp_path / "run", [(10, 3), (10, 1), (10, 0)]), method=method
    )
    blocks = [
        summary.as_json()["overall_scores"]["pass_k"]["EVA-A_pass"],
        summary.as_json()["per_metric"]["task_completion"]["pass_k"],
    ]
    for block in blocks:
        for name in ("pass_at_1", "pass_at_k", "pass_power_k_observed"):
            assert block[f"{name}_ci_lower"] <= block[name] <= block[f"{name}_ci_upper"]
        assert "pass_power_k_theoretical_ci_lower" not in block
        assert "pass_power_k_theoretical_ci_upper" not in block
        assert block["pass_at_1"] == pytest.approx(4 / 9, abs=1e-4)
        assert block["pass_at_k"] == pytest.approx(2 / 3, abs=1e-4)
        assert block["pass_power_k_observed"] == pytest.approx(1 / 3, abs=1e-4)
        assert block["pass_power_k_theoretical"] == pytest.approx((10 + 10 / 27) / 30, abs=1e-4)


def test_scores_without_a_number_have_null_ends(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run", {"a": [dict.fromkeys(SIX, "error")]}, CONFIG | {"num_trials": 1}
    )
    for method in ("eva", "auto"):
        summary = metrics_summary(run, method=method).as_json()
        entries = [summary["overall_scores"]["EVA-A_pass"], summary["per_metric"]["faithfulness"]]
        for entry in entries:
            assert entry["mean_ci_lower"] is entry["mean_ci_upper"] is entry["mean"] is None
            assert entry["mean_ci_n_scenarios"] == 0
            assert "success_rate" not in entry


def test_runs_are_independent_and_each_is_the_same_again(tmp_path: Path) -> None:
    one, other = clean(tmp_path / "x", 20, 10), clean(tmp_path / "y", 20, 10)
    first, again = (metrics_summary(one, method="eva").to_json() for _ in range(2))
    assert first == again
    a, b = (metrics_summary(run, method="eva").as_json()["overall_scores"] for run in (one, other))
    for name in ("EVA-A_pass", "EVA-A_mean"):
        assert a[name]["mean"] == b[name]["mean"]
        ends = ("mean_ci_lower", "mean_ci_upper")
        assert [a[name][end] for end in ends] != [b[name][end] for end in ends]
    named = metrics_summary(other, method="eva", seed="x").as_json()["overall_scores"]
    assert named == a
