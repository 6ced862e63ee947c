"""What directories claim before they are merged: each is compared with all before it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from passband.trials.merging.checks import MergeChecks
from passband.trials.reader import Trials
from passband.trials.rows import TrialRow
from passband.trials.settings import SettingsChanged
from support.samples.stores import begin, problem, shard, writing


def claim(*directories: Path) -> None:
    claims = MergeChecks()
    for directory in directories:
        with Trials(directory) as trials:
            claims.add(trials)


def other_answer(row: TrialRow) -> TrialRow:
    return replace(row, seed=99) if (row.problem, row.trial) == (4, 1) else row


def test_shards_claim_different_trials(tmp_path: Path) -> None:
    parts = [shard(tmp_path / str(index), index, 3) for index in (1, 2, 3)]
    claim(*parts)
    claim(shard(tmp_path / "whole"), *parts)


def test_a_contradiction_is_found_in_whichever_directory_it_is(tmp_path: Path) -> None:
    parts = [shard(tmp_path / str(index), index, 3) for index in (1, 2, 3)]
    whole = shard(tmp_path / "whole", change=other_answer)
    for order in ([*parts, whole], [whole, *parts]):
        with pytest.raises(SettingsChanged, match=r"trial 1 of problem .p4.*its seed differs"):
            claim(*order)


def test_shards_of_two_plans_are_refused_even_where_all_of_one_are_there(tmp_path: Path) -> None:
    parts = [shard(tmp_path / str(index), index, 2) for index in (1, 2)]
    with pytest.raises(SettingsChanged, match=r"split into 2 shards.*split into 3"):
        claim(*parts, shard(tmp_path / "other", 1, 3))


def test_another_problem_under_the_same_key_is_refused(tmp_path: Path) -> None:
    for name, target in (("one", "42"), ("other", "43")):
        with writing(tmp_path / name) as store:
            begin(store, [problem(0, target=target)])
    with pytest.raises(SettingsChanged, match=r"problem .p0. of .* differs in its targets"):
        claim(tmp_path / "one", tmp_path / "other")
