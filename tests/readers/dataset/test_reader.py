"""Data sets: the same groups as one table with all rows, whatever files the rows are in."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.readers import read
from passband.readers.dataset import batches, cells, checks
from passband.readers.dataset import reader as dataset
from passband.readers.dataset.reader import read_dataset
from passband.readers.options import Options
from passband.readers.tables.table import groups_of_table
from passband.stats.data.tables import Table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def write(folder: Path, tables, *, row_group=None) -> str:
    """Write tables as files of a data set, and return its glob."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, table in enumerate(tables):
        table = table if isinstance(table, pa.Table) else pa.table(table)
        pq.write_table(table, folder / f"part-{number:03d}.parquet", row_group_size=row_group)
    return str(folder / "*.parquet")


def shape(groups):
    """Return everything about groups that can be compared."""
    return [
        (
            group.key,
            group.task,
            group.model,
            list(group.outcomes.problems),
            group.outcomes.trials.tolist(),
            group.outcomes.successes.tolist(),
            [(status, counts.tolist()) for status, counts in group.outcomes.unscored.items()],
        )
        for group in groups.groups
    ]


@pytest.fixture
def no_whole_reading(monkeypatch):
    monkeypatch.setattr(dataset, "SMALL", -1)


@st.composite
def tables(draw):
    """Draw a table of trials, as columns of Arrow, and where to cut it into files."""
    rows = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    numbers = rng.integers(0, 8, rows) * draw(st.sampled_from([1, 1000, 10**15])) - 3
    problems = draw(
        st.sampled_from(
            [
                pa.array(numbers),
                pa.array([f"p{n}" for n in numbers]),
                pa.array([f"p{n}" for n in numbers]).dictionary_encode(),
                pa.array(numbers.astype(float)),
            ]
        )
    )
    columns = {"problem": problems}
    if draw(st.booleans()):
        wide = draw(st.sampled_from([2, 30, 10**12]))
        trials = rng.integers(0, wide, rows)
        kind = draw(st.sampled_from(["whole", "text", "null"]))
        columns["trial"] = (
            pa.array([f"t{n}" for n in trials])
            if kind == "text"
            else pa.array([None if kind == "null" and n == 0 else int(n) for n in trials])
        )
    scores = rng.integers(0, 2, rows).tolist()
    missing = draw(st.sampled_from([0.0, 0.3, 1.0]))
    scores = [None if rng.random() < missing else score for score in scores]
    kind = draw(st.sampled_from([pa.int8(), pa.float32(), pa.bool_(), pa.string()]))
    columns["score"] = (
        pa.array([None if s is None else ("pass" if s else "fail") for s in scores])
        if kind == pa.string()
        else pa.array([None if s is None else bool(s) for s in scores], pa.bool_())
        if kind == pa.bool_()
        else pa.array(scores, kind)
    )
    words = ["timeout", "ok", "", "error", None]
    columns["status"] = pa.array([words[i] for i in rng.integers(0, 5, rows)], pa.string())
    for name in draw(st.sets(st.sampled_from(["model", "step", "language", "task"]))):
        values = rng.integers(0, draw(st.integers(1, 3)), rows)
        columns[name] = pa.array(values) if name == "step" else pa.array([f"{v}" for v in values])
    cuts = sorted(draw(st.lists(st.integers(0, rows), max_size=4)))
    by = draw(st.sampled_from([(), ("model",), ("language",)]))
    return pa.table(columns), [0, *cuts, rows], [name for name in by if name in columns]


def outcome(call):
    """Return what a call gives, or the beginning of its error."""
    try:
        return call()
    except InvalidInput as error:
        return str(error).split("(p")[0].split("row")[0]


@given(drawn=tables(), row_group=st.integers(1, 9), size=st.sampled_from([3, 1000]))
def test_same_groups_as_one_table(drawn, row_group, size, tmp_path_factory):
    table, cuts, by = drawn
    pieces = [table.slice(a, b - a) for a, b in pairwise(cuts)]
    address = write(tmp_path_factory.mktemp("set"), pieces, row_group=row_group)
    options = Options.of(None, by)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset, "SMALL", -1)
        patch.setattr(batches, "ROWS", size)
        patch.setattr(checks, "LARGEST_MASK", size * 10)
        patch.setattr(checks, "LARGEST_PART", 7)
        patch.setattr(cells, "LARGEST_GRID", size * 10)
        try:
            expected = groups_of_table(Table.of(table), options)
        except InvalidInput as error:
            with pytest.raises(InvalidInput) as caught:
                read_dataset(address, options)
            start = str(error).split(" is repeated")[0]
            assert start in str(caught.value)
            return
        streamed = read_dataset(address, options)
        mapped = read_dataset(address, options, map=map)
    assert streamed.by == expected.by
    assert streamed.columns == expected.columns
    assert shape(streamed) == shape(expected) == shape(mapped)
    of_files = re.compile(r"\d+ file|.* has gaps|without a column of trials")
    own = [remark for remark in streamed.remarks if not of_files.match(remark.text)]
    # Rows are not put in order here, and scores of failed rows are not counted apart.
    of_tables = re.compile(r"scores in failed rows|column trial holds words")
    assert own == [one for one in expected.remarks if not of_tables.match(one.text)]


SMALL_TABLE = {"problem": [1, 1, 2], "trial": [0, 1, 0], "correct": [True, False, True]}


def test_a_graded_data_set_is_read_whole_where_it_is_small(tmp_path):
    address = write(tmp_path, [SMALL_TABLE | {"correct": [0.5, 1.0, 0.0]}])
    assert read(address).only().graded.values.tolist() == [0.5, 1.0, 0.0]


def test_a_large_graded_data_set_needs_a_threshold(tmp_path, no_whole_reading):
    address = write(tmp_path, [SMALL_TABLE | {"correct": [0.5, 1.0, 7.0]}])
    with pytest.raises(InvalidInput, match=r"other than 0 and 1.*--threshold"):
        read(address)
    assert read(address, threshold=5.0).only().successes.tolist() == [0, 1]


def test_a_threshold_that_makes_no_sense_for_zeros_and_ones_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"threshold must be in \(0, 1\]"):
        read(write(tmp_path, [SMALL_TABLE]), threshold=5.0)


def test_duplicates_are_named_with_their_files(tmp_path):
    address = write(tmp_path, [SMALL_TABLE, {"problem": [2], "trial": [0], "correct": [False]}])
    with pytest.raises(InvalidInput, match=r"repeated for \(2, 0\) \(in .*000.*, .*001"):
        read(address)


def test_duplicates_that_cannot_be_found_are_said_to_be(tmp_path):
    table = {"problem": [1, 1, 2], "correct": [True, False, True]}
    words = "rows that are there twice cannot be found"
    assert words in " ".join(map(str, read(write(tmp_path / "two", [table, table])).remarks))
    assert words not in " ".join(map(str, read(write(tmp_path / "one", [table])).remarks))


def test_gaps_are_counted(tmp_path):
    table = {"problem": [1, 1, 2, 2], "trial": [0, 1, 0, 3], "correct": [1, 0, 1, 1]}
    remarks = " ".join(map(str, read(write(tmp_path, [table])).remarks))
    assert "has gaps: 2 trials below the last one are missing, of 1 problems" in remarks


def test_an_empty_file_is_counted_and_an_empty_set_refused(tmp_path):
    empty = pa.table(SMALL_TABLE).slice(0, 0)
    remarks = read(write(tmp_path / "a", [SMALL_TABLE, empty])).remarks
    assert "2 files, 1 of them without rows, 3 rows" in map(str, remarks)
    with pytest.raises(InvalidInput, match="empty"):
        read(write(tmp_path / "b", [empty]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"problem": ["1", "1", "2"]}, "column problem must have one type.*int64.*string"),
        ({"correct": ["yes", "no", "yes"]}, "column correct must have one type.*bool.*string"),
        ({"problem": [[1], [1], [2]]}, "column problem must have one type|nested"),
        ({"problem": [1, None, 2]}, "row 2: column problem is empty"),
        ({"model": ["A"] * 3}, "has no column model, which"),
    ],
)
def test_files_that_differ_are_refused(change, message, tmp_path):
    with pytest.raises(InvalidInput, match=message):
        read(write(tmp_path, [SMALL_TABLE, SMALL_TABLE | {"trial": [7, 8, 9]} | change]))


def test_files_that_lack_a_column_are_refused(tmp_path):
    other = {name: column for name, column in SMALL_TABLE.items() if name != "trial"}
    with pytest.raises(InvalidInput, match=r"001\.parquet has no column trial"):
        read(write(tmp_path, [SMALL_TABLE, other]))


def test_widths_of_integers_and_columns_of_null_are_no_difference(tmp_path):
    narrow = pa.table(SMALL_TABLE).set_column(0, "problem", pa.array([3, 3, 4], pa.int16()))
    nothing = pa.table(SMALL_TABLE).set_column(2, "correct", pa.nulls(3))
    nothing = nothing.set_column(1, "trial", pa.array([5, 6, 7]))
    outcomes = read(write(tmp_path, [SMALL_TABLE, narrow, nothing])).only()
    assert list(outcomes.problems) == ["1", "2", "3", "4"]
    assert outcomes.n_unscored == 3


def test_models_in_one_data_set_are_split(tmp_path):
    files = [SMALL_TABLE | {"model": [name] * 3} for name in "AB"]
    assert [group.key for group in read(write(tmp_path, files)).groups] == [("A",), ("B",)]


def test_folders_named_key_value_are_columns(tmp_path):
    for step in (100, 20):
        write(tmp_path / f"step={step}", [SMALL_TABLE])
    for source in (str(tmp_path / "**" / "*.parquet"), tmp_path):
        groups = read(source)
        assert groups.by == ("step",)
        assert [group.key for group in groups.groups] == [("100",), ("20",)]


def test_huge_sparse_integers_take_no_room(tmp_path):
    table = {"problem": [10**18, -5, 10**18], "trial": [2**62, 1, 7], "correct": [1, 0, 0]}
    assert list(read(write(tmp_path, [table])).only().problems) == ["1000000000000000000", "-5"]


def test_a_column_with_very_many_values_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("passband.readers.dataset.codes.MOST_GROUPS", 2)
    table = SMALL_TABLE | {"user": ["a", "b", "c"]}
    with pytest.raises(InvalidInput, match="column user splits the trials into more than 2"):
        read(write(tmp_path, [table]), by="user")


def test_counts_of_files_add_up_elsewhere(tmp_path):
    import pickle

    def pickled(function, parts):
        return [pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(p))))) for p in parts]

    files = [SMALL_TABLE, SMALL_TABLE | {"trial": [2, 3, 1]}]
    address = write(tmp_path, files)
    whole, parts = read_dataset(address, Options()), read_dataset(address, Options(), map=pickled)
    assert shape(whole) == shape(parts)


def test_a_trial_with_the_number_of_its_problem_is_found_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "LARGEST_MASK", 0)
    for repeated in range(8):
        trials = [*range(8)] * 8
        trials[8 * repeated] = repeated or 1
        table = {"problem": np.repeat(range(8), 8), "trial": trials, "correct": [1] * 64}
        address = write(tmp_path / str(repeated), [table])
        with pytest.raises(InvalidInput, match=rf"repeated for \({repeated}, {repeated or 1}\)"):
            read(address)


@pytest.mark.parametrize(("mask", "statistics"), [(10**8, True), (0, True), (10**8, False)])
def test_gaps_are_counted_whatever_the_footers_say(mask, statistics, tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "LARGEST_MASK", mask)
    table = {"problem": [1, 1, 2, 2, 3], "trial": [0, 1, 0, 3, 1], "correct": [1, 0, 1, 1, 1]}
    pq.write_table(pa.table(table), tmp_path / "a.parquet", write_statistics=statistics)
    remarks = " ".join(map(str, read(tmp_path / "*.parquet").remarks))
    words = "has gaps: 3 trials below the last one are missing, of 2 problems (such as 1 of 2)"
    assert words in remarks


def flipped(path: Path, byte: int) -> None:
    content = bytearray(path.read_bytes())
    content[byte] ^= 4
    path.write_bytes(content)


def test_a_page_that_has_changed_is_refused_by_its_checksum(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"problem": [*range(50)], "correct": [True, False] * 25})
    pq.write_table(table, path, write_page_checksum=True, use_dictionary=False, compression="none")
    flipped(path, path.read_bytes().index(bytes([7, 0, 0, 0, 0, 0, 0, 0, 8])))
    with pytest.raises(InvalidInput, match=r"a\.parquet: cannot be read: .*[Cc][Rr][Cc]"):
        read(str(tmp_path / "*.parquet"))


def test_a_footer_with_a_wrong_range_of_integers_is_refused(tmp_path, monkeypatch):
    from passband.readers.dataset.schema import Schema

    monkeypatch.setattr(Schema, "bounds", lambda self, name: (1, 1) if name == "problem" else None)
    with pytest.raises(InvalidInput, match=r"000\.parquet: its footer gives a wrong range"):
        read(write(tmp_path, [SMALL_TABLE]))


def test_text_that_is_not_utf8_is_refused(tmp_path):
    broken = pa.array([b"a", b"\xff", b"b"]).view(pa.string())
    with pytest.raises(InvalidInput, match="text that is not UTF-8"):
        read(write(tmp_path, [{"problem": broken, "correct": [1, 0, 1]}]))


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.uint32(), pa.int64(), pa.uint64()])
@pytest.mark.parametrize("is_high", [False, True])
def test_integers_of_any_width_are_problems_trials_and_groups(kind, is_high, tmp_path):
    top = 2 ** (kind.bit_width - (not str(kind).startswith("u"))) - 1
    low = top - 3 if is_high else 0
    table = {
        "problem": pa.array([low, low + 1, low + 1, low + 1], kind),
        "trial": pa.array([low, low, None, low + 3], kind),
        "step": pa.array([low, low + 2, low + 2, low + 2], kind),
        "correct": [1, 0, None, 1],
    }
    groups = read(write(tmp_path, [table])).groups
    assert [group.key for group in groups] == [(str(low),), (str(low + 2),)]
    assert [list(group.outcomes.problems) for group in groups] == [[str(low)], [str(low + 1)]]
    assert [group.outcomes.trials.tolist() for group in groups] == [[1], [2]]
    assert groups[1].outcomes.n_unscored == 1


def test_huge_integers_of_other_width_in_a_later_file_are_counted(tmp_path):
    narrow = {"problem": pa.array([1, 2], pa.int8()), "correct": [1, 1]}
    wide = {"problem": pa.array([2**63 + 5, 2**63 + 6], pa.uint64()), "correct": [0, 1]}
    outcomes = read(write(tmp_path, [narrow, wide])).only()
    assert dict(zip(outcomes.problems, outcomes.successes.tolist(), strict=True)) == {
        "1": 1,
        "2": 1,
        str(2**63 + 5): 0,
        str(2**63 + 6): 1,
    }


_WRITES_VIEWS = int(pa.__version__.split(".")[0]) >= 21


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            "string_view",
            marks=pytest.mark.skipif(not _WRITES_VIEWS, reason="pyarrow 21 writes views first"),
        ),
        "halffloat",
    ],
)
def test_types_that_arrow_has_few_functions_for_are_counted(kind, tmp_path):
    values = ["1", "2", "2"] if kind == "string_view" else np.array([1, 2, 2], np.float16)
    table = {"problem": pa.array(values, pa.type_for_alias(kind)), "correct": [1, 0, 1]}
    plain = {"problem": ["1", "1", "3"] if kind == "string_view" else [1.0, 1.0, 3.0]}
    address = write(tmp_path, [table, plain | {"correct": [0, 0, 1]}])
    streamed = read(address)
    assert shape(streamed)[0][3:6] == (["1", "2", "3"], [3, 2, 1], [1, 1, 1])
    graded = write(tmp_path, [table, plain | {"correct": [0.5, 0, 1]}])
    assert list(read(graded).only().problems) == ["1", "2", "3"]  # read whole


def test_a_folder_and_a_column_that_differ_are_refused(tmp_path):
    write(tmp_path / "step=01", [SMALL_TABLE | {"step": [1, 1, 1]}])
    assert read(tmp_path).only().trials.sum() == 3
    write(tmp_path / "step=02", [SMALL_TABLE | {"step": [2, 2, 3]}])
    with pytest.raises(InvalidInput, match=r"column step has 3, but the folder .*step=02"):
        read(tmp_path)


def test_a_file_that_is_written_again_meanwhile_is_refused(tmp_path):
    from passband.readers.dataset.address import find_files

    address = write(tmp_path, [SMALL_TABLE])
    part = batches.DataPart(find_files(address)[0], 0, rows=2)
    with pytest.raises(InvalidInput, match="has 3 rows where its footer said 2"):
        list(batches.prepared([part], ["problem"], lambda batch: None))


@pytest.mark.parametrize("scores", [[True, False, True], [0.5, 1.0, 0.0]])
def test_a_large_file_by_itself_is_counted_if_it_can_be(scores, tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(SMALL_TABLE | {"correct": scores}), path)
    whole = read(path)
    monkeypatch.setattr(dataset, "SMALL", 2)
    counted = read(path)
    assert str(counted.only()) == str(whole.only())
    assert list(counted.only().problems) == list(whole.only().problems)
    assert counted.source == whole.source
    assert any("1 file" in str(remark) for remark in counted.remarks) == (scores[0] is True)
