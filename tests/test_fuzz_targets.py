"""Every parser on a hundred changed samples, and on inputs that once made one fail."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import pytest

from support.fuzz.fuzz_target import Target
from support.fuzz.fuzz_targets import GROUPS

INPUTS = 100
DEEP = b"[" * 3000

FAILED: Mapping[str, Mapping[str, Sequence[bytes]]] = {
    "answers": {
        "filter steps": [
            b'{"function": "extract", "rules": 7}',
            b'{"function": "extract", "rules": [{}]}',
        ],
        "rubrics": [b'{"template": "{{ answer }}", "form": []}'],
    },
    "tasks": {
        "templates": [
            b"{{ " + b"9" * 5000 + b" }}",
            b"{% for a in choices %}" * 30 + b"{% endfor %}" * 30,
        ],
        "task files": [
            b"task: " + b"1:" * 200_000 + b"1",
            b"repeats: 0x" + b"f" * 60_000,
            *(
                b"dataset_path: json\ndataset_kwargs: {data_files: '"
                + name
                + b"'}\ndoc_to_text: x\ndoc_to_target: x"
                for name in (b"x" * 300, b"/x*", b"**x", b"~nobody/x", b"a\\0b", b"%00")
            ),
        ],
        "task arguments": [b"a=" + DEEP, b"a=2026-02-31"],
        "prices": [DEEP, b"gpt-4o-mini: {prompt: 1" + b"0" * 400 + b", completion: 1}"],
    },
    "files": {
        "banks": [DEEP, b'{"passband_bank": 1}\n' + DEEP],
        "plans": [DEEP],
        "summaries": [DEEP],
        "lock file": [DEEP[:1000]],
    },
}


@pytest.fixture(params=GROUPS)
def group(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def targets(group: str, tmp_path: Path) -> Iterator[list[Target]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers that are easy to misread are no failure
        yield GROUPS[group](tmp_path)


@pytest.mark.slow
def test_what_is_read_is_read_or_refused_as_documented(targets: list[Target]) -> None:
    for target in targets:
        attempts = [
            target.attempt(data)
            for data in islice(target.inputs(random.Random(target.name)), INPUTS)
        ]
        assert any(attempts), f"{target.name}: no sample is valid"


def test_what_failed_once_is_refused(group: str, targets: list[Target]) -> None:
    by_name = {target.name: target for target in targets}
    for name, inputs in FAILED.get(group, {}).items():
        for data in inputs:
            by_name[name].attempt(data)
