"""The JSON of a summary: one version, a schema, nothing lost on the way."""

import copy
import json
import pickle
import subprocess
import sys
from dataclasses import fields, replace
from importlib.resources import files
from typing import Any

import pytest

from passband import InvalidInput
from passband.notes import Note
from passband.summary.from_sources import summarize
from passband.summary.json import schema, to_json
from passband.summary.summary import Combined, Group, Line, Summary


@pytest.fixture
def summary() -> Summary:
    whole = summarize([[1, 0, 1], [0, 0, None], [1, 1, 1]], ["pass@1,2", "pass^3"])
    (group,) = whole.groups
    missing = Line("bleu (first)", "bleu", None, Note("no-estimate", "é\u2028"), "bleu", "none")
    return replace(whole, groups=(replace(group, lines=(*group.lines, missing)),))


def test_it_reads_back_what_it_writes(summary: Summary) -> None:
    text = to_json(summary)
    again = Summary.from_json(text)
    assert again == summary
    assert to_json(again) == text
    assert Summary.from_json(text.encode()) == summary


def test_it_travels(summary: Summary) -> None:
    assert pickle.loads(pickle.dumps(summary)) == summary
    assert copy.deepcopy(summary) == summary


def test_the_schema_in_the_package_is_that_of_the_code() -> None:
    stored = files("passband.summary").joinpath("schema.json").read_text("utf-8")
    assert json.loads(stored) == schema()


def test_the_schema_describes_it(summary: Summary) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(to_json(summary)), schema())


def changed(summary: Summary, **fields: Any) -> str:
    return json.dumps(summary.as_json() | fields)


@pytest.mark.parametrize(
    ("record", "unwritten"), [(Line, {"is_share"}), (Group, {"spread"}), (Combined, set())]
)
def test_every_field_has_a_place_in_the_file(record: type, unwritten: set[str]) -> None:
    written = schema()["$defs"][record.__name__]["properties"]
    assert {field.name for field in fields(record)} - set(written) == unwritten


def test_keys_of_version_1_may_not_be_missing(summary: Summary) -> None:
    (group,) = summary.as_json()["groups"]
    for name in group:
        less = {key: value for key, value in group.items() if key != name}
        with pytest.raises(InvalidInput, match=rf"groups\.0\.{name}: Field required"):
            Summary.from_json(changed(summary, groups=[less]))


def test_writing_imports_no_pydantic() -> None:
    code = """
import sys
from passband.summary.summary import Request, Summary
Summary("x", Request(), ()).to_json()
assert "pydantic" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_other_versions_and_other_files_are_refused(summary: Summary) -> None:
    with pytest.raises(InvalidInput, match="version 5; this passband reads versions 1 to 4"):
        Summary.from_json(changed(summary, version=5))
    with pytest.raises(InvalidInput, match="version None"):
        Summary.from_json(json.dumps({"passband": "summary"}))
    with pytest.raises(InvalidInput, match="'passband' must be 'summary'"):
        Summary.from_json(changed(summary, passband="comparison"))
    for text in ("[]", "3", '"x"'):
        with pytest.raises(InvalidInput, match="not a passband summary"):
            Summary.from_json(text)
    with pytest.raises(InvalidInput, match="not JSON"):
        Summary.from_json("{")
    with pytest.raises(InvalidInput, match=r"level"):
        Summary.from_json(changed(summary, level="high"))
    with pytest.raises(InvalidInput, match=r"more"):
        Summary.from_json(changed(summary, more=1))
    groups = [{**summary.as_json()["groups"][0], "n_trials": "many"}]
    with pytest.raises(InvalidInput, match=r"groups\.0\.n_trials"):
        Summary.from_json(changed(summary, groups=groups))
