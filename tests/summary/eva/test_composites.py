"""Composites: declared in YAML, mistakes named with file and line, scores by every status."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput
from passband.readers.eva.record import MetricScore, Record
from passband.summary.eva.composed import composite_columns
from passband.summary.eva.composites import (
    BUILT_IN,
    Composite,
    Composites,
    PassRule,
    Threshold,
    read_composites,
)

ROOT = Path(__file__).resolve().parents[3]
OK, ZERO = MetricScore(1.0), MetricScore(0.0)
ERROR = MetricScore(0.0, error="boom")
MISSING, SKIPPED = MetricScore(), MetricScore(is_skipped=True)


def written(folder: Path, text: str) -> Path:
    path = folder / "c.yaml"
    path.write_text(text, "utf-8")
    return path


# -- the file ------------------------------------------------------------------------------


def test_those_of_eva() -> None:
    rules = read_composites("eva")
    assert [(one.name, one.aggregation) for one in rules.composites] == [
        ("EVA-A_pass", "pass"),
        ("EVA-X_pass", "pass"),
        ("EVA-A_mean", "mean"),
        ("EVA-X_mean", "mean"),
        ("EVA-overall_mean", "mean"),
        ("EVA-overall_pass", "derived"),
    ]
    assert rules.composites[0].thresholds == {
        "task_completion": Threshold("==", 1.0),
        "faithfulness": Threshold(">=", 0.5),
        "agent_speech_fidelity": Threshold(">=", 0.95),
    }
    assert rules.composites[5].components == ("EVA-A_pass", "EVA-X_pass")
    assert rules.rule("turn_taking") == PassRule(0.8)
    assert rules.rule("response_speed") == PassRule(None, False, True)
    assert rules.rule("anything") == PassRule()
    assert rules.tolerance == 1e-9


def test_the_example_is_the_file_of_the_package() -> None:
    assert (ROOT / "examples" / "eva.yaml").read_bytes() == BUILT_IN["eva"].read_bytes()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("composite:\n  a: 1\n", 1, "unknown key 'composite'. Did you mean 'composites'?"),
        ("composites: 3\n", 1, "composites must be a mapping; got 3"),
        ("composites:\n  a: 3\n", 2, "a must be a mapping; got 3"),
        ("composites:\n  a:\n    agregation: mean\n", 3, "Did you mean 'aggregation'?"),
        ("composites:\n  a:\n    components: [m]\n", 2, "pass, mean or derived; got None"),
        (
            "composites:\n  a:\n    aggregation: means\n    components: [m]\n",
            3,
            "got 'means'. Did you mean 'mean'?",
        ),
        ("composites:\n  a:\n    aggregation: mean\n    components: m\n", 4, "a list of names"),
        ("composites:\n  a:\n    aggregation: mean\n    components: []\n", 4, "a list of names"),
        ("composites:\n  a:\n    aggregation: mean\n    components: [m, m]\n", 4, "a name twice"),
        ("composites:\n  a:\n    aggregation: pass\n    components: [m]\n", 4, "map each metric"),
        (
            "composites:\n  a:\n    aggregation: pass\n    components:\n      m: '< 1'\n",
            5,
            "got '< 1'",
        ),
        (
            "composites:\n  a:\n    aggregation: pass\n    components:\n      m: '>= high'\n",
            5,
            "got '>= high'",
        ),
        (
            "composites:\n  a:\n    aggregation: pass\n    components:\n      m: '>= nan'\n",
            5,
            "got '>= nan'",
        ),
        (
            "composites:\n  a:\n    aggregation: derived\n    components: [b]\n",
            4,
            "a is derived from 'b', which is not a composite of this file",
        ),
        (
            "composites:\n  a_mean:\n    aggregation: mean\n    components: [m]\n"
            "  a:\n    aggregation: derived\n    components: [a_mean]\n",
            7,
            "'a_mean', which is a mean",
        ),
        (
            "composites:\n  pass_k:\n    aggregation: mean\n    components: [m]\n",
            2,
            "'pass_k' is a field of the summary",
        ),
        ("metrics:\n  m: {threshold: high}\n", 2, "threshold must be a number; got 'high'"),
        ("metrics:\n  m: {exclude_from_pass_at_k: 1}\n", 2, "must be true or false; got 1"),
        ("metrics:\n  m:\n    threshold: 1\n    higher_is_better: false\n", 3, "lower cannot be"),
        ("metrics:\n  m: {treshold: 1}\n", 2, "Did you mean 'threshold'?"),
        ("tolerance: -1\n", 1, "of at least 0 and less than 1; got -1"),
        ("tolerance: 0.1\n", 1, "declares neither composites nor metrics"),
        ("composites:\n  m: {}\n  1: {}\n", 3, "YAML reads this one as 1: put it in quotes"),
        ("metrics:\n  yes: {threshold: 1}\n", 2, "reads this one as True: put it in quotes"),
        (
            "composites:\n  a:\n    aggregation: pass\n    components:\n      on: '>= 1'\n",
            5,
            "YAML reads this one as True",
        ),
        (f"metrics:\n  m: {{threshold: 1{'0' * 400}}}\n", 2, "is not a finite number"),
        (f"metrics: {{m: {{}}}}\ntolerance: -1{'0' * 400}\n", 2, "is not a finite number"),
        ("composites: {a: *b}\n", 1, "aliases"),
        ("", 1, "the file is empty"),
        ("- a\n", 1, "the file must be a mapping of keys"),
        (
            "composites:\n  a:\n    aggregation: derived\n    components: [b]\n"
            "  b:\n    aggregation: derived\n    components: [a]\n",
            4,
            "a is derived from itself",
        ),
    ],
)
def test_mistakes_have_a_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InvalidInput) as error:
        read_composites(path)
    assert f"{path}:{line}: " in str(error.value)
    assert message in str(error.value)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file; composites known by name: eva"):
        read_composites(tmp_path / "none.yaml")


@given(text=st.text(alphabet="abc: -[]{}>=1.\n'\"", max_size=60))
def test_any_file(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    try:
        assert isinstance(read_composites(path), Composites)
    except InvalidInput as refusal:
        named = str(path) in str(refusal)
        assert named


def test_a_derived_composite_may_come_first(tmp_path: Path) -> None:
    text = (
        "composites:\n  both: {aggregation: derived, components: [one]}\n"
        "  one: {aggregation: pass, components: {m: '> 0'}}\n"
    )
    rules = read_composites(written(tmp_path, text))
    assert [one.name for one in rules.composites] == ["both", "one"]
    assert [one.name for one in rules.in_turn()] == ["one", "both"]
    columns = composite_columns([Record("s", 0, {"m": OK})], rules)
    assert columns == {"both": [OK], "one": [OK]}


def test_components_that_a_run_lacks() -> None:
    rules = read_composites("eva")
    accuracy = ("task_completion", "faithfulness", "agent_speech_fidelity")
    assert [one.name for one in rules.within(accuracy).composites] == ["EVA-A_pass", "EVA-A_mean"]
    assert rules.absent(accuracy) == ["conciseness", "conversation_progression", "turn_taking"]
    with pytest.raises(
        InvalidInput, match=r"eva\.yaml:\d+: EVA-A_pass: .*'faithfulness'.*mean 'fait"
    ):
        rules.require(("task_completion", "faithfullness", "agent_speech_fidelity"))


# -- thresholds ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operator", "score", "passes"),
    [
        ("==", 0.8, True),
        ("==", 0.8 + 5e-10, True),
        ("==", 0.81, False),
        (">=", 0.8 - 5e-10, True),
        (">=", 0.79, False),
        (">=", 0.9, True),
        (">", 0.8, False),
        (">", 0.8 + 5e-10, False),
        (">", 0.81, True),
    ],
)
def test_thresholds(operator: str, score: float, passes: bool) -> None:
    assert Threshold(operator, 0.8).passes(score) is passes  # type: ignore[arg-type]


numbers = st.floats(-1e308, 1e308) | st.sampled_from([0.5, 0.5 + 1e-12, 0.5 - 1e-9, 1e300])


@given(
    operator=st.sampled_from(["==", ">=", ">"]),
    number=numbers,
    scores=st.lists(numbers, max_size=6),
    tolerance=st.sampled_from([0.0, 1e-9, 0.1]),
)
def test_several_scores_pass_as_each_does(
    operator: Any, number: float, scores: list[float], tolerance: float
) -> None:
    threshold = Threshold(operator, number)
    passing = threshold.passing(np.array([*scores, number]), tolerance)
    assert passing.tolist() == [threshold.passes(one, tolerance) for one in [*scores, number]]


def test_without_tolerance() -> None:
    assert not Threshold(">=", 0.8).passes(0.8 - 1e-12, 0.0)
    assert Threshold(">=", 0.8).passes(0.8, 0.0)


# -- scores --------------------------------------------------------------------------------

PASS = Composite("p", "pass", ("a", "b"), {"a": Threshold("==", 1.0), "b": Threshold(">=", 0.5)})
MEAN = Composite("m", "mean", ("a", "b"))
DERIVED = Composite("d", "derived", ("p", "q"))
OTHER = Composite("q", "pass", ("c",), {"c": Threshold(">", 0.0)})
RULES = Composites((PASS, MEAN, OTHER, DERIVED))


def made(a: MetricScore, b: MetricScore, c: MetricScore = OK, *, as_eva: bool = False) -> list[str]:
    record = Record("s", 0, {"a": a, "b": b, "c": c})
    columns = composite_columns([record], RULES, as_eva=as_eva)
    shown = {name: score for name, (score,) in columns.items()}
    return [
        f"{shown[name].value:g}" if shown[name].status == "ok" else shown[name].status
        for name in ("p", "m", "d")
    ]


@pytest.mark.parametrize(
    ("a", "b", "ours", "of_eva"),
    [
        (OK, OK, ["1", "1", "1"], ["1", "1", "1"]),
        (OK, ZERO, ["0", "0.5", "0"], ["0", "0.5", "0"]),
        (OK, ERROR, ["errored"] * 3, ["missing", "1", "missing"]),
        (OK, MISSING, ["missing"] * 3, ["missing", "1", "missing"]),
        (MISSING, ERROR, ["errored"] * 3, ["missing"] * 3),
        (OK, SKIPPED, ["1", "1", "1"], ["1", "1", "1"]),
        (ZERO, SKIPPED, ["0", "0", "0"], ["0", "0", "0"]),
        (SKIPPED, SKIPPED, ["skipped"] * 3, ["missing"] * 3),
        (SKIPPED, ERROR, ["errored"] * 3, ["missing"] * 3),
    ],
)
def test_statuses(a: MetricScore, b: MetricScore, ours: list[str], of_eva: list[str]) -> None:
    assert made(a, b) == ours
    assert made(a, b, as_eva=True) == of_eva


def test_an_error_without_a_message_is_none_to_eva() -> None:
    silent = MetricScore(0.0, error="")
    assert made(OK, silent) == ["errored"] * 3
    assert made(OK, silent, as_eva=True) == ["0", "0.5", "0"]


def test_derived_needs_all() -> None:
    for c, expected in ((ZERO, "0"), (ERROR, "errored"), (SKIPPED, "skipped"), (OK, "1")):
        assert made(OK, OK, c)[2] == expected


def test_a_trial_without_metrics_has_no_composite() -> None:
    record = Record("s", 0, {}, failure="no metrics.json")
    columns = composite_columns([record], RULES)
    assert {score.status for (score,) in columns.values()} == {"errored"}


def test_a_pass_is_never_better_than_its_parts() -> None:
    for scores in product((OK, ZERO, ERROR, MISSING, SKIPPED), repeat=3):
        first, mean, derived = made(*scores)
        assert derived != "1" or first == "1"
        assert first != "1" or mean == "1"  # the scores are 0 and 1
