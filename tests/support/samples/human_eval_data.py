"""HumanEval's problems, where the file is at hand, and mutants of their solutions.

The file is openai/human-eval's data/HumanEval.jsonl.gz (MIT licence). It is no part of this
repository: PASSBAND_HUMANEVAL names it, or it lies in `shared/data` beside or above the checkout.
"""

from __future__ import annotations

import ast
import gzip
import json
import os
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
_HERE = Path(__file__).resolve().parents[3]
_COMPARISONS: dict[Any, Any] = {
    ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS: dict[Any, Any] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip


def human_eval_file() -> Path | None:
    """Return the file, if it is there."""
    named = os.environ.get("PASSBAND_HUMANEVAL")
    found = [folder / "shared" / "data" / "HumanEval.jsonl.gz" for folder in _HERE.parents]
    return next((path for path in ([Path(named)] if named else found) if path.is_file()), None)


def read_rows(path: Path) -> list[Row]:
    """Return the problems of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def mutants(row: Row) -> Iterator[tuple[str, str]]:
    """Yield (kind, completion) of mutants of a solution: one place changed in each.

    Kinds are comparison, operator, constant and none (the first `return` returns None). Only what
    follows the prompt is changed.
    """
    for kind in ("comparison", "operator", "constant", "none"):
        completion = _mutant(row, kind)
        if completion is not None:
            yield kind, completion


def _mutant(row: Row, kind: str) -> str | None:
    tree = ast.parse(row["prompt"] + row["canonical_solution"])
    names = [getattr(node, "name", None) for node in tree.body]
    start = len(names) - 1 - names[::-1].index(row["entry_point"])
    function = tree.body[start]
    assert isinstance(function, ast.FunctionDef)
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not any(_change(node, kind) for part in body for node in ast.walk(part)):
        return None
    lines = [textwrap.indent(ast.unparse(part), "    ") for part in body]
    return "\n".join([*lines, *(ast.unparse(part) for part in tree.body[start + 1 :])]) + "\n"


def _change(node: ast.AST, kind: str) -> bool:
    """Change a node if it is of the kind; return whether it was."""
    if kind == "comparison" and isinstance(node, ast.Compare):
        other = _COMPARISONS.get(type(node.ops[0]))
        node.ops = [other(), *node.ops[1:]] if other else node.ops
        return other is not None
    if kind == "operator" and isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        node.op = _OPERATORS[type(node.op)]()
        return True
    if kind == "constant" and isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1
        return True
    if kind == "none" and isinstance(node, ast.Return):
        node.value = ast.Constant(None)
        return True
    return False
