"""Trace the roads through the package: which files a command walks through, and in what order.

    python tools/roads.py                   # a table: files, functions, switches, modules
    python tools/roads.py --list stats      # the files of a road, in the order of first entry
    python tools/roads.py --json

Every road is walked in a process of its own that has imported no module of passband: once to count
the modules that it imports, and a second time, traced, when no import is left.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "passband"
sys.path.insert(0, str(ROOT / "benchmarks"))

__all__ = ["ROADS", "Road", "traced"]

#: Commands by the name of their road; {url} is a server, {out} is new for every walk.
ROADS = {
    "stats": "stats trials.csv",
    "compare": "compare runs/a runs/b",
    "run": "run arithmetic --limit 5 -n 8 --model openai:loopback --base-url {url} --out {out}",
    "report": "report runs/a -o {out}.html",
    "stats-eval": "stats runs/a.eval",
}
PREPARATIONS = (
    "run arithmetic --limit 5 -n 8 --model openai:loopback --base-url {url} --out runs/a",
    "run arithmetic --limit 5 -n 8 --model openai:other --base-url {url} --out runs/b",
    "export runs/a -o runs/a.eval",
)
#: Packages of others that are loaded beforehand, once for all roads.
LOADED = ("aiohttp", "jinja2", "numpy", "pydantic", "rich.live", "scipy.special", "typer", "yaml")


@dataclass(frozen=True)
class Road:
    """What one walk along a road goes through."""

    name: str
    command: str
    files: list[str]  # below src/passband, in the order of first entry
    functions: int
    file_switches: int  # calls from one file into another
    package_switches: int
    modules: int  # of passband, imported in a new process


class Trace:
    """Notes every call into the package; those that importing makes are none."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.functions: set[CodeType] = set()
        self.file_switches = self.package_switches = 0
        self._names: dict[str, str | None] = {}
        self._last = ""

    def __call__(self, frame: FrameType, kind: str, value: Any) -> None:
        """Take an event of sys.setprofile."""
        code = frame.f_code
        if kind != "call" or code.co_name == "<module>":
            return
        file = code.co_filename
        name = self._names.get(file, "")
        if name == "":
            path = Path(file)
            is_inside = path.is_relative_to(PACKAGE)
            name = path.relative_to(PACKAGE).as_posix() if is_inside else None
            self._names[file] = name
        if name is None:
            return
        self.functions.add(code)
        self.files.setdefault(name)
        if name != self._last:
            self.file_switches += 1
            self.package_switches += name.split("/")[0] != self._last.split("/")[0]
            self._last = name


def traced(names: tuple[str, ...] = tuple(ROADS)) -> list[Road]:
    """Walk roads and return what they go through."""
    import loopback

    for name in LOADED:
        importlib.import_module(name)
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, loopback.started() as url:
        os.chdir(folder)
        try:
            rows = [f"p{i},{t},{(i * t) % 3 == 0:d}\n" for i in range(20) for t in range(4)]
            Path("trials.csv").write_text("problem,trial,score\n" + "".join(rows))
            _forked(lambda: [call(line.format(url=url)) for line in PREPARATIONS])
            return [Road(**_forked(lambda name=name: asdict(walk(name, url)))) for name in names]
        finally:
            os.chdir(here)


def walk(name: str, url: str) -> Road:
    """Walk a road twice in this process, which has not walked any."""
    first, second = (ROADS[name].format(url=url, out=f"{name}-{n}") for n in (1, 2))
    call(first)
    modules = sum(module.partition(".")[0] == "passband" for module in sys.modules)
    trace = Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        call(second)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return Road(
        name,
        f"passband {ROADS[name].partition(' --')[0]}",
        list(trace.files),
        len(trace.functions),
        trace.file_switches,
        trace.package_switches,
        modules,
    )


def call(line: str) -> None:
    """Run the command in this process; raise if it fails."""
    from passband.cli import main

    sys.argv = ["passband", *line.split()]
    out, err = StringIO(), StringIO()
    code: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as exit:
            code = exit.code
    if code:
        raise RuntimeError(f"passband {line}: exit code {code}\n{err.getvalue()}")


def _forked(function: Callable[[], Any]) -> Any:
    """Return what a function returns in a fork of this process, which imports nothing by it."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=lambda: theirs.send(function()))
    child.start()
    theirs.close()
    with suppress(EOFError):
        value = ours.recv()
        child.join()
        return value
    child.join()
    raise SystemExit(f"the road could not be walked (exit code {child.exitcode})")


def table(roads: list[Road]) -> Iterator[str]:
    """Yield the lines of a table."""
    heads = ("files", "functions", "file switches", "package switches", "modules imported")
    yield f"{'road':<12}" + "".join(f"{head:>18}" for head in heads)
    for road in roads:
        switches = road.file_switches, road.package_switches
        counts = (len(road.files), road.functions, *switches, road.modules)
        yield f"{road.name:<12}" + "".join(f"{count:>18,}" for count in counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", choices=ROADS, metavar="ROAD", help=" | ".join(ROADS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    roads = traced((options.list,) if options.list else tuple(ROADS))
    if options.json:
        print(json.dumps([asdict(road) for road in roads]))
    else:
        print("\n".join(roads[0].files if options.list else table(roads)))


if __name__ == "__main__":
    main()
