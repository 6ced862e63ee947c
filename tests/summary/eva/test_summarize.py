"""metrics_summary: one weighting, every status told apart, k never mixed, from any source."""

import json
from collections.abc import Mapping
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import passband
from passband import InvalidInput, MetricsSummary, Outcomes, estimate, metrics_summary
from passband.summary.eva.document import CompositeEntry, MetricFields, schema
from passband.trials.rows import ScoreRow, Status, TrialRow
from support.fuzz.properties import one_in
from support.runs.commands import run as command
from support.samples.any_files import json_values
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
from support.samples.stores import begin, problem, writing

RECORDED: dict[str, list[Any]] = {
    "s1": [1.0, 1.0, 0.0],
    "s2": [1.0, "error", 1.0],
    "s3": [0.0, 0.0, None],
}


def scored(at: int, trial: int, scores: Mapping[int, float], status: Status = "ok") -> TrialRow:
    rows = [ScoreRow(scorer, value) for scorer, value in scores.items()]
    return TrialRow(at, trial, status, "text", scores=rows)


def composite(summary: MetricsSummary, name: str) -> CompositeEntry:
    entry = summary.overall_scores[name]
    assert isinstance(entry, CompositeEntry)
    return entry


def composed(folder: Path, rows: Mapping[str, list[Any]], **others: Value) -> Path:
    """Write a run in which task_completion is as given, and all else passes."""
    trials = {
        name: [None if v is None else SIX | {"task_completion": v} | others for v in row]
        for name, row in rows.items()
    }
    return write_run(folder, trials)


# -- by hand -------------------------------------------------------------------------------


def test_the_worked_example(tmp_path: Path) -> None:
    """s1 = 1, 1, 0; s2 = 1, error, 1; s3 = 0, 0 of three planned trials each.

    The mean over scenarios is (2/3 + 1 + 0) / 3 = 5/9, and so is pass@1. Only s1 has three scored
    trials: pass@3 is 1, pass^3 is 0 and ((2/3)^3) is 8/27.
    """
    summary = metrics_summary(example(tmp_path))
    assert summary.total_records == 9
    entry = summary.per_metric["m"]
    assert entry.mean == pytest.approx(5 / 9)
    assert entry.statuses == {"ok": 7, "errored": 1, "missing": 1}
    assert (entry.count, entry.error_count, entry.missing_count, entry.skipped_count) == (
        7,
        1,
        1,
        0,
    )
    assert (entry.none_count, entry.mean_ci_n_scenarios) == (2, 3)
    counts = Outcomes.from_counts([2, 2, 0], [3, 2, 2])
    twin = estimate(counts, "avg")
    assert (entry.mean_ci_lower, entry.mean_ci_upper) == (twin.low, twin.high)
    block = entry.pass_k
    assert block is not None
    assert block.pass_at_1 == pytest.approx(5 / 9)
    assert (block.pass_at_k, block.pass_power_k_observed) == (1.0, 0.0)
    assert block.pass_power_k_theoretical == pytest.approx(8 / 27)
    assert (block.k, block.count, block.left_out) == (3, 1, 2)
    codes = [note.code for note in block.notes]
    assert codes.count("one-problem") == 2
    assert {"left-out", "theoretical-biased"} <= set(codes)
    quality = summary.data_quality
    assert (quality.records_with_errors, quality.records_with_missing) == (1, 1)
    assert quality.records_with_any_none == 2
    assert summary.metric_errors is not None
    assert summary.metric_errors["m"].failed_records == ["s2/trial_1"]


def test_failures_by_policy(tmp_path: Path) -> None:
    """With the error and the missing trial as failures: 2/3, 2/3 and 0 of three trials each."""
    block = metrics_summary(example(tmp_path), policy="fail").per_metric["m"].pass_k
    assert block is not None
    assert block.pass_at_1 == pytest.approx(4 / 9)
    assert block.pass_at_k == pytest.approx(2 / 3)
    assert (block.pass_power_k_observed, block.count, block.left_out) == (0.0, 3, 0)
    assert block.pass_power_k_theoretical == pytest.approx(16 / 81)
    with pytest.raises(InvalidInput, match="1 errored, 1 missing without a score"):
        metrics_summary(tmp_path / "run_2026-06-01_example", policy="error")


def test_two_draws_use_every_scenario(tmp_path: Path) -> None:
    """pass@2: 1 - C(1,2)/C(3,2) = 1, 1 and 0; pass^2: C(2,2)/C(3,2) = 1/3, 1 and 0."""
    block = metrics_summary(example(tmp_path), k=2).per_metric["m"].pass_k
    assert block is not None
    assert block.pass_at_k == pytest.approx(2 / 3)
    assert block.pass_power_k_observed == pytest.approx(4 / 9)
    assert (block.count, block.left_out) == (3, 0)


def test_more_draws_than_trials(tmp_path: Path) -> None:
    block = metrics_summary(example(tmp_path), k=4).per_metric["m"].pass_k
    assert block is not None
    assert (block.pass_at_k, block.pass_at_k_ci_lower, block.count, block.left_out) == (
        None, None, 0, 3,
    )  # fmt: skip
    assert block.pass_at_1 == pytest.approx(5 / 9)
    assert "no-estimate-not-enough-data" in [note.code for note in block.notes]


def test_composites_use_the_same_trials_as_their_pass_k(tmp_path: Path) -> None:
    summary = metrics_summary(composed(tmp_path / "run", RECORDED))
    entry = composite(summary, "EVA-A_pass")
    assert entry.mean == entry.success_rate == pytest.approx(5 / 9)
    assert (entry.count, entry.error_count, entry.missing_count) == (7, 1, 1)
    blocks = summary.overall_scores["pass_k"]
    assert isinstance(blocks, dict)
    block, plain = blocks["EVA-A_pass"], summary.per_metric["task_completion"].pass_k
    assert plain is not None
    assert block.pass_at_k == plain.pass_at_k == 1.0
    assert block.count == plain.count == 1
    # EVA-A_mean is 2.45/3 or 1.45/3, and has no score where a component errored
    mean = composite(summary, "EVA-A_mean")
    assert mean.count == 7
    assert mean.mean == pytest.approx(1.45 / 3 + (5 / 9) / 3)
    assert mean.success_rate == pytest.approx(5 / 9)


def test_skipped_is_neither_missing_nor_failed(tmp_path: Path) -> None:
    rows = {"a": [1.0, "skipped", "skipped"], "b": [0.0, "skipped", 1.0]}
    trials = {name: [{"m": value} for value in row] for name, row in rows.items()}
    run = write_run(tmp_path / "run", trials)
    entry = metrics_summary(run).per_metric["m"]
    assert (entry.count, entry.skipped_count, entry.missing_count) == (3, 3, 0)
    assert entry.mean == pytest.approx(0.75)
    failed = metrics_summary(run, policy="fail").per_metric["m"]
    assert failed.mean == pytest.approx(0.75)
    assert metrics_summary(run, policy="error").per_metric["m"].mean == pytest.approx(0.75)
    quality = metrics_summary(run).data_quality
    assert (quality.records_with_skipped, quality.metrics_with_skipped) == (3, {"m": 3})
    assert quality.metrics_with_missing == {}


def test_a_composite_of_what_was_skipped(tmp_path: Path) -> None:
    accuracy = dict.fromkeys(
        ["task_completion", "faithfulness", "agent_speech_fidelity"], "skipped"
    )
    run = write_run(tmp_path / "run", {"a": [SIX | accuracy] * 3})
    entry = composite(metrics_summary(run), "EVA-A_pass")
    assert (entry.mean, entry.skipped_count, entry.missing_count) == (None, 3, 0)
    assert composite(metrics_summary(run), "EVA-overall_mean").mean == pytest.approx(0.6)


def test_parts_are_weighted_like_the_whole(tmp_path: Path) -> None:
    def trial(part: float) -> dict[str, Any]:
        return {"m": metric("m", 1.0, sub_metrics={"x_rate": metric("m.x_rate", part)})}

    run = write_run(tmp_path / "run", {"a": [trial(1.0)] * 3, "b": [trial(0.0)]})
    parts = metrics_summary(run).per_metric["m"].sub_metrics
    assert parts is not None
    assert parts["x_rate"].mean == pytest.approx(0.5)
    assert (parts["x_rate"].count, parts["x_rate"].missing_count) == (4, 2)
    pooled = metrics_summary(run, method="eva").per_metric["m"].sub_metrics
    assert pooled is not None
    assert pooled["x_rate"].mean == 0.75


def test_a_trial_without_metrics_is_an_error_of_every_metric(tmp_path: Path) -> None:
    run = example(tmp_path)
    write_trial(run, "s3/trial_2", None)
    entry = metrics_summary(run).per_metric["m"]
    assert (entry.error_count, entry.missing_count, entry.total_records) == (2, 0, 9)
    assert metrics_summary(run, method="eva").per_metric["m"].total_records == 8


@pytest.mark.parametrize(
    ("rule", "rows", "reason"),
    [
        ("{higher_is_better: false}", [[5.0, 2.0], ["error", 3.0]], "lower is better for m"),
        ("{threshold: 0.5}", [[0.5, -0.5], ["error", 1.0]], "some scores are below 0"),
    ],
)
def test_nothing_fails_with_a_score_that_is_not_the_worst(
    tmp_path: Path, rule: str, rows: Any, reason: str
) -> None:
    trials = {f"s{at}": [{"m": value} for value in row] for at, row in enumerate(rows)}
    run = write_run(tmp_path / "run", trials, {"num_trials": 2})
    text = f"composites:\n  mean: {{aggregation: mean, components: [m]}}\nmetrics:\n  m: {rule}\n"
    (tmp_path / "c.yaml").write_text(text)
    summary = metrics_summary(run, composites=tmp_path / "c.yaml", policy="fail")
    for entry in (summary.per_metric["m"], composite(summary, "mean")):
        assert (entry.mean, entry.mean_ci_lower, entry.mean_ci_n_scenarios) == (None, None, 0)
        (note,) = entry.notes
        assert note.code == "no-estimate-no-failing-score"
        assert note.text.startswith(f"{reason}, so a trial without a score (1 errored) cannot")
    block = summary.per_metric["m"].pass_k
    if block is not None:  # a trial that failed does not reach a threshold, whatever the scale
        assert block.pass_at_1 == 0.5
    dropped = metrics_summary(run, composites=tmp_path / "c.yaml").per_metric["m"]
    assert dropped.mean == pytest.approx(sum(rows[0]) / 4 + rows[1][1] / 2)


def test_the_policy_error_names_the_metric(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"{EXAMPLE}: m: 1 errored, 1 missing without a score"):
        metrics_summary(example(tmp_path), policy="error")


def test_a_method_that_does_not_apply_leaves_the_value() -> None:
    entry = metrics_summary([[0.5, 1.0], [0.25, 0.0]], method="hierarchical").per_metric["score"]
    assert (entry.mean, entry.mean_ci_n_scenarios) == (0.4375, 2)
    assert (entry.mean_ci_lower, entry.mean_ci_upper) == (None, None)
    (note,) = entry.notes
    assert note.code == "no-interval-by-method"
    assert "need scores of 0 or 1" in note.text


@pytest.mark.parametrize(
    ("method", "is_random"),
    [("eva", True), ("studentized", True), ("percentile", False), ("bca", False), ("auto", False)],
)
def test_random_numbers_are_those_of_the_name(tmp_path: Path, method: str, is_random: bool) -> None:
    trials = {f"s{at}": [{"m": (at * number % 11) / 10} for number in (3, 5)] for at in range(9)}
    runs = [write_run(tmp_path / name, trials, {"num_trials": 2}) for name in ("x", "y")]
    x, y = (metrics_summary(run, method=method).per_metric["m"] for run in runs)
    assert x.mean == y.mean
    assert (x.mean_ci_lower != y.mean_ci_lower) == is_random
    assert metrics_summary(runs[1], method=method, seed="x").per_metric["m"] == x


def test_tasks_and_models_are_named_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("model,task,problem,score\na,x,p,1\na,y,p,1\nb,x,p,0\n")
    with pytest.raises(InvalidInput, match=r"no model named 'c'. It has a, b\."):
        metrics_summary(path, model="c")


def test_a_table_with_one_trial_each_has_no_pass_k(tmp_path: Path) -> None:
    summary = metrics_summary([[1], [0]], method="eva")
    assert summary.per_metric["score"].pass_k is None
    assert summary.pass_at_k_config is None
    assert "theoretical-biased" not in [note.code for note in summary.notes]


# -- properties ----------------------------------------------------------------------------

cells = st.sampled_from([0.0, 1.0, 0.5, "error", "skipped"])
rows = st.lists(st.lists(cells, min_size=1, max_size=4), min_size=1, max_size=5)


@one_in(2)
@given(rows=rows)
def test_the_mean_is_the_mean_of_means(tmp_path_factory: pytest.TempPathFactory, rows: Any) -> None:
    run = tmp_path_factory.mktemp("eva") / "run"
    write_run(run, {f"s{i}": [{"m": v} for v in row] for i, row in enumerate(rows)}, None)
    entry = metrics_summary(run).per_metric["m"]
    numbers = [[Fraction(v) for v in row if isinstance(v, float)] for row in rows]
    means = [sum(row) / len(row) for row in numbers if row]
    if means:
        assert entry.mean == pytest.approx(float(sum(means) / len(means)))
    else:
        assert entry.mean is None
    assert entry.mean_ci_n_scenarios == len(means)
    assert entry.count + entry.none_count == entry.total_records
    if (
        entry.mean is not None
        and entry.mean_ci_lower is not None
        and entry.mean_ci_upper is not None
    ):
        assert entry.mean_ci_lower <= entry.mean <= entry.mean_ci_upper
    planned = max(len(row) for row in rows) * len(rows)
    assert entry.total_records == planned


names = st.sampled_from([*SIX, "other"])
contents = st.dictionaries(names, json_values | cells.map(lambda v: metric("m", v)), max_size=4)  # type: ignore[arg-type]


@one_in(2)
@given(trials=st.lists(contents, min_size=1, max_size=4), method=st.sampled_from(["auto", "eva"]))
def test_any_run(tmp_path_factory: pytest.TempPathFactory, trials: Any, method: str) -> None:
    run = tmp_path_factory.mktemp("eva") / "run"
    write_trial(run, "s/trial_0", {"m": 1.0})
    for number, metrics in enumerate(trials, start=1):
        folder = write_trial(run, f"s/trial_{number}", None)
        (folder / "metrics.json").write_text(json.dumps({"metrics": metrics}))
    summary = metrics_summary(run, method=method, skip_bad=True)
    assert MetricsSummary.from_json(summary.to_json()).to_json() == summary.to_json()
    assert summary.per_metric["m"].count == 1


# -- any source ----------------------------------------------------------------------------

MATRIX = [[1, 0, 1], [1, 1, None], [0, 0, 0]]


def stored(folder: Path) -> Path:
    with writing(folder) as store:
        run, (scorer,) = begin(store, [problem(at) for at in range(len(MATRIX))])
        for at, row in enumerate(MATRIX):
            for trial, value in enumerate(row):
                scores = {} if value is None else {scorer: float(value)}
                store.append(run, [scored(at, trial, scores, "ok" if scores else "invalid")])
    return folder


def sources(folder: Path) -> dict[str, Any]:
    table = pd.DataFrame(
        [(f"p{i}", score) for i, row in enumerate(MATRIX) for score in row],
        columns=["problem", "score"],
    )
    table.to_csv(folder / "trials.csv", index=False)
    trials = {
        f"p{i}": [{"score": "error" if v is None else float(v)} for v in row]
        for i, row in enumerate(MATRIX)
    }
    return {
        "matrix": MATRIX,
        "outcomes": Outcomes.from_array(MATRIX),
        "frame": table,
        "csv": folder / "trials.csv",
        "eva": write_run(folder / "eva", trials),
        "run": stored(folder / "run"),
    }


def test_every_source_gives_the_same_numbers(tmp_path: Path) -> None:
    expected = estimate(Outcomes.from_array(MATRIX), ["avg", "pass@2", "pass^2"])
    for name, source in sources(tmp_path).items():
        (entry,) = metrics_summary(source, k=2).per_metric.values()
        assert (entry.count, entry.none_count) == (8, 1), name
        assert (entry.mean, entry.mean_ci_lower) == (expected[0].value, expected[0].low), name
        block = entry.pass_k
        assert block is not None
        assert (block.pass_at_k, block.pass_at_k_ci_upper) == (expected[1].value, expected[1].high)
        assert (block.pass_power_k_observed, block.count) == (expected[2].value, 3)


def test_every_scorer_of_a_run_directory_is_a_metric(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, (exact, loose) = begin(
            store, [problem(0), problem(1)], [("exact", "exact 1"), ("loose", "loose 1")]
        )
        for place in range(2):
            for trial in range(2):
                store.append(run, [scored(place, trial, {exact: float(trial), loose: 1.0})])
    text = (
        "composites:\n  both: {aggregation: pass, components: {exact: '== 1', loose: '> 0'}}\n"
        "metrics:\n  loose: {exclude_from_pass_at_k: true}\n"
    )
    (tmp_path / "c.yaml").write_text(text)
    before = (tmp_path / "run" / "trials.sqlite").read_bytes()
    summary = metrics_summary(tmp_path / "run", composites=tmp_path / "c.yaml")
    assert summary.run == "run"
    assert set(summary.per_metric) == {"exact", "loose"}
    assert composite(summary, "both").mean == 0.5
    assert summary.per_metric["loose"].pass_k is None
    assert summary.pass_at_k_config is not None
    assert summary.pass_at_k_config.exclude_metrics == ["loose"]
    assert summary.pass_at_k_config.per_metric_thresholds == {"exact": 0.5}
    assert (tmp_path / "run" / "trials.sqlite").read_bytes() == before


def test_statuses_of_a_run_directory(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, (exact,) = begin(store, [problem(0), problem(1)])
        store.append(run, [scored(0, 0, {exact: 1.0}), scored(0, 1, {}, "truncated")])
        store.append(run, [scored(1, 0, {exact: 0.0}), scored(1, 3, {}, "gave_up")])
    entry = metrics_summary(tmp_path / "run").per_metric["exact"]
    assert entry.statuses == {"ok": 2, "truncated": 1, "gave_up": 1}
    assert (entry.error_count, entry.missing_count) == (2, 0)


def test_scores_of_trials_that_were_cut_short(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, (scorer,) = begin(store, [problem(0)])
        for trial, status in enumerate(["ok", "truncated", "truncated", "limit", "refused"]):
            scores = {} if status == "refused" else {scorer: 1.0}
            store.append(run, [scored(0, trial, scores, status)])  # type: ignore[arg-type]
    summary = metrics_summary(tmp_path / "run")
    assert summary.remarks == ["2 truncated and 1 limit trials are scored all the same"]
    assert summary.per_metric["exact"].statuses == {"ok": 4, "refused": 1}


def test_an_imported_run_is_the_run_that_was_imported(tmp_path: Path) -> None:
    run = example(tmp_path)
    assert command("import", run, "-o", tmp_path / "imported").code == 0
    first, second = (metrics_summary(path).per_metric["m"] for path in (run, tmp_path / "imported"))
    assert (second.mean, second.mean_ci_lower) == (first.mean, first.mean_ci_lower)
    assert (second.error_count, second.missing_count, second.total_records) == (1, 1, 9)
    assert second.pass_k == first.pass_k
    again = metrics_summary(tmp_path / "imported", method="eva", seed=run.name).per_metric["m"]
    assert again == metrics_summary(run, method="eva").per_metric["m"]


def test_runs_of_one_source(tmp_path: Path) -> None:
    rows = [(m, f"p{i}", i % 2) for m in ("x", "y") for i in range(4)]
    path = tmp_path / "trials.csv"
    pd.DataFrame(rows, columns=["model", "problem", "score"]).to_csv(path, index=False)
    summaries = passband.metrics_summaries(path)
    assert [summary.run for summary in summaries] == ["trials / x", "trials / y"]
    assert summaries[0].seed != summaries[1].seed
    assert metrics_summary(path, model="y").run == "trials / y"
    with pytest.raises(InvalidInput, match="holds 2 runs"):
        metrics_summary(path)
    with pytest.raises(InvalidInput, match="no model named 'z'"):
        metrics_summary(path, model="z")


def test_draws_are_those_planned_or_those_of_all(tmp_path: Path) -> None:
    rows = {"a": [{"m": 1.0}] * 4, "b": [{"m": 1.0}] * 2}
    planned = write_run(tmp_path / "planned", rows, {"num_trials": 3})
    block = metrics_summary(planned).per_metric["m"].pass_k
    assert block is not None
    assert (block.k, block.count, block.left_out) == (3, 1, 1)
    block = metrics_summary([[1, 1, 0, 0], [1, 0]]).per_metric["score"].pass_k
    assert block is not None
    assert (block.k, block.count, block.left_out) == (2, 2, 0)
    assert metrics_summary([[1, 1, 0, 0], [1]]).per_metric["score"].pass_k is None


def test_a_run_is_named_as_its_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = example(tmp_path)
    (tmp_path / "latest").symlink_to(run)
    assert metrics_summary(tmp_path / "latest").run == "latest"
    monkeypatch.chdir(run)
    assert metrics_summary(".").run == metrics_summary(f"../{run.name}/").run == run.name


def test_scores_beyond_one_have_no_usual_threshold(tmp_path: Path) -> None:
    trials = {f"s{i}": [{"bleu": 10.0 * i}] * 2 for i in range(4)}
    run = write_run(tmp_path / "run", trials, CONFIG | {"num_trials": 2})
    summary = metrics_summary(run, composites="none")
    assert summary.per_metric["bleu"].pass_k is None
    assert "no-pass-threshold" in [note.code for note in summary.notes]
    (tmp_path / "c.yaml").write_text("metrics: {bleu: {threshold: 15}}\n")
    block = metrics_summary(run, composites=tmp_path / "c.yaml").per_metric["bleu"].pass_k
    assert block is not None
    assert (block.pass_at_1, block.threshold) == (0.5, 15.0)


# -- composites of a run -------------------------------------------------------------------


def test_a_run_of_eva_has_those_that_its_metrics_allow(tmp_path: Path) -> None:
    accuracy = {name: SIX[name] for name in list(SIX)[:3]}
    run = write_run(tmp_path / "run", {"s": [accuracy] * 3, "t": [accuracy] * 3})
    summary = metrics_summary(run)
    assert set(summary.overall_scores) == {"EVA-A_pass", "EVA-A_mean", "pass_k"}
    assert "no-estimate-absent-metrics" in [note.code for note in summary.notes]
    assert metrics_summary(run, composites="none").overall_scores == {}
    with pytest.raises(InvalidInput, match="'conversation_progression'"):
        metrics_summary(run, composites="eva")
    assert metrics_summary([[1, 0]]).overall_scores == {}


def test_a_component_that_the_run_lacks(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "composites:\n  a:\n    aggregation: mean\n    components: [scor]\n"
    )
    with pytest.raises(InvalidInput, match=r"c\.yaml:4: a: .*'scor'. Did you mean 'score'"):
        metrics_summary([[1, 0]], composites=tmp_path / "c.yaml")


def test_a_rule_for_a_metric_that_the_run_lacks(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("metrics: {scor: {threshold: 1}}\n")
    summary = metrics_summary([[1, 0]], composites=tmp_path / "c.yaml")
    (note,) = summary.notes
    assert note.code == "unused-rule"
    assert "'scor', which the run does not have. Did you mean 'score'?" in note.text


# -- the document --------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "eva", "percentile"])
def test_the_schema_describes_it(tmp_path: Path, method: str) -> None:
    summary = metrics_summary(composed(tmp_path / "run", RECORDED), method=method)
    assert MetricsSummary.from_json(summary.to_json()).to_json() == summary.to_json()
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(summary.to_json()), schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(summary.as_json() | {"total_records": "many"}, schema())


def test_the_schema_in_the_package_is_that_of_the_code() -> None:
    stored = files("passband.summary.eva").joinpath("schema.json").read_text("utf-8")
    assert json.loads(stored) == schema()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"passband": "summary"}', "{", b"\xff"])
def test_other_files_are_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidInput, match="not a metrics summary"):
        MetricsSummary.from_json(text)


def test_fields_of_eva_are_all_there(tmp_path: Path) -> None:
    turns = {"num_turns": 4, "num_evaluated": 3}
    values = SIX | {"faithfulness": metric("faithfulness", 1.0, details=turns)}
    run = write_run(tmp_path / "run", {"a": [values] * 3, "b": [values, values, {"x": "error"}]})
    document = metrics_summary(run).as_json()
    assert set(document) >= {
        "total_records", "data_quality", "overall_scores", "per_metric", "metric_errors",
        "pass_at_k_config", "provenance", "metrics_version",
    }  # fmt: skip
    assert "per_turn_coverage" in document["per_metric"]["faithfulness"]
    assert (
        document["data_quality"]["metrics_with_per_turn_nones"]["faithfulness"]["none_turns"] == 5
    )
    assert document["provenance"]["source"] == "run"
    names = set(MetricFields.model_fields)
    assert names >= {"mean", "min", "max", "count", "none_count", "error_count", "missing_count"}


def test_versions_of_the_run_are_kept(tmp_path: Path) -> None:
    versions = {"eva_version": "2.1.0", "metrics_version": "2.2.2", "other": 3}
    config = CONFIG | {"provenance": versions}
    run = write_run(tmp_path / "run", {"a": [{"m": 1.0}] * 3}, config)
    provenance = metrics_summary(run).as_json()["provenance"]
    assert provenance["eva_version"] == "2.1.0"
    assert "simulation_version" not in provenance


# -- bad input -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "evaa"}, "Did you mean 'eva'"),
        ({"method": "eva", "policy": "fail"}, "method 'eva' works with policy 'drop' only"),
        ({"method": "eva", "level": 0.9}, "method 'eva' works with level 0.95 only"),
        ({"method": "eva", "over": "trials"}, "method 'eva' works with over 'problems' only"),
        ({"over": "runs"}, "over"),
        ({"level": 95}, "level"),
        ({"policy": "keep"}, "policy must be"),
        ({"k": 0}, "k must be a whole number from 1 to 1,000,000; got 0"),
        ({"method": "jeffreys"}, "method 'jeffreys' is for over='trials'; got over='problems'"),
        ({"k": 10**12}, "k must be a whole number from 1 to 1,000,000; got 1000000000000"),
        ({"k": 1.5}, "k must be a whole number"),
        ({"seed": -1}, "seed"),
        ({"columns": {"score": "m"}}, "does not apply to a run of EVA"),
        ({"composites": "nowhere.yaml"}, "no such file"),
    ],
)
def test_wrong_options(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        metrics_summary(example(tmp_path), **options)


def test_no_trials(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        begin(store)
    with pytest.raises(InvalidInput, match="holds no trials yet"):
        metrics_summary(tmp_path / "run")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="empty"):
        metrics_summary(tmp_path / "empty")
