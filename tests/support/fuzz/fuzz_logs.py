"""Fuzz targets that are files: tables, and logs of every tool that passband reads."""

from __future__ import annotations

import io
import itertools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from passband.readers import read
from passband.readers.logs import read_logs
from passband.readers.options import Options
from support.fuzz.fuzz_target import COPIES, Target, file_target
from support.samples.inspect_logs import (
    DEFLATED,
    STORED,
    ZSTD,
    failed,
    grid,
    write_eval,
    write_killed,
)
from support.samples.log_samples import SAMPLES, Sample

__all__ = ["log_targets"]

SHAPES = {".json": "json", ".jsonl": "lines", ".csv": "csv", ".tsv": "csv"}
TABLE = b"problem,trial,score,model\na,0,1,M\na,1,0,M\nb,0,0.5,M\nb,1,,N\n"
WIDE = b"id;t1;t2\na;1;0\nb;0;1\n"
MATRIX = b"1,0,1\n0,0,1\n"
RECORDS = [{"problem": "a", "score": 1, "trial": 0}, {"problem": "b", "score": 0.5, "trial": 0}]


def log_targets(folder: Path) -> list[Target]:
    """Return a target for every kind of table and log."""
    return [*_tables(folder), _eval(folder), *(_log(folder, name) for name in _names())]


def _names() -> list[str]:
    # A run directory is a database: its damage is tested with the store.
    return [name for name in SAMPLES if name not in ("run directory", "inspect .eval")]


def reading(reader: str | None) -> Callable[[Path], object]:
    """Return a function that reads a file as `stats` does and, in turn, as `import` does.

    Where the reader is named, only one file in four has to be recognized, which takes longest.
    """
    turns = itertools.cycle(range(8))

    def read_file(path: Path) -> object:
        turn = next(turns)
        if turn == 0:
            logs = read_logs(path, Options(texts=True))
            return [list(log.trials) for log in logs]
        return read(path, reader=reader if turn > 1 else None, skip_bad=turn % 2 == 0)

    return read_file


def _tables(folder: Path) -> list[Target]:
    lines = "\n".join(map(json.dumps, RECORDS)).encode()
    document, columns = (
        json.dumps(RECORDS).encode(),
        json.dumps({"problem": ["a"], "score": [1]}).encode(),
    )
    arrays = io.BytesIO()
    np.savez(arrays, scores=np.array([[1, 0], [1, 1]]))
    table = reading(None)
    return [
        file_target("table csv", folder, "t.csv", table, (TABLE, WIDE, MATRIX), "csv"),
        file_target("table json", folder, "t.json", table, (document, columns, b"[[1,0]]"), "json"),
        file_target("table jsonl", folder, "t.jsonl", table, (lines,), "lines"),
        file_target("table npz", folder, "t.npz", table, (arrays.getvalue(),), "bytes"),
    ]


def _eval(folder: Path) -> Target:
    records = [*grid({"a": ["C", "I"], "b": ["C"]}), failed("b", 2)]
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "log.eval"
        files = [
            write_eval(path, records, method).read_bytes() for method in (STORED, DEFLATED, ZSTD)
        ]
        files.append(write_killed(path, [records]).read_bytes())
    return file_target("inspect .eval", folder, "log.eval", reading("inspect"), files, "zip")


def _log(folder: Path, name: str) -> Target:
    sample = SAMPLES[name]
    with tempfile.TemporaryDirectory() as place:
        path = sample.write(Path(place))
        if path.is_dir():
            return _folder(folder, name, sample)
        shape = SHAPES.get(path.suffix, "bytes")
        read_file = reading(sample.reader or name)
        return file_target(name, folder, path.name, read_file, (path.read_bytes(),), shape)


def _folder(folder: Path, name: str, sample: Sample) -> Target:
    """Return the target of a reader of folders: one of the files is replaced."""
    copies = []
    for number in range(COPIES):
        parent = folder / name.replace(" ", "-") / str(number)
        parent.mkdir(parents=True)
        copies.append(sample.write(parent))
    files = sorted(path.relative_to(copies[0]) for path in copies[0].rglob("*") if path.is_file())
    contents = [(copies[0] / file).read_bytes() for file in files]
    read_folder = reading(sample.reader or name)
    turns = itertools.cycle(copies)

    def read_bytes(data: bytes) -> object:
        place = (data[0] if data else 0) % len(files)
        copy = next(turns)
        (copy / files[place]).write_bytes(data[1:])
        try:
            return read_folder(copy)
        finally:
            (copy / files[place]).write_bytes(contents[place])

    seeds = [bytes([place]) + content for place, content in enumerate(contents)]
    return Target(name, read_bytes, seeds, "folder")
