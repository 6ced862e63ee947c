"""Bank files: what is written is read, and what is wrong is named with its line."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from passband.adaptive.bank import Bank, read_bank, write_bank
from passband.adaptive.item import BankItem, Option
from passband.errors import InvalidInput, UnknownName
from passband.stats.irt.items import Items
from support.samples.banks import bank

RICH = Bank(
    "rich",
    (
        BankItem("a", "train", "2+2?", ("y",), (Option("x", "3"), Option("y", "4")), "sums"),
        BankItem(
            "b", "test", "Ω?", ("yes", "ja"), messages=(("system", "Be brief."), ("user", "Ω?"))
        ),
        BankItem("c", "test", "c?", ("1",), doc={"level": 3}, quality={"se_a": 0.1}),
    ),
    Items("3pl", np.array([0.5, 1.0, 2.0]), np.array([-1.0, 0.1, 3.0]), np.array([0.2, 0.0, 0.25])),
    rho=0.25,
    scorer={"name": "exact_match"},
    sampling={"temperature": 0.5, "stop": ["\n"]},
    provenance={"respondents": 3},
)
GRADED = Bank(
    "graded",
    (BankItem("a", "test", "a?", ("x",)), BankItem("b", "test", "b?", ("x",))),
    Items("graded", np.array([1.0, 2.0]), steps=np.array([[-1.0, 0.5, 1.5], [0.0, 1.0, np.nan]])),
)


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
@pytest.mark.parametrize("given", [bank(7, splits=("a", "b")), RICH, GRADED], ids=lambda b: b.name)
def test_a_bank_comes_back_as_it_was(given: Bank, ending: str, tmp_path: Path) -> None:
    write_bank(given, tmp_path / f"bank{ending}")
    back = read_bank(tmp_path / f"bank{ending}")
    assert back.hash == given.hash
    assert list(back.items) == list(given.items)
    for name in ("a", "b", "c", "phi", "steps"):
        np.testing.assert_array_equal(
            getattr(back.parameters, name), getattr(given.parameters, name)
        )
    assert (back.name, back.model, back.rho) == (given.name, given.model, given.rho)
    assert (back.scorer, back.sampling) == (given.scorer, given.sampling)
    assert back.provenance == given.provenance


def test_the_hash_tells_any_change() -> None:
    items = list(RICH.items)
    changed = [
        replace(RICH, rho=0.26, hash=""),
        replace(RICH, provenance={}, hash=""),
        replace(RICH, items=(replace(items[0], question="2+3?"), *items[1:]), hash=""),
        replace(RICH, parameters=Items("2pl", RICH.parameters.a, RICH.parameters.b), hash=""),
        replace(RICH, items=tuple(reversed(items)), hash=""),
    ]
    assert len({one.hash for one in (RICH, *changed)}) == 6


def test_a_split_has_the_hash_of_the_bank_and_is_not_written(tmp_path: Path) -> None:
    part = RICH.of_split("test")
    assert part.hash == RICH.hash
    assert [item.key for item in part.items] == ["b", "c"]
    assert part.parameters.b.tolist() == [0.1, 3.0]
    with pytest.raises(InvalidInput, match="write the whole"):
        write_bank(part, tmp_path / "part.jsonl")
    with pytest.raises(UnknownName, match=r"no split 'tset'. Did you mean 'test'"):
        RICH.of_split("tset")


# -- what is wrong -----------------------------------------------------------------------------

Edit = Callable[[list[dict[str, Any]]], object]


def _edited(tmp_path: Path, edit: Edit) -> Path:
    """A bank of three items, its header in line 1, changed before it is written."""
    path = tmp_path / "bank.jsonl"
    write_bank(RICH, path)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    del rows[0]["hash"]
    edit(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _as(model: str) -> Edit:
    """Make the bank one of another model, without guessing."""

    def edit(rows: list[dict[str, Any]]) -> None:
        rows[0]["model"] = model
        for row in rows[1:]:
            row.pop("c", None)

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda rows: rows[3].update(id="a"), r"jsonl:4: two items have the id 'a'.* line 2"),
        (
            lambda rows: rows[2].update(b=float("nan")),
            r"jsonl:3: b .* must be a number .*; got nan",
        ),
        (lambda rows: rows[2].update(a=0), r"jsonl:3: a .* must be above 0 .*; got 0"),
        (lambda rows: rows[2].update(a=-0.5), r"jsonl:3: a .* above 0 .*; got -0.5"),
        (lambda rows: rows[2].update(a="1"), r"jsonl:3: a .* above 0 .*; got '1'"),
        (lambda rows: rows[2].update(c=1.0), r"jsonl:3: c .* below 1"),
        (lambda rows: rows[2].update(steps=[1]), r"jsonl:3: steps belong to the graded"),
        (lambda rows: rows[0].update(model="4pl"), r"jsonl:1: unknown model '4pl'"),
        (lambda rows: rows[0].update(model="2pl"), r"jsonl:2: c .* 0 outside 3pl; got 0.2"),
        (_as("graded"), r"jsonl:2: steps must be ascending"),
        (_as("1pl"), r"jsonl:3: a .* must be the same for all items of 1pl; got 1.0, not 0.5"),
        (lambda rows: rows[0].update(passband_bank=2), r"jsonl:1: .* version 2; .* up to 1"),
        (lambda rows: rows[0].update(passband_bank="x"), r"jsonl:1: .* version of the format"),
        (lambda rows: rows[0].update(rho=2), r"jsonl:1: rho must be from 0 to 1"),
        (lambda rows: rows[0].update(hash="sha256:00"), r"jsonl:1: the hash is .* has changed"),
        (lambda rows: rows[0].update(modle="2pl"), r"jsonl:1: .* 'modle'. Did you mean 'model'"),
        (lambda rows: rows[1].update(contents="x"), r"jsonl:2: .* 'contents'. Did you mean"),
        (lambda rows: rows[1].update(targets=["z"]), r"jsonl:2: the target 'z' is none of"),
        (lambda rows: rows[1].update(targets=[]), r"jsonl:2: targets must be"),
        (lambda rows: rows[1].update(question=" "), r"jsonl:2: question must be text"),
        (lambda rows: rows[1].update(split="*"), r"jsonl:2: a split must not be"),
        (lambda rows: rows[1].update(split="a "), r"jsonl:2: a split must not"),
        (lambda rows: rows[2].update(a=51), r"jsonl:3: a .* at most 50; got 51"),
        (lambda rows: rows[2].update(a=10**400), r"jsonl:3: a .* at most 50; got 1000"),
        (lambda rows: rows[2].update(b=1e300), r"jsonl:3: b .* from -1000 to 1000; got 1e\+300"),
        (lambda rows: rows[2].update(messages="hi"), r"jsonl:3: messages must be a list"),
        (lambda rows: rows[2].update(messages=["hi"]), r"jsonl:3: messages must be a list"),
        (
            lambda rows: rows[2].update(messages=[{"role": "user", "content": "hi"}]),
            r"jsonl:3: messages must be a list of .*role.*text",
        ),
        (lambda rows: rows[2].update(messages=[["robot", "hi"]]), r"one of system, user, assist"),
        (lambda rows: rows[2].update(doc=[1]), r"jsonl:3: doc must be an object; got \[1\]"),
        (lambda rows: rows[2].update(quality="x"), r"jsonl:3: quality must be an object"),
        (lambda rows: rows[2].update(content=3), r"jsonl:3: content must be text; got 3"),
        (
            lambda rows: rows[1].update(choices=[{"id": [1], "text": "4"}] * 2),
            r"jsonl:2: choices must be a list",
        ),
        (lambda rows: rows[0].update(scorer="choice"), r"jsonl:1: scorer must be an object"),
        (lambda rows: rows[0].update(provenance=[1]), r"jsonl:1: provenance must be an object"),
        (lambda rows: rows[0].update(hash=3), r"jsonl:1: hash must be text; got 3"),
        (lambda rows: rows[0].update(name=3), r"jsonl:1: name must be text; got 3"),
        (lambda rows: rows[0].update(sampling={"stop": "END"}), r"stop must be a list of texts"),
        (lambda rows: rows[0].update(sampling={"top_p": "x"}), r"jsonl:1: top_p must be a number"),
        (
            lambda rows: rows[1].update(choices=[{"id": "y", "text": "4"}]),
            r"jsonl:2: .* two or more",
        ),
        (lambda rows: rows.pop(0), r"jsonl:1: the first line of a bank is its header"),
        (lambda rows: rows.__delitem__(slice(1, None)), r"the bank is empty"),
        (lambda rows: rows.clear(), r"the file is empty"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, edit: Edit, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_bank(_edited(tmp_path, edit))


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bank.jsonl").write_text('{"passband_bank": 1,\n')
    with pytest.raises(InvalidInput, match=r"jsonl:1: not JSON"):
        read_bank(tmp_path / "bank.jsonl")
    with pytest.raises(InvalidInput, match=r"ends in .jsonl or .parquet"):
        read_bank(tmp_path / "bank.csv")
    with pytest.raises(InvalidInput, match="no such file"):
        read_bank(tmp_path / "other.jsonl")


def test_a_hash_that_is_taken_out_makes_the_bank_a_new_one(tmp_path: Path) -> None:
    path = _edited(tmp_path, lambda rows: rows[1].update(question="2+3?"))
    assert read_bank(path).hash != RICH.hash


def test_parts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput, match="3 items and the parameters of 1"):
        replace(RICH, parameters=RICH.parameters.take([0]))
    with pytest.raises(UnknownName, match="no item 'z'"):
        RICH.item("z")


def test_choices_and_text_have_scorers_of_their_own() -> None:
    plain = replace(RICH, scorer={}, hash="")
    with pytest.raises(InvalidInput, match="items with choices and items without"):
        plain.scorer_spec  # noqa: B018
    assert plain.of_split("test").scorer_spec == {"name": "exact_match"}
    assert plain.of_split("train").scorer_spec == {"name": "choice"}


@pytest.mark.parametrize(
    ("header", "doc", "message"),
    [
        (b"\xff{", "{}", "parquet:0: not JSON"),
        (None, "{x", "parquet:1: doc must be JSON, as text; got '{x'"),
        (None, 3, "parquet:1: doc must be JSON, as text; got 3"),
    ],
)
def test_what_is_wrong_in_parquet_is_named(
    tmp_path: Path, header: bytes | None, doc: object, message: str
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"id": ["a"], "split": ["test"], "question": ["?"], "targets": [["1"]], "a": [1.0]}
    table = pa.table({**columns, "b": [0.0], "doc": [doc]})
    marked = table.replace_schema_metadata(
        {"passband_bank": header or b'{"passband_bank": 1, "model": "2pl"}'}
    )
    pq.write_table(marked, tmp_path / "bank.parquet")
    with pytest.raises(InvalidInput, match=message):
        read_bank(tmp_path / "bank.parquet")
