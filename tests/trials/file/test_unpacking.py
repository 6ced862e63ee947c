"""Rows that are unpacked in one go are those that are unpacked step by step; damage is named."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passband.errors import PassbandError
from passband.trials.file import unpacking
from passband.trials.file.checked_rows import CheckedRows
from passband.trials.file.connection import connect_to_read
from passband.trials.file.schema import STORE_FILE, CorruptStore
from passband.trials.reader import Trials
from passband.trials.rows import ScoreRow, TrialRow
from support.samples.stores import any_rows, begin, problem, writing

TRIAL = f"{unpacking._TRIAL} 1"
SCORE = "SELECT * FROM score"


def stored(directory: Path, row: TrialRow) -> CheckedRows:
    with writing(directory) as store:
        run, (scorer,) = begin(store, [problem(at) for at in range(6)])
        row.source = None
        row.scores = [score._replace(scorer=scorer) for score in row.scores[:1]]
        store.append(run, [row])
    return CheckedRows(connect_to_read(directory / STORE_FILE), directory / STORE_FILE)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(row=any_rows)
def test_both_ways_give_the_same(tmp_path_factory: pytest.TempPathFactory, row: TrialRow) -> None:
    rows = stored(tmp_path_factory.mktemp("run"), row)
    for found in rows.each(TRIAL):
        quick = unpacking._usual_trial(found)
        assert quick in (None, unpacking.trial_of(rows, found))
    for found in rows.each(SCORE):
        assert unpacking._usual_score(found) in (None, unpacking.score_of(rows, found))


def test_a_usual_row_takes_the_quick_way(tmp_path: Path) -> None:
    usual = TrialRow(2, 1, "ok", "text", None, 3, 4, 5, 1, 6, "chatcmpl-1")
    usual.scores = [ScoreRow(1, 1.0, "ok", "4", "marker")]
    rows = stored(tmp_path, usual)
    assert unpacking._usual_trial(next(rows.each(TRIAL))) is not None
    assert unpacking._usual_score(next(rows.each(SCORE))) is not None


_other_values = st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=4) | st.floats()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(place=st.integers(0, 25), value=_other_values | st.binary(max_size=4))
def test_another_value_in_a_row_is_damage_with_a_name(
    damaged_store: CheckedRows, place: int, value: object
) -> None:
    rows = damaged_store
    (row,) = rows.each(TRIAL)
    place %= len(row)
    if repr(row[place]) == repr(value) or (value == row[place] and type(value) is type(row[place])):
        return
    changed = (*row[:place], value, *row[place + 1 :])
    assert unpacking._usual_trial(changed) is None
    with pytest.raises(CorruptStore, match=r"trial|problem"):
        unpacking.trial_of(rows, changed)


@pytest.fixture(scope="module")
def damaged_store(tmp_path_factory: pytest.TempPathFactory) -> CheckedRows:
    usual = TrialRow(2, 1, "ok", "text", None, 3, 4, 5, 1, 6, "chatcmpl-1")
    return stored(tmp_path_factory.mktemp("run"), usual)


def test_a_flipped_bit_is_never_a_line(tmp_path: Path) -> None:
    """What an export writes after a flip is what it wrote before, or it is refused."""
    usual = [TrialRow(at % 3, at // 3, "ok", f"so {at}", None, 3, 4, 5, 1, 6, "id")
             for at in range(30)]  # fmt: skip
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store)
        for trial in usual:
            trial.scores = [ScoreRow(scorer, 1.0, "ok", "4", "marker")]
        store.append(run, usual)
    whole, before = (tmp_path / STORE_FILE).read_bytes(), exported(tmp_path)
    generator, refused = random.Random(11), 0
    for _ in range(300):
        data = bytearray(whole)
        data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
        (tmp_path / STORE_FILE).write_bytes(data)
        try:
            found = exported(tmp_path)
        except PassbandError:
            refused += 1
        else:
            assert found == before
    assert refused


def exported(directory: Path) -> bytes:
    from passband.trials.exports.export import lines

    with Trials(directory) as trials:
        return b"".join(lines(trials, trials.runs()))
