"""Every note has a code of its own that programs can match on."""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from passband import Outcomes, estimate
from passband.json_values import json_values
from passband.notes import Note, joined, of_side
from passband.stats.interval.notes import ONE_TRIAL, few_informative

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "passband"
#: functions that make notes, and arguments for them
MADE: dict[str, tuple[Any, ...]] = {
    "readers.evidence.misread.looks_misread": (9, 10, "p3, trial 0", "14 apples", "14", ["15"]),
    "run.settle.settle.decided_early": (3, 9, 4),
    "stats.decision.comparison.unscored_in_pair": (1, 0, "drop"),
    "stats.decision.ranking.model_ranks.order_differs": (
        "pass@1",
        ("x", "y"),
        0.5,
        (0.4, 0.6),
        0,
    ),
    "stats.decision.verdict.rare_loss": (0.01, 0.05, 1200.0),
    "stats.interval.default.clusters.tied_to_size": (-0.62, 0.551, 0.412),
    "stats.interval.default.graded.noise_unmeasured": (2,),
    "stats.interval.default.graded.scale_guessed": (True,),
    "stats.interval.extrapolation.beyond_trials": (3.0,),
    "stats.interval.extrapolation.never_solved": (3, 20, 0.85),
    "stats.interval.flips.flaky_interval": (0.1, 0.2),
    "stats.interval.notes.one_cluster": (30,),
    "stats.interval.strata.interval.few_informative_in_strata": (20, 8),
    "stats.interval.strata.interval.heavy_stratum": (0.5, 3),
    "stats.interval.strata.interval.no_stratum_interval": ("algebra", [Note("x", "too few")]),
    "stats.interval.strata.interval.single_problem_strata": (3, 20),
    "stats.interval.strata.weights.scaled_weights": (1.002, False),
    "stats.metric.measurement.not_enough_data": ("no problem has 8 trials",),
    "stats.metric.measurement.not_measurable": ("scores are not 0 or 1",),
    "summary.adaptive_test.adaptive_remote": (60, "http://localhost:8411"),
    "summary.adaptive_test.adaptive_stop": ("se", 0.29),
    "summary.adaptive_test.adaptive_test": (12, 200, "arithmetic", "test"),
    "summary.adaptive_test.adaptive_unscored": (2,),
    "summary.checks.programs.flaky_verdicts": (1, 400, 0.001, 0.01),
    "summary.checks.programs.late_timeouts": (2, 9),
    "summary.checks.programs.missing_modules": ({"numpy": 3},),
    "summary.checks.programs.opaque_results": ({"Tree": 2},),
    "summary.checks.programs.program_outcomes": ({"passed": 3}, 1),
    "summary.checks.programs.several_sandboxes": (["podman", "docker"],),
    "summary.checks.programs.unsafe_code": ("none",),
    "summary.checks.run_notes.shards_waiting": (3,),
    "summary.eva.notes.absent_components": (["clarity"],),
    "summary.eva.notes.eva_unseen": (2,),
    "summary.eva.notes.left_out": (9, 2, 4),
    "summary.eva.notes.no_failing_score": ({"refused": 1}, "the scale is not known"),
    "summary.eva.notes.no_interval": ("no interval: only one problem",),
    "summary.eva.notes.no_threshold": (["latency"],),
    "summary.eva.notes.unused_rule": ("latency", " Did you mean 'late'?"),
    "summary.checks.run_notes.judge_canaries": ("openai:large", 5, 9),
    "summary.means.no_stratum": ("algebra", None),
    "summary.means.no_task": ("mmlu", "mmlu_anatomy"),
    "summary.notes.planned": ("40 problems of 40 planned",),
    "summary.notes.retried": (2, 9),
    "summary.notes.scorer_errors": ("exact", 3, "KeyError: x"),
    "summary.notes.unscored": ({"refused": 1, "truncated": 1}, 8, "drop"),
    "stats.judged.judge_agreement.agreement_by_clusters": (80, 20),
    "stats.judged.notes.failed_verdicts": (12, 800, 0.6, 0.615, 2),
    "stats.judged.notes.few_labelled_problems": (6,),
    "stats.judged.notes.few_labels": (12,),
    "stats.judged.notes.judge_adds_nothing": (0.02,),
    "stats.judged.notes.no_disagreement": (40, 0.06),
    "stats.judged.notes.unlabelled_verdict": ("passed", 0.03),
    "stats.judged.split.votes_unmeasured": (),
    "stats.decision.planning.variances.assumed_correlation": (0.5,),
    "stats.decision.ranking.model_matrix.circular_pairs": (0.95,),
    "stats.interval.estimation.calibrated": (2.714, "88%", "95%"),
    "stats.irt.calibration.dropped_items": (3,),
    "stats.interval.notes.few_clusters": (7,),
    "stats.decision.planning.simulation.few_in_pilot": (30, 4),
    "stats.interval.notes.few_informative": (20, 8),
    "stats.irt.calibration.few_people": (12,),
    "stats.interval.notes.few_repeats": (3, 40),
    "stats.decision.ranking.model_ranks.few_telling": (3,),
    "stats.decision.ranking.model_ranks.few_to_tell": (1,),
    "summary.metric_list.few_units": (3,),
    "stats.interval.posterior.fitted_prior_note": (0.4, 0.3),
    "stats.irt.calibration.held_slopes": (1, 6.0),
    "summary.judged.notes.corrected_by_labels": ("quality", 80, 0.7, 0.31, 0.04),
    "summary.judged.notes.judge_only": ("quality", 3),
    "summary.judged.notes.judge_reduced": ("quality",),
    "summary.judged.notes.judge_shares_name": ("quality", "gpt"),
    "summary.judged.notes.judge_uncorrected": ("quality", "6 labels: at least 10 are needed."),
    "summary.judged.notes.judge_worth": (2.1, "votes", 1, 0.5, 0.04),
    "summary.judged.notes.labellers_agree": ("label-ann", "label-bob", 46, 50),
    "summary.judged.notes.labellers_apart": ("label-ann", "label-bob"),
    "summary.notes.judge_until": ("quality",),
    "summary.notes.labels_alone": (80, "verdict"),
    "summary.judged.notes.labels_by_hand": (3,),
    "summary.judged.notes.labels_missing": (20, 100),
    "summary.judged.notes.labels_of_part": (400, 800),
    "summary.checks.run_notes.one_shard": (3, 16),
    "summary.checks.run_notes.shards_missing": ("shard 2 of 16 is not merged yet",),
    "summary.checks.run_notes.known_bad": ([("7", "the key is 384")],),
    "summary.notes.micro_average": ("category", 14),
    "stats.evidence.collect.left_out_differ": (0.9, 0.2, 12, 4),
    "summary.default_metrics.mean_of_all_trials": ("avg@64", 64),
    "readers.evidence.misread.looks_wrong": (
        0.0,
        120,
        30,
        "p3, trial 0",
        "It is 42.",
        "It is 42.",
        ["42"],
    ),
    "readers.evidence.misread.other_extraction": ([("boxed", 28)], 40, 39, None),
    "summary.checks.run_notes.same_wrong": (
        2,
        "p3",
        "130",
        "140",
        13,
        16,
        "passband show RUN --same-wrong",
    ),
    "stats.interval.estimation.low_coverage": ("this interval covers about 88%", False),
    "stats.irt.accuracy.misfit": (0.001,),
    "stats.interval.default.votes.missing_answers": (2, 30),
    "stats.interval.default.votes.mixed_answers": (2, 30),
    "stats.interval.extrapolation.model_based": (8,),
    "stats.interval.default.votes.no_answers": (2, 30),
    "stats.interval.notes.no_certificate": ("there is no interval",),
    "summary.notes.no_corrected_macro": ("category",),
    "stats.interval.default.selection.noise_by_trials": (0.03, 0.02),
    "stats.interval.default.graded.noise_partly_measured": (2, 5, 3),
    "stats.interval.posterior.posterior_mean": (0.5,),
    "stats.interval.posterior.prior_dominates": (0.5, 0.0, 0.1),
    "summary.notes.scored_incomplete": ({"truncated": 2, "limit": 1},),
    "stats.interval.default.votes.several_right_answers": (2, 30),
    "stats.interval.notes.single_trials": (5, 40),
    "summary.notes.taken_as_stopped": (0.002, 8, 8),
    "summary.notes.task_errors": (3, "KeyError: x"),
    "stats.decision.ranking.model_ranks.unbounded_abilities": (["x"], ["y"]),
    "summary.metric_list.unequal_trials": (3, 8),
    "stats.decision.ranking.all_pairs.unscored_by_model": ({"base": 2}, "drop"),
    "stats.sequential.stopped_logs.unstopped_values": (2,),
    "summary.notes.until": ("stopped after 5 rounds",),
    "stats.interval.posterior.value_outside": (0.5,),
    "stats.sequential.stopped_logs.within_cap": (8,),
}


#: functions that make a note of a code that another makes too
SHARED = {
    "all-same-value": {"few_informative", "few_informative_in_strata"},
    "few-informative": {"few_informative", "few_informative_in_strata"},
    "no-verdict": {"gate_notes", "top_reasons"},
    "unscored-trials": {"unscored_by_model", "unscored_in_pair"},
}
#: functions that make notes and do more
WITHIN = {
    "report.compare._standing_notes",
    "report.gate.text.gate_notes",
    "report.gate.words.top_reasons",
}


#: keyword arguments for them
KEYWORDS: dict[str, dict[str, Any]] = {
    "stats.decision.ranking.model_ranks.order_differs": {"same_problems": True},
    "stats.interval.extrapolation.beyond_trials": {"any_shape": True},
    "stats.interval.extrapolation.never_solved": {"hopeless": True},
}


def calls_below(node: ast.AST, place: str) -> Iterator[tuple[str, str]]:
    """Yield the code of every note that is made below a node, and the name that it is made for."""
    match node:
        case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]) if not place:
            place = name
        case ast.Call(ast.Name("Note"), [ast.Constant(str(code)), *_]):
            yield code, place
    for child in ast.iter_child_nodes(node):
        yield from calls_below(child, place)


def issued() -> Iterator[tuple[str, str, str]]:
    """Yield each code, the module that issues it, and the constant or function that it is of."""
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text("utf-8")
        if "Note(" in source:
            module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
            for code, name in calls_below(ast.parse(source), ""):
                yield code, module, name


ISSUED = list(issued())


def every_note() -> list[Note]:
    named = [resolve_name(f"passband.{module}:{name}") for _, module, name in ISSUED]
    constants = [value for value in named if isinstance(value, Note)]
    return [*constants, *(made(function) for function in MADE)]


def made(function: str) -> Note:
    make: Callable[..., Note] = resolve_name(f"passband.{function}")
    return make(*MADE[function], **KEYWORDS.get(function, {}))


def test_codes_are_kebab_case_and_distinct() -> None:
    names = defaultdict(set)
    for code, module, name in ISSUED:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code), (module, code)
        names[code].add(name)
    assert {code: made for code, made in names.items() if len(made) > 1} == SHARED


def test_every_code_is_documented() -> None:
    page = (ROOT / "docs" / "files-and-codes.md").read_text("utf-8")
    assert {code for code, *_ in ISSUED if f"| `{code}` |" not in page} == set()


def test_every_function_that_makes_a_note_has_an_example() -> None:
    places = {f"{module}.{name}" for _, module, name in ISSUED}
    functions = {place for place in places if callable(resolve_name(f"passband.{place}"))}
    assert functions == MADE.keys() | WITHIN


@pytest.mark.parametrize("note", every_note(), ids=lambda note: note.code)
def test_a_note_reads_as_its_text(note: Note) -> None:
    assert str(note) == f"{note}" == note.text
    assert not note.text.endswith(".")
    assert not note.text[:1].isupper()
    as_json = {"code": note.code, "text": note.text, "severity": note.severity}
    assert json.loads(json.dumps(json_values({"note": note}))) == {"note": as_json}


def test_a_note_without_an_interval_says_so_first() -> None:
    for note in every_note():
        assert note.code.startswith("no-interval") == note.text.startswith("no interval: ")


def test_problems_that_share_a_value() -> None:
    assert few_informative(20, 0).code == "all-same-value"
    assert str(few_informative(20, 0, "cluster")).startswith("all 20 clusters")
    assert "only 3 problems" in str(few_informative(3, 2))
    assert str(few_informative(3, 2, is_weak=True)) == (
        "only 3 problems, so the interval may be too short; add problems"
    )
    assert str(few_informative(300, 299, is_weak=True)) == (
        "the spread of 300 problems rests on a few that are far from the others, so the interval "
        "may be too short; add problems"
    )
    assert str(few_informative(20, 8)).startswith("12 of 20 problems have the same value")


def test_a_note_on_one_side_keeps_its_code() -> None:
    assert of_side("a", ONE_TRIAL)[:2] == ("one-trial", f"a: {ONE_TRIAL.text}")
    assert joined([Note("x", "first"), Note("y", "second")]) == "first; second"


ALL_RIGHT = Outcomes.from_counts([8] * 20, 8)
SPREAD = Outcomes.from_counts([*range(9)] * 6, 8)
THREE = Outcomes.from_counts([0, 4, 8], 8)
CLUSTERED = Outcomes.from_counts([*range(9)] * 6, 8, clusters=[*range(27)] * 2)
FEW_CLUSTERS = Outcomes.from_counts([*range(9)] * 6, 8, clusters=[*range(9)] * 6)
UNBOUNDED = Outcomes.from_array([[float(score)] for score in range(30)])
TAIL = Outcomes.from_array([[float(2**score)] for score in range(12)])
#: Notes that can be weak: data and options with which they are, and with which they are not.
WEAK: list[tuple[str, tuple[Outcomes, dict[str, str]], tuple[Outcomes, dict[str, str]]]] = [
    (
        "few-informative",
        (Outcomes.from_counts([8] * 99 + [7], 8), {}),
        (THREE, {}),
    ),
    ("few-informative", (THREE, {"method": "t"}), (SPREAD, {"method": "t"})),
    ("all-same-value", (Outcomes.from_counts([7] * 40, 8), {}), (ALL_RIGHT, {})),
    ("few-clusters", (FEW_CLUSTERS, {"method": "t"}), (FEW_CLUSTERS, {})),
    ("tail-may-be-missing", (TAIL, {}), (UNBOUNDED, {})),
    (
        "clusters-ignored",
        (CLUSTERED, {"method": "hierarchical"}),
        (SPREAD, {"method": "hierarchical"}),
    ),
    (
        "plug-in-rates",
        (SPREAD, {"method": "percentile", "over": "trials"}),
        (SPREAD, {"method": "percentile"}),
    ),
    (
        "prior-on-edge",
        (Outcomes.from_counts([4] * 10, 8), {"method": "empirical-bayes", "over": "trials"}),
        (SPREAD, {"method": "empirical-bayes", "over": "trials"}),
    ),
    (
        "prior-dominates",
        (Outcomes.from_counts([0] * 200, 2), {"method": "uniform", "over": "trials"}),
        (SPREAD, {"method": "uniform", "over": "trials"}),
    ),
    (
        "value-outside",
        (Outcomes.from_counts([0] * 200, 2), {"method": "uniform", "over": "trials"}),
        (SPREAD, {"method": "uniform", "over": "trials"}),
    ),
    ("eva-zero-width", (ALL_RIGHT, {"method": "eva"}), (SPREAD, {"method": "eva"})),
    ("eva-clusters-ignored", (CLUSTERED, {"method": "eva"}), (SPREAD, {"method": "eva"})),
]


@pytest.mark.parametrize(("code", "weak", "sound"), WEAK, ids=lambda part: str(part)[:20])
def test_a_note_is_weak_where_the_interval_may_be_too_short(
    code: str, weak: tuple[Outcomes, Any], sound: tuple[Outcomes, Any]
) -> None:
    def severities(outcomes: Outcomes, options: dict[str, Any]) -> set[str]:
        name = "pass@1" if outcomes.is_binary else "avg"
        found = estimate(outcomes, name, seed=0, **options)
        return {note.severity for note in found.notes if note.code == code}

    assert severities(*weak) == {"weak"}
    assert severities(*sound) <= {"remark"}


def test_every_note_that_can_be_weak_is_tested() -> None:
    tested = {code for code, _, _ in WEAK}
    # By certify, by the metrics of a task file, by the accuracy of a bank, by labels, by looks,
    # by margins, by answers that are scored wrong.
    elsewhere = {"low-coverage", "few-units", "model-accuracy", "labels-taken-as-random"}
    elsewhere |= {"decided-early", "rare-loss", "looks-misread"}
    always = {note.code for note in every_note() if note.severity == "weak"}
    assert always <= tested | elsewhere
