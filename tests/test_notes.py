"""Every note has a code of its own that programs can match on."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from passband import Outcomes, estimate, notes
from passband.json_values import json_values
from passband.notes import Note, few_informative, joined, of_side

CONSTANTS = {name: value for name, value in vars(notes).items() if isinstance(value, Note)}
MADE: dict[Callable[..., Note], tuple[Any, ...]] = {
    notes.agreement_by_clusters: (80, 20),
    notes.failed_verdicts: (12, 800, 0.6, 0.615, 2),
    notes.few_labelled_problems: (6,),
    notes.few_labels: (12,),
    notes.judge_adds_nothing: (0.02,),
    notes.no_disagreement: (40, 0.06),
    notes.unlabelled_verdict: ("passed", 0.03),
    notes.votes_unmeasured: (),
    notes.assumed_correlation: (0.5,),
    notes.circular_pairs: (0.95,),
    notes.calibrated: (2.714, "88%", "95%"),
    notes.dropped_items: (3,),
    notes.few_clusters: (7,),
    notes.few_in_pilot: (30, 4),
    notes.few_informative: (20, 8),
    notes.few_people: (12,),
    notes.few_repeats: (3, 40),
    notes.few_telling: (3,),
    notes.few_to_tell: (1,),
    notes.few_units: (3,),
    notes.fitted_prior: (0.4, 0.3),
    notes.held_slopes: (1, 6.0),
    notes.corrected_by_labels: ("quality", 80, 0.7, 0.31, 0.04),
    notes.judge_only: ("quality", 3),
    notes.judge_reduced: ("quality",),
    notes.judge_shares_name: ("quality", "gpt"),
    notes.judge_uncorrected: ("quality", "6 labels: at least 10 are needed."),
    notes.judge_worth: (2.1, "votes", 1, 0.5, 0.04),
    notes.labellers_agree: ("label-ann", "label-bob", 46, 50),
    notes.labellers_apart: ("label-ann", "label-bob"),
    notes.judge_until: ("quality",),
    notes.labels_alone: (80, "verdict"),
    notes.labels_by_hand: (3,),
    notes.labels_missing: (20, 100),
    notes.labels_of_part: (400, 800),
    notes.one_shard: (3, 16),
    notes.shards_missing: ("shard 2 of 16 is not merged yet",),
    notes.known_bad: ([("7", "the key is 384")],),
    notes.micro_average: ("category", 14),
    notes.left_out_differ: (0.9, 0.2, 12, 4),
    notes.mean_of_all_trials: ("avg@64", 64),
    notes.looks_wrong: (0.0, 120, 30, "p3, trial 0", "It is 42.", "It is 42.", ["42"]),
    notes.other_extraction: ([("boxed", 28)], 40, 39, None),
    notes.same_wrong: (2, "p3", "130", "140", 13, 16, "passband show RUN --same-wrong"),
    notes.low_coverage: ("this interval covers about 88%", False),
    notes.misfit: (0.001,),
    notes.missing_answers: (2, 30),
    notes.mixed_answers: (2, 30),
    notes.model_based: (8,),
    notes.no_answers: (2, 30),
    notes.no_certificate: ("there is no interval",),
    notes.no_corrected_macro: ("category",),
    notes.noise_by_trials: (0.03, 0.02),
    notes.noise_partly_measured: (2, 5, 3),
    notes.posterior_mean: (0.5,),
    notes.prior_dominates: (0.5, 0.0, 0.1),
    notes.scored_incomplete: ({"truncated": 2, "limit": 1},),
    notes.several_right_answers: (2, 30),
    notes.single_trials: (5, 40),
    notes.taken_as_stopped: (0.002, 8, 8),
    notes.task_errors: (3, "KeyError: x"),
    notes.unbounded_abilities: (["x"], ["y"]),
    notes.unequal_trials: (3, 8),
    notes.unscored_by_model: ({"base": 2}, "drop"),
    notes.unstopped_values: (2,),
    notes.until: ("stopped after 5 rounds",),
    notes.value_outside: (0.5,),
    notes.within_cap: (8,),
}


def every_note() -> list[Note]:
    return [*CONSTANTS.values(), *(make(*arguments) for make, arguments in MADE.items())]


def test_codes_are_kebab_case_and_distinct() -> None:
    codes = [note.code for note in every_note()]
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code) for code in codes)
    assert len(set(codes)) == len(codes)


def test_all_constants_are_exported() -> None:
    assert set(CONSTANTS) <= set(notes.__all__)


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
    assert str(few_informative(20, 8)).startswith("12 of 20 problems share one value")


def test_a_note_on_one_side_keeps_its_code() -> None:
    assert of_side("a", notes.ONE_TRIAL)[:2] == ("one-trial", f"a: {notes.ONE_TRIAL.text}")
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
    # By certify, by the metrics of a task file, by the accuracy of a bank, by labels, by looks.
    elsewhere = {"low-coverage", "few-units", "model-accuracy", "labels-taken-as-random"}
    elsewhere |= {"decided-early"}
    always = {note.code for note in every_note() if note.severity == "weak"}
    assert always <= tested | elsewhere
