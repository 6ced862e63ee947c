"""Benchmarks are not run by the tests; their imports from the package must still exist."""

import ast
import importlib
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_benchmark_imports_exists(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("passband"):
            module = importlib.import_module(node.module or "")
            missing = [
                alias.name
                for alias in node.names
                if not hasattr(module, alias.name) and not is_module(node.module, alias.name)
            ]
            assert not missing, f"{path.name}:{node.lineno}: {node.module} has no {missing}"


def is_module(package: str | None, name: str) -> bool:
    return importlib.util.find_spec(f"{package}.{name}") is not None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_benchmark_has_not_the_name_of_a_standard_module(path: Path) -> None:
    """Its folder is first on the path of the others, which would import it in place of that."""
    assert path.stem not in sys.stdlib_module_names
