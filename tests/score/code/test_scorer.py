"""Programs scored: by unit tests and by inputs, good ones, bad ones and hostile ones.

Whether the sandbox holds is tested in tests/score/sandbox; here any will do, also none.
"""

import base64
import json
import pickle
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.score.builtin.made import code
from passband.score.code.outcome import outcome_in
from passband.score.code.scorer import CodeScorer
from passband.score.pipeline import make_scorer
from passband.score.sandbox import find_sandbox
from passband.score.sandbox.protocol import SandboxFailed
from passband.score.scorer import Reference, Score
from support.samples.human_eval_data import human_eval_file, mutants, read_rows

pytestmark = pytest.mark.process

DOUBLE = {
    "prompt": "def double(x):\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-1) == -2\n",
    "entry_point": "double",
}
MBPP: dict[str, Any] = {
    "text": "Write a function to add.",
    "test_setup_code": "",
    "test_list": ["assert add(1, 2) == 3", "assert set([add(1, 1)]) == {2}"],
    "code": "def add(a, b):\n    return a + b\n",
}
SUMS = {"inputs": ["1 2\n", "5 5\n"], "outputs": ["3\n", "10"]}
READS = "a, b = map(int, input().split())\nprint(a + b)\n"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Any]:
    found = find_sandbox(unsafe=True)
    yield found
    found.close()


def scorer_in(sandbox: Any, **options: Any) -> CodeScorer:
    scorer = make_scorer("code", options=options)
    assert isinstance(scorer, CodeScorer)
    scorer.use_sandbox(sandbox)
    return scorer


@pytest.fixture(scope="module")
def scorer(sandbox: Any) -> CodeScorer:
    return scorer_in(sandbox, timeout=1)


def scored(scorer: CodeScorer, program: str, doc: dict[str, Any]) -> Score:
    return scorer.score(f"```python\n{program}\n```", Reference((), (), doc))


def test_a_right_program_passes(scorer: CodeScorer) -> None:
    score = scored(scorer, "def double(x):\n    return 2 * x", DOUBLE)
    assert score == (1.0, "ok", "def double(x):\n    return 2 * x\n", "block", None)


@pytest.mark.parametrize(
    ("program", "outcome", "said"),
    [
        ("def double(x):\n    return x * x", "failed", "candidate(-1) == -2"),
        ("def double(x):\n    return y", "failed", "NameError"),
        ("def double(x):\n    import os; os._exit(0)", "crashed", "status 0"),
        ("def double(x):\n    while True: pass", "timed_out", "took "),
        ("def double(x:\n    return 1", "did_not_compile", "SyntaxError"),
        ("def double(x):\n    return 1\0", "did_not_compile", ""),
        ("def check(candidate): pass\ndef double(x): return 0", "failed", "== 4"),
        ("candidate = None\ndef double(x): return 0", "failed", "== 4"),
        ("import atexit, os\natexit.register(os._exit, 0)\ndef double(x): return 0", "failed", ""),
        ("import sys\ndef double(x): sys.exit(0)", "failed", ""),
        ("class E(int):\n  def __eq__(s, o): return 1\ndef double(x): return E(0)", "failed", ""),
        ("import builtins as b\nb.AssertionError = int\ndef double(x): return 0", "failed", ""),
        ("def double(x):\n    print('x' * 10**7)\n    return 2 * x", "passed", None),
    ],
)  # fmt: skip
def test_outcomes(scorer: CodeScorer, program: str, outcome: str, said: str | None) -> None:
    score = scored(scorer, program, DOUBLE)
    assert score.status == "ok"
    assert score.value == (outcome == "passed")
    assert outcome_in(score.detail) == (None if outcome == "passed" else outcome)
    assert said is None or said in (score.detail or "")


def test_an_answer_without_a_program_is_wrong(scorer: CodeScorer) -> None:
    reference = Reference((), (), DOUBLE)
    assert scorer.score("I do not know.", reference) == (0.0, "no_answer", None, None, None)
    assert scorer.score(None, reference).status == "no_answer"


def test_tests_in_the_style_of_mbpp(scorer: CodeScorer) -> None:
    assert scored(scorer, MBPP["code"], MBPP).value == 1.0
    wrong = scored(scorer, "def add(a, b):\n    return a - b", MBPP)
    assert wrong.value == 0.0
    assert "assert add(1, 2) == 3" in (wrong.detail or "")
    with_setup = {**MBPP, "test_setup_code": "one = 1", "test_list": ["assert add(one, 1) == 2"]}
    assert scored(scorer, MBPP["code"], with_setup).value == 1.0


@pytest.mark.parametrize(
    "doc",
    [
        SUMS,
        {"input_output": json.dumps(SUMS)},
        {"inputs": json.dumps(SUMS["inputs"]), "outputs": json.dumps(SUMS["outputs"])},
        {"public_test_cases": json.dumps([{"input": "1 2", "output": "3", "testtype": "stdin"}])},
    ],
)
def test_inputs_and_outputs(scorer: CodeScorer, doc: dict[str, Any]) -> None:
    assert scored(scorer, READS, doc).value == 1.0
    wrong = scored(scorer, READS.replace("+", "-"), doc)
    assert wrong.value == 0.0
    assert "line 1 is '-1', expected '3'" in (wrong.detail or "")


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("input()\nraise SystemExit(3)", "failed"),
        ("input()\n1 / 0", "failed"),
        ("import ctypes\ninput()\nctypes.string_at(0)", "crashed"),
        ("input()\nwhile True: pass", "timed_out"),
        ("input()\nprint('x' * 10**6)", "failed"),
        ("x = (input()", "did_not_compile"),
    ],
)
def test_outcomes_of_programs_that_read(scorer: CodeScorer, program: str, outcome: str) -> None:
    score = scored(scorer, program, SUMS)
    assert (score.value, outcome_in(score.detail)) == (0.0, outcome)


def test_tests_of_a_function_in_json(scorer: CodeScorer) -> None:
    private = base64.b64encode(
        zlib.compress(pickle.dumps(json.dumps([{"input": "[1, 2]\n3", "output": "6"}])))
    ).decode()
    doc = {
        "public_test_cases": json.dumps(
            [{"input": "[1]\n2", "output": "3", "testtype": "functional"}]
        ),
        "private_test_cases": private,
        "metadata": json.dumps({"func_name": "add"}),
        "starter_code": "class Solution:\n    def add(self, xs, y):\n        ",
    }
    right = "class Solution:\n  def add(self, xs, y):\n    print('hm')\n    return sum(xs) + y"
    assert scored(scorer, right, doc).value == 1.0
    wrong = scored(scorer, right.replace("+ y", "- y"), doc)
    assert "the result is -1, expected 3" in (wrong.detail or "")
    pair = {**doc, "private_test_cases": "", "starter_code": "def add(xs, y):\n"}
    case = {"input": "[1]\n2", "output": "[1, 2]", "testtype": "functional"}
    pair["public_test_cases"] = json.dumps([case])
    assert scored(scorer, "def add(xs, y):\n  return [*xs, y]", pair).value == 1.0
    assert scored(scorer, "def add(xs, y):\n  return 1", pair).value == 0.0
    apps = {"input_output": json.dumps({"fn_name": "add", "inputs": [[1, 2]], "outputs": [[3]]})}
    assert scored(scorer, MBPP["code"], apps).value == 1.0


@pytest.mark.parametrize(
    ("doc", "said"),
    [
        ({"prompt": "x"}, "the row has no tests"),
        ({**DOUBLE, "test": ""}, "the row has no tests"),
        ({**DOUBLE, "entry_point": "not a name"}, "entry_point must be the name"),
        ({"test_list": ["assert 1 == 1"]}, "calls no function"),
        ({"inputs": ["1"], "outputs": []}, "the row has no tests"),
        ({"inputs": ["1"], "outputs": ["1", "2"]}, "1 inputs and 2 outputs"),
        ({"input_output": "{"}, "is no JSON"),
        ({"public_test_cases": "no JSON"}, "neither JSON nor packed JSON"),
    ],
)
def test_rows_without_tests_are_errors_and_no_zeros(
    scorer: CodeScorer, doc: dict[str, Any], said: str
) -> None:
    score = scored(scorer, "def double(x): return 2 * x", doc)
    assert (score.value, score.status) == (None, "error")
    assert said in (score.detail or "")
    assert said in (scorer.fault_of(Reference((), (), doc)) or "")


def test_tests_that_are_no_python_or_test_nothing(scorer: CodeScorer) -> None:
    broken = {**DOUBLE, "test": "def check(candidate:"}
    assert "its test is no Python: line 1" in (scorer.fault_of(Reference((), (), broken)) or "")
    for test in (
        "x = 1",
        "def check(candidate):\n    pass",
        '["assert double(2) == 4"]',
        "# double",
    ):
        empty = {**DOUBLE, "test": test}
        assert "never calls double" in (scorer.fault_of(Reference((), (), empty)) or "")
    named = {**DOUBLE, "test": "def check(f):\n    assert f(1) == 2"}
    assert scorer.fault_of(Reference((), (), named)) is None
    assert scorer.fault_of(Reference((), (), DOUBLE)) is None


def test_a_failing_sandbox_gives_no_score() -> None:
    class Broken:
        def check(self, *_: Any) -> None:
            raise SandboxFailed("it did not start.")

    scorer = scorer_in(Broken())
    score = scored(scorer, "def double(x): return 2 * x", DOUBLE)
    assert (score.value, score.status) == (None, "error")
    assert "it did not start" in (score.detail or "")


def test_reference_solutions_are_checked(scorer: CodeScorer) -> None:
    good = Reference((), (), {**DOUBLE, "canonical_solution": "    return 2 * x"})
    assert scorer.solution_fault(good) is None
    bad = Reference((), (), {**DOUBLE, "canonical_solution": "    return x"})
    assert (scorer.solution_fault(bad) or "").startswith("failed: ")
    assert scorer.solution_fault(Reference((), (), DOUBLE)) is None


def test_a_second_verdict_has_another_hash_seed_and_the_same_limits(scorer: CodeScorer) -> None:
    reference = Reference((), (), DOUBLE)
    asks = "2 if os.environ['PYTHONHASHSEED'] == '2' else 0"
    text = f"```\nimport os\ndef double(x): return x * ({asks})\n```"
    assert scorer.score(text, reference).value == 0.0
    assert scorer.score_again(text, reference, hash_seed=2).value == 1.0
    late = (
        "```\nimport threading as t\ndef double(x):\n    t.Event().wait(1.1)\n    return 2 * x\n```"
    )
    assert outcome_in(scorer.score(late, reference).detail) == "timed_out"
    again = scorer.score_again(late, reference, hash_seed=1, times=2.0)
    assert again.value == 0.0
    assert "passed after 2." in (again.detail or "")


@pytest.mark.parametrize(
    "options",
    [{"timeout": 0}, {"timeout": "3"}, {"memory": 1}, {"verdict": "trust"}, {"compare": "x"},
     {"tolerance": -1}, {"speed": 3}],
)  # fmt: skip
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        make_scorer("code", options=options)


def test_the_function_of_that_name_is_no_scorer() -> None:
    with pytest.raises(InvalidInput, match="make_scorer"):
        code("answer", Reference(()))


def test_the_scorer_can_be_made_again() -> None:
    scorer = make_scorer("code", options={"timeout": 5}, steps=["strip_reasoning"])
    assert scorer.spec is not None
    assert make_scorer(**scorer.spec).identity == scorer.identity
    assert scorer.identity != make_scorer("code").identity
    assert scorer.same("a", "a")
    assert not scorer.same("a", "b")


@pytest.mark.slow
def test_solutions_of_human_eval_pass_and_mutants_fail(sandbox: Any) -> None:
    path = human_eval_file()
    if path is None:
        pytest.skip("HumanEval.jsonl.gz is not here (PASSBAND_HUMANEVAL names it)")
    scorer = scorer_in(sandbox)
    rows = read_rows(path)
    values = [scorer.score(row["canonical_solution"], Reference((), (), row)).value for row in rows]
    assert values == [1.0] * 164
    some = [(row, dict(mutants(row))["none"]) for row in rows[::8] if "none" in dict(mutants(row))]
    failing = [scorer.score(text, Reference((), (), row)).value for row, text in some]
    assert sum(value == 0.0 for value in failing) >= 0.9 * len(some) > 10
