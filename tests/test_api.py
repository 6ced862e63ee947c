"""Public functions take any source of trials, and keep names, signatures and types."""

import ast
import copy
import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import passband
from passband import InvalidInput, Outcomes, api
from support.samples.stores import filled

MATRIX = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 0]]
OUTCOMES = Outcomes.from_array(MATRIX)
TABLE = {
    "problem": [problem for problem, row in enumerate(MATRIX) for _ in row],
    "score": [score for row in MATRIX for score in row],
}
ROWS = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]


@pytest.fixture(
    params=["array", "lists", "frame", "wide", "columns", "records", "file", "text", "run"]
)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    path = tmp_path / "trials.csv"
    pd.DataFrame(TABLE).to_csv(path, index=False)
    return {
        "array": lambda: np.array(MATRIX),
        "lists": lambda: MATRIX,
        "frame": lambda: pd.DataFrame(TABLE),
        "wide": lambda: pd.DataFrame(MATRIX),
        "columns": lambda: TABLE,
        "records": lambda: ROWS,
        "file": lambda: path,
        "text": lambda: str(path),
        "run": lambda: filled(tmp_path / "run", MATRIX),
    }[request.param]()


ASKED: dict[str, Any] = {
    "band": lambda data: passband.band(data, "pass@*"),
    "bounds": lambda data: passband.bounds(data, "pass@1"),
    "combine": lambda data: passband.combine({"x": data, "y": _other(data)}, "pass@1"),
    "curve": lambda data: passband.curve(data, "pass@*"),
    "detectable": lambda data: passband.detectable(data, "pass@1"),
    "estimate": lambda data: passband.estimate(data, ["pass@1", "pass^2"]),
    "extrapolate": lambda data: passband.extrapolate(data, "pass@6"),
    "measure": lambda data: passband.measure(outcomes=data, metric="pass@2"),
    "measure_all": lambda data: passband.measure_all(data, ["pass@*"]),
    "plan": lambda data: passband.plan(half_width=0.1, pilot=data),
    "plan_difference": lambda data: passband.plan_difference(0.1, pilot=data),
    "plan_width": lambda data: passband.plan_width(0.1, pilot=data),
    "split_variance": lambda data: passband.split_variance(data, "pass@1"),
    "compare": lambda data: passband.compare(data, b=_other(data), metric="pass@1"),
    "compare_all": lambda data: passband.compare_all({"x": data, "y": _other(data)}, "pass@1"),
    "rank_models": lambda data: passband.rank_models({"x": data, "y": _other(data)}, "pass@1"),
}
OTHER = Outcomes.from_array([row[::-1] for row in MATRIX[::-1]])


def _other(data: Any) -> Outcomes:
    """Return another model on the problems of a source."""
    names = passband.read(data).only().problems
    return Outcomes.from_counts(OTHER.required_successes(), OTHER.trials, problems=names)


@pytest.mark.parametrize("name", sorted(ASKED))
def test_any_source_will_do(name: str, source: Any) -> None:
    found, expected = ASKED[name](source), ASKED[name](passband.read(source).only())
    if hasattr(found, "k"):
        assert np.array_equal(found.value, expected.value)
    else:
        assert repr(found) == repr(expected)


def test_models_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    frames = [pd.DataFrame(TABLE).assign(model=name) for name in ("x", "y", "z")]
    pd.concat(frames).to_csv(path, index=False)
    assert {one.model for one in passband.compare_all(path, "pass@1").standings} == {"x", "y", "z"}
    with pytest.raises(InvalidInput, match=r"several groups, by model \(x, y, z\)"):
        passband.measure(path, "pass@1")


def test_what_is_no_source_is_refused() -> None:
    for wrong in (5, None, object(), "no-such-file.csv", [], {}):
        with pytest.raises(InvalidInput):
            passband.measure(wrong, "pass@1")  # type: ignore[arg-type]
    assert passband.detectable(OUTCOMES, "pass@1", against=None).delta > 0


def test_functions_keep_what_they_are_known_by() -> None:
    from passband.stats.interval.estimation import estimate

    assert passband.estimate is api.estimate
    assert inspect.signature(passband.estimate) == inspect.signature(estimate)
    assert passband.estimate.__doc__ == estimate.__doc__
    assert pickle.loads(pickle.dumps(passband.estimate)) is passband.estimate
    assert copy.deepcopy(passband.estimate) is passband.estimate
    with pytest.raises(AttributeError, match="no attribute 'estimat'"):
        _ = api.estimat


def _typed_functions() -> dict[str, list[ast.FunctionDef]]:
    tree = ast.parse(Path(api.__file__).read_text("utf-8"))
    block = [node for node in tree.body if isinstance(node, ast.If)][-1]
    functions: dict[str, list[ast.FunctionDef]] = {}
    for node in block.body:
        assert isinstance(node, ast.FunctionDef)
        functions.setdefault(node.name, []).append(node)
    return functions


def test_every_function_has_types_and_is_public() -> None:
    assert set(_typed_functions()) == set(ASKED) <= set(passband.__all__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", sorted(ASKED))
def test_types_agree_with_the_functions(name: str) -> None:
    declared = _typed_functions()[name][0].args
    parameters = inspect.signature(getattr(api, name)).parameters.values()
    names = [argument.arg for argument in (*declared.args, *declared.kwonlyargs)]
    assert names == [parameter.name for parameter in parameters]
    kinds = [p.kind is p.KEYWORD_ONLY for p in parameters]
    assert kinds == [False] * len(declared.args) + [True] * len(declared.kwonlyargs)
    defaults = [ast.literal_eval(node) for node in declared.kw_defaults if node is not None]
    assert defaults == [p.default for p in parameters if p.default is not p.empty]
