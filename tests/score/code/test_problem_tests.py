import json
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.score.code.problem_tests import (
    Case,
    FunctionTests,
    ProgramTests,
    read_tests,
    solution_of,
)
from passband.score.code.worker import called_function_here

HUMAN_EVAL = {"test": "def check(candidate): ...", "entry_point": "f", "prompt": "def f(): ..."}


def test_columns_of_human_eval() -> None:
    assert read_tests(HUMAN_EVAL) == FunctionTests("f", HUMAN_EVAL["test"], "def f(): ...")
    assert read_tests({**HUMAN_EVAL, "prompt": None}).prompt == ""


@pytest.mark.process
def test_columns_of_mbpp() -> None:
    doc = {"test_list": ["assert f(1) == 2", "assert f(2) == 3"], "test_setup_code": "x = 1"}
    assert read_tests(doc) == FunctionTests("f", "x = 1\nassert f(1) == 2\nassert f(2) == 3")
    plus = {**doc, "test": "assert f(5) == 6", "test_imports": ["import math"]}
    assert read_tests(plus) == FunctionTests("f", "assert f(5) == 6")
    text = {"test_list": json.dumps(doc["test_list"])}
    assert read_tests(text).entry_point == "f"


@pytest.mark.parametrize(
    ("asserts", "before", "code", "name"),
    [
        ("assert f(1) == 2", "", "", "f"),
        ("assert sorted(f(1)) == g(2)", "", "", "f"),
        ("assert check(g(1))", "def check(x): return x", "", "g"),
        ("assert g(f(1)) == 2", "", "def f(x): ...", "f"),
        ("x = 1\nassert f(x)", "", "", "f"),
        ("assert math.sqrt(f(1)) == 1", "import math", "", "f"),
        ("assert 1 == 1", "", "", None),
        ("assert (", "", "", None),
        ("assert f(1)", "import (", "also (", "f"),
    ],
)
def test_the_function_that_assertions_are_about(
    asserts: str, before: str, code: str, name: str | None
) -> None:
    assert called_function_here(asserts, before, code) == name


def test_inputs_and_outputs() -> None:
    tests = read_tests({"inputs": ["1\n", ["2", "3"]], "outputs": ["1", 5]})
    assert tests == ProgramTests((Case("1\n", "1"), Case("2\n3", "5")))
    calls = {"fn_name": "f", "inputs": [[1, "a"]], "outputs": [[2]]}
    wrapped = ProgramTests((Case('[1, "a"]', "[2]"),), "", "f", is_wrapped=True)
    assert read_tests({"input_output": calls}) == wrapped


def test_cases_of_live_code_bench() -> None:
    row = {"input": '"a"\n[1, 2]', "output": "3", "testtype": "functional"}
    doc = {"public_test_cases": json.dumps([row]), "metadata": '{"func_name": "f"}'}
    assert read_tests(doc) == ProgramTests((Case('["a", [1, 2]]', "3"),), "", "f")
    with pytest.raises(InvalidInput, match="func_name"):
        read_tests({**doc, "metadata": "{}"})
    with pytest.raises(InvalidInput, match="no JSON"):
        read_tests({**doc, "public_test_cases": json.dumps([{**row, "input": "a b"}])})
    with pytest.raises(InvalidInput, match="each with input and output"):
        read_tests({"public_test_cases": '[{"input": 1}]'})


@pytest.mark.parametrize(
    ("doc", "solution"),
    [
        ({"canonical_solution": "    return 1"}, "def f(): ...    return 1"),
        ({"code": "def f(): ..."}, "def f(): ..."),
        ({"solutions": ["a", "b"]}, "a"),
        ({"solutions": '["a"]'}, "a"),
        ({"solutions": "["}, None),
        ({"canonical_solution": " "}, None),
        ({}, None),
    ],
)
def test_reference_solutions(doc: dict[str, Any], solution: str | None) -> None:
    assert solution_of(doc, read_tests(HUMAN_EVAL)) == solution
