"""Which test file exercises which module: the mirrored one, or the one that mirror.toml names.

src/passband/run/loop.py is tested in tests/run/test_loop.py. A module without such a file has a
line in tests/mirror.toml; tests/test_house.py checks that the line is needed, and that what the
file imports leads to the module. After adding, moving or removing modules:

    python tests/mirror.py --write
"""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # which pytest depends on

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src"
TABLE = TESTS / "mirror.toml"
HEAD = """\
# Modules without a test file of their own, and the file in tests/ that exercises each.
# Checked by tests/test_house.py; renewed by: python tests/mirror.py --write
"""
WITHOUT_TESTS = {"__init__", "__main__", "types", "version"}  # nothing in them can fail alone


@cache
def modules() -> dict[str, Path]:
    """Return every module that needs a test, by name."""
    paths = sorted(SOURCE.glob("passband/**/*.py"))
    wanted = [path.relative_to(SOURCE) for path in paths if path.stem not in WITHOUT_TESTS]
    return {".".join(path.with_suffix("").parts): path for path in wanted}


def mirrored(path: Path) -> Path:
    """Return where the test file of a module belongs, relative to tests/."""
    return Path(*path.parts[1:-1]) / f"test_{path.stem.lstrip('_')}.py"


def without_mirror() -> dict[str, Path]:
    return {name: path for name, path in modules().items() if not (TESTS / mirrored(path)).exists()}


def read_table() -> dict[str, str]:
    """Return mirror.toml: test files by module."""
    table: dict[str, str] = tomllib.loads(TABLE.read_text("utf-8"))
    return table


def read_lines() -> dict[str, str]:
    """Return the same line by line, whatever a merge has left between and beside the lines."""
    text = TABLE.read_text("utf-8") if TABLE.exists() else ""
    return dict(re.findall(r'^"(\S+)" = "(\S+)"$', text, flags=re.MULTILINE))


@cache
def imports(path: Path) -> frozenset[str]:
    """Return the modules of passband that a file imports, also by way of helpers in tests/."""
    names: set[str] = set()
    for name in _imported(path):
        helper = TESTS / f"{name}.py"
        if name.split(".")[0] == "passband":
            names.add(name)
        elif helper.exists() and helper != path:
            names |= imports(helper)
    return frozenset(names)


def _imported(path: Path) -> Iterator[str]:
    for node in _statements(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def starts(test: str) -> frozenset[str]:
    """Return what a test file starts from: the module that it mirrors, and what it imports.

    A module that is loaded by its name, as registries do, may not be imported by its own tests.
    """
    return imports(TESTS / test) | _by_mirror().get(test, frozenset())


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Go through all statements, at any depth, and leave out the expressions: most of a tree."""
    waiting: list[ast.AST] = [tree]
    for node in waiting:  # which grows
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, part, ())


@cache
def _by_mirror() -> dict[str, frozenset[str]]:
    """Return the modules that each test file mirrors."""
    found: dict[str, frozenset[str]] = {}
    for name, path in modules().items():
        test = mirrored(path).as_posix()
        found[test] = found.get(test, frozenset()) | {name}
    return found


@cache
def reached(name: str) -> dict[str, int]:
    """Return what a module of passband imports, at once or later, and by how many steps."""
    steps, waiting = {}, [(name, 0)]
    for name, step in waiting:  # which grows
        if name not in steps and (inside := imported_modules(name)) is not None:
            steps[name] = step
            waiting += [(other, step + 1) for other in inside if other not in steps]
    return steps


@cache
def imported_modules(name: str) -> tuple[str, ...] | None:
    """Return the modules that a module imports; None if there is no such module."""
    path = SOURCE.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not file.exists():
        return None
    return tuple(sorted(other for other in imports(file) if other == name or is_module(other)))


@cache
def is_module(name: str) -> bool:
    path = SOURCE.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def closeness(module: str, names: frozenset[str]) -> float:
    """Return how directly a test that starts from `names` leads to a module: from 1 down to 0."""
    steps = [reached(name)[module] for name in names if module in reached(name)]
    if steps:
        return 1 / (1 + min(steps))
    package = module.rpartition(".")[0]  # reason enough, as long as it is not all of passband
    is_near = any(f"{name}.".startswith(f"{package}.") for name in names)
    return 0.001 if is_near and package != "passband" else 0.0


def faults() -> list[str]:
    """Return what is wrong with mirror.toml, a line each."""
    table, missing = read_table(), without_mirror()
    lines = [f"{name}: no test file, and no line in mirror.toml" for name in missing.keys() - table]
    lines += [f"{name}: has a test file, or is gone" for name in table.keys() - missing.keys()]
    for name in table.keys() & missing.keys():
        path = TESTS / table[name]
        if not path.is_file():
            lines.append(f"{name}: {table[name]} does not exist")
        elif not closeness(name, starts(table[name])):
            lines.append(f"{name}: {table[name]} imports nothing that leads to it")
    return sorted(lines)


def choose(module: str, path: Path, tests: dict[str, frozenset[str]]) -> str | None:
    """Return the test file that is closest to a module by folder, by imports and by size."""
    folder = mirrored(path).parent

    def rank(name: str) -> tuple[bool, float, int]:
        is_beside = folder in (Path(name).parent, *Path(name).parent.parents)
        near = closeness(module, tests[name])
        return is_beside and near > 0.001, near, -len(tests[name])

    best = max(tests, key=rank)
    return best if closeness(module, tests[best]) else None


def renewed() -> dict[str, str]:
    """Return the table that fits the modules there are now; lines that are true are kept."""
    names = [path.relative_to(TESTS).as_posix() for path in sorted(TESTS.rglob("test_*.py"))]
    tests = {name: starts(name) for name in names}
    old, table = read_lines(), {}
    for name, path in without_mirror().items():
        kept = old.get(name)
        if kept not in tests or not closeness(name, tests[kept]):
            kept = choose(name, path, tests)
        if kept is not None:
            table[name] = kept
    return table


def main() -> None:
    if "--write" in sys.argv[1:]:
        lines = [f'"{name}" = "{file}"\n' for name, file in sorted(renewed().items())]
        TABLE.write_text(HEAD + "".join(lines), "utf-8")
    wrong = faults()
    print("\n".join(wrong) or "every module has a test file")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
