"""Kinds of problems: found in the data where they are told apart, and never in the answers."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from passband.errors import UnknownName
from passband.summary.findings.kinds import Kinds, kinds_of
from passband.summary.summary import Request
from passband.trials.reader import Trials
from passband.trials.rows import ProblemRow, ScoreRow, TrialRow
from support.samples.stores import begin, writing

Doc = Callable[[int], Mapping[str, Any]]


def kinds(directory: Path, doc: Doc, by: str | None = None, target: str = "42") -> Kinds | None:
    """Return the kinds of 24 problems, of which every second one is solved."""
    with writing(directory) as store:
        rows = [
            ProblemRow(
                at,
                f"p{at}",
                json.dumps({"messages": [], "targets": [target.format(at % 4)], "doc": doc(at)}),
            )
            for at in range(24)
        ]
        run, (scorer,) = begin(store, rows)
        trials = [
            TrialRow(at, 0, "ok", "1", scores=[ScoreRow(scorer, float(at % 2), "ok", "1", "x")])
            for at in range(24)
        ]
        store.append(run, trials)
    with Trials(directory) as read:
        record = read.run()
        return kinds_of(read, record, read.outcomes(record), "pass@1", Request(), by)


def test_a_column_of_few_values_is_found_and_said_to_be_a_guess(tmp_path: Path) -> None:
    found = kinds(
        tmp_path, lambda at: {"id": str(at), "x": at % 3, "level": ("odd", "even")[at % 2]}
    )
    assert found is not None
    assert (found.column, found.is_declared, found.others) == ("level", False, ("x",))
    assert [(kind.name, kind.n_problems) for kind in found.kinds] == [("even", 12), ("odd", 12)]
    assert [kind.estimate and kind.estimate.value for kind in found.kinds] == [1.0, 0.0]


@pytest.mark.parametrize(
    "doc",
    [
        lambda at: {"question": f"{at}?"},
        lambda at: {"same": "one"},
        lambda at: {"weight": at / 7},
        lambda at: {"kind": "a"} if at else {},
    ],
    ids=["all differ", "all the same", "numbers", "partly absent"],
)
def test_other_columns_tell_no_kinds_apart(tmp_path: Path, doc: Doc) -> None:
    assert kinds(tmp_path, doc) is None


def test_letters_of_right_choices_are_no_kinds(tmp_path: Path) -> None:
    assert kinds(tmp_path, lambda at: {"gold": at % 4}, target="{}") is None


def test_a_named_column_is_used_and_an_unknown_one_refused(tmp_path: Path) -> None:
    found = kinds(tmp_path / "one", lambda at: {"a": at % 2, "b": at % 3}, by="b")
    assert found is not None
    assert (found.column, found.is_declared, len(found.kinds)) == ("b", True, 3)
    with pytest.raises(UnknownName, match=r"no column 'c'.*a, b"):
        kinds(tmp_path / "two", lambda at: {"a": at % 2, "b": at % 3}, by="c")
