"""Measure the house and compare it with budgets.toml, whose numbers may only get better.

    python tools/house.py                   # the table; exit code 1 if a number is exceeded
    python tools/house.py --write           # lower the numbers that can be, add those of new names

Code lines are lines with a token that is neither a comment nor part of a docstring. A number that
has to grow is changed by hand, where a reviewer sees it.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # which pytest depends on

__all__ = ["Difference", "Module", "budgets", "compared", "measured", "road_numbers"]

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "passband"
BUDGETS = ROOT / "budgets.toml"
HEAD = """\
# What the house may measure at most, with 1 % of slack; checked by tests/test_budgets.py and by
# make check. Lowered by: python tools/house.py --write. Raised by hand, with a reason.
"""
SLACK = 1.01
MOST_FILES = 25  # of a folder
_NOT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

Numbers = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Difference:
    """A number that differs from its budget."""

    name: str
    measured: float | None  # None: there is no such thing any more
    budget: float | None  # None: it has none yet
    is_over: bool

    def __str__(self) -> str:
        if self.measured is None:
            return f"{self.name} is gone; run python tools/house.py --write"
        if self.budget is None:
            return f"{self.name} is {self.measured:g} and has no budget; run --write"
        if self.is_over:
            return f"{self.name} is {self.measured:g}, more than its budget of {self.budget:g}"
        return f"{self.name} can be lowered from {self.budget:g} to {self.measured:g}"


@dataclass(frozen=True)
class Module:
    """The source of a module."""

    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_bytes())

    @cached_property
    def code(self) -> set[int]:
        """The numbers of the lines that hold code."""
        lines: set[int] = set()
        with self.path.open("rb") as file:
            for kind, _, (first, _), (last, _), _ in tokenize.tokenize(file.readline):
                if kind not in _NOT_CODE:
                    lines.update(range(first, last + 1))
        return lines - set(self._docstrings())

    def anys(self) -> int:
        """Return how often `Any` is written."""
        return sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(self.tree))

    def _docstrings(self) -> Iterator[int]:
        for node in ast.walk(self.tree):
            if not isinstance(node, (ast.Module, ast.ClassDef, *_DEFINITIONS)):
                continue
            if ast.get_docstring(node, clean=False) is not None:
                first = node.body[0]
                yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)

    def functions(self) -> Iterator[int]:
        """Yield the code lines of the body of each function."""
        for node in ast.walk(self.tree):
            if isinstance(node, _DEFINITIONS):
                body = range(node.body[0].lineno, (node.end_lineno or 0) + 1)
                yield len(self.code.intersection(body))

    def classes(self) -> list[str]:
        """Return the names of its public classes."""
        named = [node.name for node in self.tree.body if isinstance(node, ast.ClassDef)]
        return [name for name in named if not name.startswith("_")]


def measured() -> Numbers:
    """Return what the source measures, by section and name."""
    modules = [Module(path) for path in sorted(PACKAGE.rglob("*.py"))]
    code: Counter[str] = Counter()
    homes: defaultdict[str, int] = defaultdict(int)
    for module in modules:
        parts = module.path.relative_to(PACKAGE).parts
        code[parts[0] if len(parts) > 1 else "(root)"] += len(module.code)
        for name in module.classes():
            homes[name] += 1
    lines = sum(module.path.read_bytes().count(b"\n") for module in modules)
    anys = sum(module.anys() for module in modules)
    folders = Counter(module.path.parent for module in modules)
    house = {
        "code_lines": code.total(),
        "files": len(modules),
        "any_per_1000_lines": round(1000 * anys / lines, 1),
        "largest_function": max(size for module in modules for size in module.functions()),
        "class_names_in_two_modules": sum(count > 1 for count in homes.values()),
        "folders_over_25_files": sum(count > MOST_FILES for count in folders.values()),
    }
    return {"house": dict(house), "code": dict(sorted(code.items()))}


def road_numbers() -> Numbers:
    """Return the files and the imported modules of every road; see roads.py."""
    command = [sys.executable, str(ROOT / "tools" / "roads.py"), "--json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=300)
    roads = json.loads(done.stdout)
    return {
        "road_files": {road["name"]: len(road["files"]) for road in roads},
        "road_modules": {road["name"]: road["modules"] for road in roads},
    }


def budgets() -> Numbers:
    """Return the numbers of budgets.toml."""
    table: Numbers = tomllib.loads(BUDGETS.read_text("utf-8")) if BUDGETS.exists() else {}
    return table


def compared(numbers: Numbers) -> list[Difference]:
    """Return what differs from the budgets: what is over them, and what can be lowered."""
    limits = budgets()
    found = []
    for section, values in numbers.items():
        of_section = limits.get(section, {})
        for name in sorted({*values, *of_section}):
            value, budget = values.get(name), of_section.get(name)
            if value is None or budget is None:
                found.append(Difference(f"{section}.{name}", value, budget, True))
            elif (is_over := value > budget * SLACK) or value < budget:
                found.append(Difference(f"{section}.{name}", value, budget, is_over))
    return found


def written(numbers: Numbers) -> str:
    """Return the text of budgets.toml with every number as low as it can be."""
    limits, parts = budgets(), [HEAD]
    for section, values in numbers.items():
        of_section = limits.get(section, {})
        lowest = {name: min(value, of_section.get(name, value)) for name, value in values.items()}
        rows = (f"{_key(name)} = {value:g}\n" for name, value in lowest.items())
        parts.append(f"\n[{section}]\n" + "".join(rows))
    return "".join(parts)


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() else f'"{name}"'


def table(numbers: Numbers) -> Iterator[str]:
    """Yield the lines of a table of all numbers beside their budgets."""
    limits = budgets()
    for section, values in numbers.items():
        yield f"{section.replace('_', ' '):<30}{'measured':>10}{'budget':>10}"
        for name, value in values.items():
            budget = limits.get(section, {}).get(name, float("nan"))
            yield f"  {name.replace('_', ' '):<28}{value:>10,g}{budget:>10,g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="lower what can be lowered")
    options = parser.parse_args()
    numbers = measured() | road_numbers()
    if options.write:
        BUDGETS.write_text(written(numbers), "utf-8")
    print("\n".join(table(numbers)))
    found = compared(numbers)
    print("\n".join(map(str, found)))
    sys.exit(any(each.is_over for each in found))


if __name__ == "__main__":
    main()
