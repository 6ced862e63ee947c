"""What is sent into a sandbox has to run in an older Python, with nothing installed."""

import ast
import sys
from pathlib import Path

import pytest

from passband.score.sandbox.box import client, front, zygote
from passband.score.sandbox.recipe import BOOT, ZygoteRecipe, variables

SOURCES = dict(ZygoteRecipe((), is_remote=True).first_frame()["sources"])


@pytest.mark.parametrize("name", SOURCES)
def test_the_box_is_python_3_8(name: str) -> None:
    tree = ast.parse(SOURCES[name], feature_version=(3, 8))
    imported = {
        (node.module or "").partition(".")[0] if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0)
        for alias in node.names
    }
    assert imported <= {*sys.stdlib_module_names, "numpy"}, name
    assert "annotations" in SOURCES[name]  # so that those of newer Pythons are not evaluated
    assert "zip(" not in SOURCES[name] or "strict=" not in SOURCES[name]


def test_every_module_comes_after_those_it_imports() -> None:
    before: set[str] = set()
    for name, source in SOURCES.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.level:
                wanted = {node.module} if node.module else {alias.name for alias in node.names}
                assert wanted <= before, name
        before.add(name)


def test_every_module_of_the_box_is_sent() -> None:
    folder = Path(zygote.__file__).parent
    assert set(SOURCES) == {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert list(SOURCES)[-1] == front.__name__.rpartition(".")[2]  # the one that is called
    local = dict(ZygoteRecipe(()).first_frame()["sources"])
    assert set(SOURCES) - set(local) == {"client", "front"}
    assert list(local)[-1] == "zygote"
    assert SOURCES["client"] == Path(client.__file__).read_text()


def test_the_environment_has_nothing_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    assert "canary" not in str(variables(7))
    assert variables(7)["PYTHONHASHSEED"] == "7"
    assert "sys.path[:]" in BOOT  # before anything else is imported
