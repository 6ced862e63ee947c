"""What is made of trials that differ in number, have no score, or belong together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from passband import Outcomes, estimate
from passband.errors import PassbandWarning
from passband.generate.provider import Completion
from passband.score.translation import corpus_interval, corpus_replicates
from support.runs.scripted import CUT_OFF, evaluated

pytestmark = pytest.mark.filterwarnings("ignore:.*trials? ha(s|ve) no score")

REFUSED = Completion(None, finish="content_filter")
TARGETS = {"a": "1", "b": "1", "c": "1", "d": "1"}
ANSWERS: dict[str, list[str | Completion]] = {
    "a": [CUT_OFF, "1", "0", "1"],  # three have a score, two are right
    "b": ["0", "1", "1", "2"],
    "c": [CUT_OFF, REFUSED, CUT_OFF, CUT_OFF],  # none has
    "d": ["1", REFUSED, "3", "4"],
}


def metric(aggregation: str, name: str = "exact_match") -> str:
    return f"- {{metric: {name}, aggregation: mean, repeat_aggregation: '{aggregation}'}}"


def only(results: dict[str, Any]) -> dict[str, Any]:
    """The one estimate."""
    (found,) = results["estimates"]["t"].values()
    return dict(found)


def values(results: dict[str, Any]) -> list[float | None]:
    return [sample["exact_match"] for sample in results["samples"]["t"]]


# -- trials without a score ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "by_hand", "trials"),
    [
        ("first", [1, 0, None, 1], 3),  # the first trial that has a score
        ("mean", [2 / 3, 2 / 4, None, 1 / 3], 10),
        ("max", [1, 1, None, 1], 10),
        ("min", [0, 0, None, 0], 10),
        ("majority", [1, 1, None, 1], 10),
        ("any_correct", [1, 1, None, 1], 10),
        ("all_correct", [0, 0, None, 0], 10),
        ("pass@3", [1, 1, None, 1], 10),
        ("pass^2", [1 / 3, 1 / 6, None, 0], 10),  # C(2, 2) / C(3, 2), C(2, 2) / C(4, 2)
        ("pass@4", [None, 1, None, None], 4),
    ],
)
def test_they_are_left_out_and_never_zero(
    tmp_path: Path, name: str, by_hand: list[float | None], trials: int
) -> None:
    results = evaluated(tmp_path, metric(name), TARGETS, ANSWERS)
    assert values(results) == [None if x is None else pytest.approx(x) for x in by_hand]
    present = [x for x in by_hand if x is not None]
    found = only(results)
    assert found["value"] == pytest.approx(sum(present) / len(present))
    assert found["low"] <= found["value"] <= found["high"]
    assert (found["n_problems"], found["left_out"]) == (len(present), 4 - len(present))
    assert (found["n_trials"], found["n_unscored"]) == (trials, 6)
    samples = results["samples"]["t"]
    assert samples[0]["exact_match_repeats"] == [None, 1, 0, 1]
    assert samples[0]["statuses"] == ["truncated", "ok", "ok", "ok"]
    assert samples[2]["exact_match_repeats"] == [None] * 4
    assert samples[2]["statuses"] == ["truncated", "refused", "truncated", "truncated"]
    assert samples[0]["resps"][0][0] == CUT_OFF.text
    assert samples[2]["resps"][0][1] is None


@pytest.mark.filterwarnings("default")
def test_they_are_counted_and_told(tmp_path: Path) -> None:
    told = r"t: 6 of 16 trials have no score \(2 refused, 4 truncated\) and are left out"
    with pytest.warns(PassbandWarning, match=told):
        results = evaluated(tmp_path, metric("mean"), TARGETS, ANSWERS)
    assert results["statuses"] == {"t": {"ok": 10, "refused": 2, "truncated": 4}}


def test_unequal_numbers_are_told(tmp_path: Path) -> None:
    for name, told in (("any_correct", True), ("majority", True), ("first", False)):
        notes = only(evaluated(tmp_path, metric(name), TARGETS, ANSWERS))["notes"]
        assert ("unequal-trials" in [note["code"] for note in notes]) == told


def test_no_score_at_all(tmp_path: Path) -> None:
    answers: dict[str, list[Any]] = {"a": [CUT_OFF, REFUSED]}
    for name in ("first", "mean", "pass@1"):
        with pytest.warns(
            PassbandWarning, match="exact_match,none has no value: no trial has a score"
        ):
            results = evaluated(tmp_path, metric(name), {"a": "1"}, answers)
        assert results["results"]["t"]["exact_match,none"] is None
        assert results["estimates"]["t"] == {}
        assert values(results) == [None]


def test_an_error_of_the_scorer_is_no_zero(tmp_path: Path) -> None:
    targets = {"a": "5", "b": "five"}  # the second target is no number
    answers: dict[str, list[Any]] = {"a": ["5", "6"], "b": ["5", "6"]}
    results = evaluated(tmp_path, metric("any_correct", "numeric"), targets, answers)
    found = only(results)
    assert (found["value"], found["n_problems"], found["left_out"]) == (1, 1, 1)
    assert [s["numeric"] for s in results["samples"]["t"]] == [1, None]


@pytest.mark.filterwarnings("ignore:t. most trials have no answer")
def test_no_answer_is_a_zero_that_does_not_vote(tmp_path: Path) -> None:
    answers: dict[str, list[Any]] = {
        "a": ["", "", "", "1"],
        "b": ["", "2", "2", "1"],
        "c": ["", " ", "", "\n"],
    }
    targets = {"a": "1", "b": "1", "c": "1"}
    results = evaluated(tmp_path, metric("majority"), targets, answers)
    assert values(results) == [1, 0, 0]
    assert results["samples"]["t"][1]["exact_match_repeats"] == [0, 0, 0, 1]
    assert results["samples"]["t"][1]["filtered_resps"] == [[None, "2", "2", "1"]]
    first = evaluated(tmp_path, metric("first"), targets, answers)
    assert values(first) == [0, 0, 0]


def test_what_was_cut_off_can_be_scored(tmp_path: Path) -> None:
    more = "truncated: score\n"
    found = only(evaluated(tmp_path, metric("first"), TARGETS, ANSWERS, more=more))
    assert found["value"] == 0.25
    assert (found["n_problems"], found["left_out"], found["n_unscored"]) == (4, 0, 2)


# -- the estimate of reduced values --------------------------------------------------------


def test_it_is_that_of_one_number_per_problem(tmp_path: Path) -> None:
    targets = {f"p{at}": "1" for at in range(30)}
    answers: dict[str, list[Any]] = {
        key: ["1", "1", "0"] if at % 3 else ["0", "2", "1"] for at, key in enumerate(targets)
    }
    found = only(evaluated(tmp_path, metric("majority"), targets, answers))
    by_hand = estimate(Outcomes.from_array([[float(at % 3 > 0)] for at in range(30)]), "avg")
    assert (found["value"], found["low"], found["high"], found["se"]) == (
        by_hand.value,
        by_hand.low,
        by_hand.high,
        by_hand.se,
    )
    assert found["se"] == pytest.approx(math.sqrt(2 / 3 * 1 / 3 / 29), rel=0.03)


@pytest.mark.parametrize("name", ["first", "majority", "mean", "max", "pass@2"])
def test_clusters_make_intervals_wider(tmp_path: Path, name: str) -> None:
    # Twelve problems in three clusters; within a cluster all have the same answers.
    targets = {f"{cluster}{at}": "1" for cluster in "xyz" for at in range(4)}
    said = {"x": ["1", "1", "0"], "y": ["0", "2", "3"], "z": ["0", "2", "1"]}
    answers: dict[str, Sequence[str]] = {key: said[key[0]] for key in targets}
    plain = only(evaluated(tmp_path, metric(name), targets, answers))
    joined = only(evaluated(tmp_path, metric(name), targets, answers, more="cluster: group\n"))
    assert joined["value"] == plain["value"]
    assert joined["high"] - joined["low"] > 1.3 * (plain["high"] - plain["low"])


def test_the_first_k_trials(tmp_path: Path) -> None:
    more = """
        filter_list:
          - {name: some, filter: [{function: take_first_k, k: 3}]}
          - {name: all, filter: []}
    """
    answers: dict[str, list[Any]] = {
        "a": ["1", CUT_OFF, "0", "0", "1"],  # the first three scored are 1 0 0
        "b": ["0", "0", "0", "1", "1"],
    }
    targets = {"a": "1", "b": "1"}
    lines = "\n".join(metric(name) for name in ("mean", "any_correct", "pass@2", "max"))
    found = evaluated(tmp_path, lines, targets, answers, more=more)["results"]["t"]
    assert found["exact_match,some"] == pytest.approx((1 / 3 + 0) / 2)
    assert found["exact_match,all"] == pytest.approx((2 / 4 + 2 / 5) / 2)
    assert found["exact_match_1,some"] == 0.5
    assert found["exact_match_1,all"] == 1
    assert found["exact_match_2,some"] == pytest.approx((2 / 3 + 0) / 2)
    assert found["exact_match_2,all"] == pytest.approx((5 / 6 + 7 / 10) / 2)
    samples = evaluated(tmp_path, lines, targets, answers, more=more)["samples"]["t"]
    assert [s["exact_match_2"] for s in samples] == pytest.approx([2 / 3, 0, 5 / 6, 7 / 10])


# -- scores of a whole test set ------------------------------------------------------------

SENTENCES = {
    "xa": "the cat sat on the mat",
    "xb": "there is a dog in the garden",
    "ya": "it rains a lot here in winter",
    "yb": "nobody knows the way home",
}


def test_a_corpus_score_is_of_first_answers(tmp_path: Path) -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    answers: dict[str, list[Any]] = {
        "xa": ["the cat sat on a mat", "the cat sat on the mat"],
        "xb": ["", "there is a dog in the garden"],  # no answer is an answer
        "ya": [CUT_OFF, "it rains a lot in winter"],  # no score: the next one
        "yb": [CUT_OFF, REFUSED],
    }
    results = evaluated(tmp_path, "- metric: bleu", SENTENCES, answers)
    said = ["the cat sat on a mat", "", "it rains a lot in winter"]
    expected = sacrebleu.corpus_bleu(said, [[*SENTENCES.values()][:3]]).score
    found = only(results)
    assert found["value"] == pytest.approx(expected)
    assert found["low"] <= found["value"] <= found["high"]
    assert found["se"] > 0
    assert (found["n_problems"], found["n_trials"], found["left_out"]) == (3, 3, 1)
    assert found["n_unscored"] == 3
    assert (found["notes"][-1]["code"], found["notes"][-1]["severity"]) == ("few-units", "weak")
    assert [s["bleu"] is None for s in results["samples"]["t"]] == [False, False, False, True]
    assert results["samples"]["t"][1]["bleu"] == 0


def test_a_corpus_of_one_problem_has_no_interval(tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    target = {"a": "the cat sat on the mat"}
    results = evaluated(tmp_path, "- metric: chrf", target, {"a": ["the cat sat"]})
    assert results["results"]["t"]["chrf_interval,none"] == [None, None]
    assert results["results"]["t"]["chrf_stderr,none"] == "N/A"  # the word of lm-eval
    assert results["results"]["t"]["chrf,none"] > 0


def test_clusters_of_a_corpus() -> None:
    pytest.importorskip("sacrebleu")
    said = ["the cat sat on the mat", "there is a dog in the garden", "no", "way"]
    references = [[target] for target in SENTENCES.values()]
    plain = corpus_replicates("chrf", said, references, seed=1)
    joined = corpus_replicates("chrf", said, references, clusters=["x", "x", "y", "y"], seed=1)
    assert joined.std() > 1.2 * plain.std()
    assert len({round(value, 9) for value in joined}) == 3  # x twice, y twice, one of each
    same = corpus_replicates("chrf", said, references, clusters=["a", "b", "c", "d"], seed=1)
    assert same.tolist() == plain.tolist()
    low, high = corpus_interval("chrf", said, references, seed=1)
    assert plain.min() <= low < high <= plain.max()


def test_an_interval_of_sentence_scores_ends_where_scores_do(tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    answers: dict[str, list[Any]] = {
        key: [text if key[0] == "x" else text[:-4]] for key, text in SENTENCES.items()
    }
    for name in ("bleu", "chrf"):
        found = only(evaluated(tmp_path, metric("mean", name), SENTENCES, answers))
        assert found["value"] < found["high"] <= 100
