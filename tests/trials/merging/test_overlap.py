"""Trials that two directories hold: compared by problem, whatever number it has in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from passband.trials.merging.merge import merge_directories
from passband.trials.merging.overlap import Overlap
from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from passband.trials.settings import SettingsChanged
from support.samples.stores import begin, problem, writing


def store_of(directory: Path, order: Sequence[int], texts: Mapping[int, str]) -> Path:
    """Make a run whose problems are entered in an order; each has one trial with a text."""
    with writing(directory) as store:
        run, _ = begin(store, [problem(at) for at in order])
        rows = [TrialRow(n, 0, "ok", texts[at]) for n, at in enumerate(order) if at in texts]
        store.append(run, rows)
    return directory


def refused(one: Path, other: Path) -> str:
    with Trials(one) as earlier, Trials(other) as later:
        try:
            Overlap(earlier, later, later.run()).refuse_trials()
        except SettingsChanged as error:
            return str(error)
    return ""


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_what_differs_is_named_by_its_key(tmp_path: Path, order: Sequence[int]) -> None:
    one = store_of(tmp_path / "one", (0, 1, 2), {0: "a", 1: "b", 2: "c"})
    same = store_of(tmp_path / "same", order, {1: "b", 2: "c"})
    other = store_of(tmp_path / "other", order, {0: "a", 2: "x"})
    assert refused(one, same) == ""
    message = refused(one, other)
    assert "trial 0 of problem 'p2'" in message
    assert "its completion differs" in message


def test_problems_that_one_directory_lacks_are_no_overlap(tmp_path: Path) -> None:
    one = store_of(tmp_path / "one", (0, 1), {0: "a", 1: "b"})
    other = store_of(tmp_path / "other", (3, 1), {1: "b", 3: "d"})
    assert refused(one, other) == ""
    assert merge_directories([one, other], tmp_path / "out", low_water=0).trials == 3
    with Trials(tmp_path / "out") as trials:
        keys = {number: key for key, number in trials.numbers(1).items()}
        texts = {keys[row.problem]: row.text for row in trials.trials(trials.run())}
    assert texts == {"p0": "a", "p1": "b", "p3": "d"}
