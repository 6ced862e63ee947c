"""Samples as problems: their keys, and records that change only if a sample does."""

from __future__ import annotations

from typing import Any

import pytest
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText

from passband.errors import InvalidInput
from passband.generate.inspect.source import keyed_samples, problem_of
from passband.run.prepare import problem_record

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def record(**fields: Any) -> str:
    return problem_record(problem_of("1", Sample(**{"input": "What?", "target": "x"} | fields)))


def test_samples_without_ids_are_numbered_by_their_places() -> None:
    samples = keyed_samples("t", [Sample("a"), Sample("b", id="b"), Sample("c")])
    assert [(key, sample.id) for key, sample in samples.items()] == [("1", 1), ("b", "b"), ("3", 3)]


def test_a_number_and_its_text_are_the_same_id() -> None:
    with pytest.raises(InvalidInput, match="two samples have the same id: 2 and '2'"):
        keyed_samples("t", [Sample("a", id=2), Sample("b", id="2")])
    with pytest.raises(InvalidInput, match="two samples have the same id: 2 and 2"):
        keyed_samples("t", [Sample("a", id=2), Sample("b")])


def test_a_problem_has_the_samples_messages_targets_and_choices() -> None:
    turns: Any = [ChatMessageSystem(content="Be brief."), ChatMessageUser(content="What?")]
    problem = problem_of("k", Sample(turns, target=["a", "b"], choices=["x", "y"]))
    assert [(m.role, m.content) for m in problem.messages] == [
        ("system", "Be brief."),
        ("user", "What?"),
    ]
    assert problem.reference.targets == ("a", "b")
    assert problem.reference.choices == ("x", "y")
    assert problem.reference.doc == {}  # ids of messages are other ones each time


CHANGES: list[dict[str, Any]] = [
    {"target": "y"},
    {"choices": ["a"]},
    {"metadata": {"level": 2}},
    {"files": {"a.txt": "other"}},
    {"setup": "make"},
    {"sandbox": "local"},
    {"input": [ChatMessageUser(content=[ContentText(text="What?"), ContentImage(image="a.png")])]},
    {"input": [ChatMessageUser(content=[ContentText(text="What?"), ContentImage(image="b.png")])]},
]


def test_every_part_of_a_sample_is_in_its_record() -> None:
    records = [record(), *(record(**change) for change in CHANGES)]
    assert len(set(records)) == len(records)


def test_a_record_is_the_same_in_every_process() -> None:
    class Thing:
        pass

    made = [record(metadata={"things": {"b", "a", "c"}, "one": Thing()}) for _ in range(2)]
    assert made[0] == made[1]
    assert '"things":["a","b","c"]' in made[0]
    assert "Thing>" in made[0]


def test_contents_of_files_are_kept_as_digests() -> None:
    long = record(files={"a.txt": "x" * 100_000})
    assert len(long) < 1_000
    assert long != record(files={"a.txt": "y" * 100_000})
