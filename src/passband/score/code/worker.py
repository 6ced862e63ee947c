"""Functions of a worker process for the scorer of programs, together so that one worker serves all.

Only these functions show source from a model or a data set to the compiler of CPython.

>>> called_function_here("assert set(common((1, 2), (2,))) == {2}")
'common'
>>> called_function_here("assert math.isclose(area(2), 12.6)", "import math")
'area'
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

# Reached by name in this module, so that one worker serves all functions on programs.
from passband.score.code.program import find_program_here as find_program_here
from passband.score.code.source import PythonSource, SourceFault, read_source

_INDIRECT = {"eval", "exec", "globals", "locals", "vars"}  # what may call anything


def called_function_here(asserts: str, before: str = "", code: str = "") -> str | None:
    """Return the first function that assertions call and nothing else defines.

    `before` is what runs before them; a function that the reference solution `code` defines is
    preferred. None if there is none, or the assertions do not compile.
    """
    tests, setup, solution = (read_source(text) for text in (asserts, before, code))
    if not isinstance(tests, PythonSource):
        return None
    known = set(dir(builtins)) | tests.names
    known |= setup.names if isinstance(setup, PythonSource) else set()
    called = [name for name in _called(tests.tree) if name not in known]
    defined = solution.names if isinstance(solution, PythonSource) else frozenset[str]()
    return next(iter([*(name for name in called if name in defined), *called]), None)


def _called(tree: ast.Module) -> Iterator[str]:
    """Yield the names that are called, in the order in which they are written."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    for call in calls:
        if isinstance(call.func, ast.Name):
            yield call.func.id


def uses_function_here(test: str, name: str) -> bool:
    """Return whether the text of a test mentions the function under test.

    >>> uses_function_here("def check(candidate):\\n    assert candidate(1) == 2", "f")
    True
    >>> uses_function_here('["assert f(1) == 2"]', "f")
    False
    """
    source = read_source(test)
    if not isinstance(source, PythonSource):
        return False
    checks = (node for node in source.tree.body if getattr(node, "name", "") == "check")
    functions = (node for node in checks if isinstance(node, ast.FunctionDef))
    names = {name, "candidate", *_INDIRECT}
    names |= {argument.arg for node in functions for argument in node.args.args}
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
        for node in ast.walk(source.tree)
    )


def fault_here(text: str) -> str | None:
    """Return why a text is no Python, or None."""
    source = read_source(text)
    if not isinstance(source, SourceFault):
        return None
    return source.message if source.line is None else f"line {source.line}: {source.message}"
