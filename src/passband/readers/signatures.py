"""Signatures of the built-in readers: what the beginning of a file must have to be worth asking.

A reader whose signature does not fit is not even imported, so a plain table costs one look at its
beginning. `sniff` decides; a signature may fit a file that it refuses, but must fit all it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from passband.files import column_names, form_of
from passband.readers.file_head import first_record, head_of

_ZIP = b"PK"


class Beginning:
    """The beginning of a file, each part of which is read when it is first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.is_folder = path.is_dir()
        self.ending = path.suffix.lower()

    @cached_property
    def is_zip(self) -> bool:
        if not self._path.is_file():
            return False
        with self._path.open("rb") as file:
            return file.read(len(_ZIP)) == _ZIP

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names of a table's columns."""
        return frozenset(column_names(self._path) if form_of(self._path.name) else ())

    @cached_property
    def fields(self) -> frozenset[str]:
        """The names in the first object of a JSON file, and in the objects within it."""
        if form_of(self._path.name) not in ("json", "jsonl"):
            return frozenset()
        head = head_of(self._path)
        first = head[0] if isinstance(head, list) and head else head
        # Some files begin with a broken line, and others are too long a line for `head_of`.
        return frozenset((*_names(first), *_names(first_record(self._path))))


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for field in value.values():
            if isinstance(field, dict):
                yield from field


@dataclass(frozen=True)
class Signature:
    """The files that may be a reader's own; names are separated by spaces."""

    home: str  # the module that registers the reader
    fields: tuple[str, ...] = ()  # of JSON: all the names of one of these
    columns: str = ""  # of a table: all these
    endings: tuple[str, ...] = ()
    folder: bool = False
    zip: bool = False

    def fits(self, start: Beginning) -> bool:
        """Return whether the reader is to be asked."""
        if start.is_folder:
            return self.folder
        return (
            start.ending in self.endings
            or (self.zip and start.is_zip)
            or bool(self.columns and start.columns.issuperset(self.columns.split()))
            or any(start.fields.issuperset(names.split()) for names in self.fields)
        )


_READERS = "passband.readers"
_TOOLS = f"{_READERS}.tools"

#: By the names of the readers, in the order in which these are asked.
SIGNATURES = {
    "run directory": Signature(f"{_READERS}.run_directory", folder=True),
    "numpy": Signature(f"{_READERS}.tables.matrix", endings=(".npy", ".npz")),
    "export": Signature(
        f"{_READERS}.tables.export", columns="task model problem_id trial status score_status"
    ),
    "inspect": Signature(
        f"{_READERS}.inspect.log", ("eval",), endings=(".eval",), folder=True, zip=True
    ),
    "eva": Signature(f"{_READERS}.eva.reader", folder=True),
    "helm": Signature(f"{_TOOLS}.helm", ("instance_id train_trial_index",), folder=True),
    "evalscope": Signature(f"{_TOOLS}.evalscope", ("index sample_score",)),
    "opencompass": Signature(f"{_TOOLS}.opencompass", ("details",)),
    "swe-bench": Signature(f"{_TOOLS}.swe_bench", ("submitted_instances",), folder=True),
    "terminal-bench": Signature(f"{_TOOLS}.terminal_bench", ("results",)),
    "promptfoo": Signature(f"{_TOOLS}.promptfoo", ("results", "testIdx promptIdx")),
    "deepeval": Signature(f"{_TOOLS}.deepeval", ("testCases", "conversationalTestCases")),
    "nemo-evaluator": Signature(f"{_TOOLS}.nemo_evaluator", ("problem_idx repeat reward",)),
    "evalplus": Signature(f"{_TOOLS}.evalplus", ("eval",)),
    "human-eval": Signature(f"{_TOOLS}.human_eval", ("task_id completion", "task_id solution")),
    "lighteval": Signature(f"{_TOOLS}.lighteval", columns="doc model_response metric"),
    "lm-eval": Signature(f"{_TOOLS}.lm_eval", ("doc_id resps filtered_resps",)),
    "lm-eval results": Signature(f"{_TOOLS}.lm_eval", ("results configs",)),
    "openai-evals": Signature(f"{_TOOLS}.openai_evals", ("spec", "run_id event_id")),
    "tau-bench": Signature(f"{_TOOLS}.tau_bench", ("task_id traj",)),
    "verifiers": Signature(
        f"{_TOOLS}.verifiers", ("traces task", "rewards task", "prompt completion reward")
    ),
}
