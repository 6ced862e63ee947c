"""House rules: what every module says about itself, what importing costs, what is tracked."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
LARGEST = 1_000_000  # bytes in a tracked file
HEAVY = {
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "aiohttp",
    "pydantic",
    "jinja2",
    "rich.live",
}  # not needed to start, so not imported


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.glob("passband/**/*.py"))}


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text("utf-8"))


def test_modules_have_a_docstring() -> None:
    without = [name for name in MODULES if not (ast.get_docstring(tree_of(name)) or "").strip()]
    assert not without


DOORS = [name for name, path in MODULES.items() if path.with_suffix(".pyi").exists()]


@pytest.mark.parametrize("door", DOORS)
def test_a_door_offers_what_its_stub_lists(door: str) -> None:
    package = importlib.import_module(door)
    stub = ast.parse(MODULES[door].with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    listed = [alias.name for node in imports for alias in node.names]
    assert package.__all__ == sorted(set(listed)), "a name twice"
    for name, node in zip(listed, imports, strict=True):
        home = importlib.import_module(str(node.module))
        assert getattr(package, name) is getattr(home, name), f"{door} has a module named {name}"
    with pytest.raises(AttributeError, match="no attribute 'misspelt'"):
        _ = package.misspelt


def test_import_is_light() -> None:
    done = run(sys.executable, "-c", "import passband, sys; print(*sys.modules)")
    assert done.returncode == 0, done.stderr
    assert not HEAVY & set(done.stdout.split())


def test_help_is_light() -> None:
    command = Path(sys.executable).with_name("passband")
    if not command.is_file():
        pytest.fail("the passband command is not installed next to Python; see make test")
    done = run(str(command), "--help", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0, done.stderr
    imported = set(re.findall(r"^import time:.*\|\s*(\S+)$", done.stderr, flags=re.MULTILINE))
    assert "passband.cli" in imported
    assert not HEAVY & imported


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=os.environ | {"PYTHONUTF8": "1"} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    """Files git tracks, or would with the next ``git add``."""
    if shutil.which("git") is None:
        pytest.skip("git is not available")
    top = run("git", "-C", str(ROOT), "rev-parse", "--show-toplevel")
    if top.returncode != 0 or Path(top.stdout.rstrip("\n")).resolve() != ROOT:
        pytest.skip("not a git checkout")
    listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = run("git", "-C", str(ROOT), *listing).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def test_no_file_names_this_machine(tracked: list[Path]) -> None:
    folders = {str(ROOT), str(Path.home())} - {"/"}
    pattern = "|".join(re.escape(folder) for folder in sorted(folders))
    here = re.compile(rf"(?<![\w./-])(?:{pattern})(?![\w-])".encode())
    found = [str(path.relative_to(ROOT)) for path in tracked if here.search(path.read_bytes())]
    assert not found


def test_no_test_sleeps() -> None:
    """Wait for an event, a pipe or a clock of your own instead; sleep(0) lets others run."""
    sleep = re.compile(r"\b(?:time|asyncio)\.sleep\((?!0\))|\bimport .*\bsleep\b|\"sleep\"")
    allowed = {"fault_server.py"}  # whose servers are slow on purpose
    files = [path for path in sorted((ROOT / "tests").rglob("*.py")) if path.name not in allowed]
    sleeping = [str(path.relative_to(ROOT)) for path in files if sleep.search(path.read_text())]
    assert not sleeping


LAUNCHER = "passband.system.processes.launch"
FIRST_STAGE = (
    "passband.system.processes.first_stage"  # goes on as another program; starts no process
)
BOX = "passband.score.sandbox.box.child"  # runs inside sandboxes, and makes the trials there
SHARDS = "passband.run.shards.local"  # starts passband itself
PAGER = "passband.cli.output"  # starts what the user's PAGER names, and nothing that a text names
STARTING = re.compile(
    r"""
    (os|posix)\.(system|popen|fork|forkpty|posix_spawnp?|exec\w+|spawn\w+)
    | (asyncio|loop)\.(create_subprocess_\w+|subprocess_\w+)
    | (?:\w+\.)*ProcessPoolExecutor
    | (subprocess|multiprocessing|_posixsubprocess|pty|popen2|pexpect)(\.\w+)*
    """,
    re.VERBOSE,
)


def names_in(tree: ast.Module) -> list[str]:
    """Return every dotted name that a module imports or uses."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names.append(ast.unparse(node))
    return names


def test_only_launchers_and_the_pager_start_processes() -> None:
    starting = [name for name in MODULES if any(map(STARTING.fullmatch, names_in(tree_of(name))))]
    assert starting == [PAGER, SHARDS, BOX, FIRST_STAGE, LAUNCHER]


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess",
        "from os import system",
        "import os; os.execv('/bin/sh', [])",
        "from concurrent.futures import ProcessPoolExecutor",
        "import concurrent.futures as c; c.ProcessPoolExecutor()",
        "import asyncio; asyncio.create_subprocess_exec('sh')",
        "from multiprocessing.pool import Pool",
        "import os; os.posix_spawn('/bin/sh', [], {})",
    ],
)
def test_starting_a_process_is_recognised(source: str) -> None:
    assert any(map(STARTING.fullmatch, names_in(ast.parse(source))))


def test_no_file_is_large(tracked: list[Path]) -> None:
    assert not [str(path.relative_to(ROOT)) for path in tracked if path.stat().st_size > LARGEST]


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
