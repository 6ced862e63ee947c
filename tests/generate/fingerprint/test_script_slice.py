"""The statements of a script that a function uses."""

import ast

import pytest

from passband.generate.fingerprint.digest import defined_at, used_statements

SCRIPT = """
import passband
from near import *
SCALE = 2
SCALE += 1
if SCALE:
    import far
def other(): return 1
def helped(text): return far.scaled(text * SCALE)
def model(prompt): return helped(prompt)
passband.simple_evaluate(model, "sums", num_repeats=4)
"""


def used(*names: str) -> list[str]:
    return [ast.unparse(one).split("(")[0] for one in used_statements(ast.parse(SCRIPT), names)]


def test_what_a_function_uses_is_found_through_others() -> None:
    assert used("model") == [
        "from near import *", "SCALE = 2", "SCALE += 1", "if SCALE:\n    import far", "def helped",
        "def model",
    ]  # fmt: skip


@pytest.mark.parametrize("names", [(), ("<lambda>",), ("unknown", "text")])
def test_names_that_the_script_does_not_define_use_nothing(names: tuple[str, ...]) -> None:
    assert used(*names) == []


def test_a_line_belongs_to_a_function_with_its_decorators() -> None:
    tree = ast.parse("x = 1\n@decorated\ndef f():\n    return 1\n\ny = 2\n")
    assert [defined_at(tree, line) for line in range(1, 7)] == [None, "f", "f", "f", None, None]
