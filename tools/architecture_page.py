"""Make the sections of ARCHITECTURE.md that are made: the layers, and the files of each road."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # which pytest depends on

__all__ = ["page"]

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "passband"
MARKED = re.compile(r"(<!-- made: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def page() -> str:
    """Return ARCHITECTURE.md with its made sections as the source has them now."""
    command = [sys.executable, str(ROOT / "tools" / "roads.py"), "--json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=300)
    made = {road["name"]: _road(road) for road in json.loads(done.stdout)} | {"layers": _layers()}
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    missing = made.keys() - {name for _, name, _ in MARKED.findall(text)}
    if missing:
        raise SystemExit(f"ARCHITECTURE.md has no <!-- made: {missing.pop()} --> ... <!-- end -->")
    return MARKED.sub(lambda match: f"{match[1]}{made[match[2]]}{match[3]}", text)


def _road(road: dict[str, Any]) -> str:
    rows = "".join(f"| `{file}` | {_first_line(PACKAGE / file)} |\n" for file in road["files"])
    return (
        f"`{road['command']}`: {len(road['files'])} files, {road['modules']} modules imported.\n\n"
        f"| file | what it has |\n|:--|:--|\n{rows}"
    )


def _layers() -> str:
    """Return the contract of the layers as a table, from the top to the bottom."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (contract,) = (each for each in settings["contracts"] if each["id"] == "layers")
    rows = []
    for layer in contract["layers"]:
        names = [name.strip(" ()").partition(".")[2] for name in layer.split("|")]
        texts = (f"`{name}`: {_first_line(_file(name))}" for name in names)
        rows.append(f"| {' <br> '.join(texts)} |\n")
    return "| layers, from the top |\n|:--|\n" + "".join(rows)


def _file(name: str) -> Path:
    path = PACKAGE.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _first_line(path: Path) -> str:
    """Return the first paragraph of a module's docstring, in one line of a table."""
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", r"\|").replace("<", "&lt;")
