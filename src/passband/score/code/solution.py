"""The reference solution of a problem, where its data set has one: it has to pass its own tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from passband.score.code.problem_tests import Tests

__all__ = ["solution_of"]


def solution_of(doc: Mapping[str, Any], tests: Tests) -> str | None:
    """Return the reference solution as a program: of HumanEval, of MBPP, or the first of APPS.

    >>> from passband.score.code.problem_tests import FunctionTests
    >>> tests = FunctionTests("f", "def check(f): assert f(1) == 1", "def f(x):\\n")
    >>> solution_of({"canonical_solution": "    return x"}, tests)
    'def f(x):\\n    return x'
    """
    body = doc.get("canonical_solution")
    if isinstance(body, str) and body.strip():
        return tests.prompt + body
    code = doc.get("code")
    if isinstance(code, str) and code.strip():
        return code
    return _first(doc.get("solutions"))


def _first(solutions: Any) -> str | None:
    if isinstance(solutions, str):
        try:
            solutions = json.loads(solutions)
        except (ValueError, RecursionError):
            return None
    is_list = isinstance(solutions, list) and solutions and isinstance(solutions[0], str)
    return solutions[0] if is_list else None
