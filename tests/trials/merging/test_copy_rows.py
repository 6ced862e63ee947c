"""Shards of a run become the store that one machine would have written."""

from __future__ import annotations

import io
import shutil
import signal
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.trials.exports.export import export_trials
from passband.trials.file.lock import Busy
from passband.trials.file.schema import STORE_FILE, CorruptStore
from passband.trials.file.writer import DiskNearlyFull
from passband.trials.merging.copy_rows import MergedStore
from passband.trials.merging.entries import MergeReport
from passband.trials.merging.merge import merge_directories
from passband.trials.merging.rows import MergedRows
from passband.trials.reader import Trials
from passband.trials.repair.audit import audit_store
from passband.trials.rows import ScoreRow, TrialRow
from passband.trials.settings import SettingsChanged
from passband.trials.store import Store
from support.fuzz.properties import one_in
from support.runs.dying import merging
from support.samples.stores import entries, problem, shard, sharded_row, writing

OF = 3
EVERYTHING = [(at, trial) for at in range(5) for trial in range(6)]


def exported(directory: Path) -> bytes:
    file = io.BytesIO()
    with Trials(directory) as trials:
        export_trials(trials, trials.runs(), "jsonl", file)
    return file.getvalue()


def shards(folder: Path, of: int = OF) -> list[Path]:
    return [shard(folder / f"shard{index}", index, of) for index in range(1, of + 1)]


def config(directory: Path) -> dict[str, object]:
    with Trials(directory) as trials:
        return dict(trials.run().config)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return shard(tmp_path / "whole")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that were read row by row."""
    runs: list[int] = []
    merged = MergedRows.merged

    def counted(rows: MergedRows, report: MergeReport) -> MergeReport:
        runs.append(1)
        return merged(rows, report)

    monkeypatch.setattr(MergedRows, "merged", counted)
    return runs


def test_three_shards_are_the_whole(tmp_path: Path, whole: Path, slow: list[int]) -> None:
    sources = shards(tmp_path)
    before = [(source / STORE_FILE).read_bytes() for source in sources]
    report = merge_directories(sources, tmp_path / "out", low_water=0)
    assert (report.trials, report.trials_there, report.runs) == (len(EVERYTHING), 0, 1)
    assert (report.missing, report.warnings) == ((), ())
    assert exported(tmp_path / "out") == exported(whole)
    assert audit_store(tmp_path / "out").damage == []
    assert [(source / STORE_FILE).read_bytes() for source in sources] == before
    assert config(tmp_path / "out") == config(whole) == {}
    with Trials(tmp_path / "out") as found, Trials(whole) as expected:
        assert found.statuses(1) == expected.statuses(1)
        assert found.tokens(1) == expected.tokens(1)
        assert found.cost(1) == expected.cost(1)
        assert found.retried(1) == expected.retried(1)
        assert found.reasoning_tokens(1) == expected.reasoning_tokens(1)
        assert [found.score_sums(s) for s in (1, 2)] == [expected.score_sums(s) for s in (1, 2)]
        assert list(found.trials(found.run())) == list(expected.trials(expected.run()))
    assert not slow


def test_merging_again_changes_nothing(tmp_path: Path, whole: Path, slow: list[int]) -> None:
    sources = shards(tmp_path)
    merge_directories(sources, tmp_path / "out", low_water=0)
    again = merge_directories(sources[::-1], tmp_path / "out", low_water=0)
    assert again == MergeReport(str(tmp_path / "out"), OF, trials_there=len(EVERYTHING))
    assert exported(tmp_path / "out") == exported(whole)
    assert audit_store(tmp_path / "out").damage == []
    assert not slow


def test_one_after_the_other_and_what_is_missing(tmp_path: Path, whole: Path) -> None:
    one, two, three = shards(tmp_path)
    out = tmp_path / "out"
    missing = merge_directories([two], out, low_water=0).missing
    assert missing == ("sums by tiny: shards 1 and 3 of 3 are not merged yet",)
    assert config(out) == {"shards": {"of": 3, "batch": 1, "merged": [2]}}
    merge_directories([one], out, low_water=0)
    assert config(out) == {"shards": {"of": 3, "batch": 1, "merged": [1, 2]}}
    merge_directories(
        [out, three], tmp_path / "all", low_water=0
    )  # counts as the shards that it holds
    assert merge_directories([three], out, low_water=0).missing == ()
    assert config(out) == config(tmp_path / "all") == {}
    assert merge_directories([two], out, low_water=0).missing == ()
    assert config(out) == {}
    assert exported(out) == exported(tmp_path / "all") == exported(whole)


def test_a_run_that_was_never_split_lacks_no_shard(tmp_path: Path, whole: Path) -> None:
    one, *_ = shards(tmp_path)
    for order in ([whole, one], [one, whole]):
        out = tmp_path / order[0].name / "out"
        assert merge_directories(order, out, low_water=0).missing == ()
        assert exported(out) == exported(whole)


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"of": 4}, "split into 3 shards, the other to one split into 4"),
        ({"of": 3, "batch": 2}, "asks for 1 trials per request, the other for 2"),
    ],
)
def test_another_plan_is_refused(tmp_path: Path, options, words: str, there: bool) -> None:
    sources = shards(tmp_path)
    other = shard(tmp_path / "other", 2, **options)
    if there:
        merge_directories(sources[:1], tmp_path / "out", low_water=0)
    with pytest.raises(SettingsChanged, match=words) as caught:
        merge_directories([*sources[there:], other], tmp_path / "out", low_water=0)
    assert str(other) in str(caught.value)
    assert (tmp_path / "out").exists() == there
    if there:
        assert exported(tmp_path / "out") == exported(sources[0])


@given(
    st.lists(st.integers(0, 2), min_size=len(EVERYTHING), max_size=len(EVERYTHING)),
    st.sets(st.sampled_from(EVERYTHING)),
    st.permutations(range(3)),
    st.lists(st.integers(0, 2), max_size=2),
)
@one_in(4)
def test_any_split_in_any_order(split, also, order, again) -> None:
    """Some trials are in the first shard as well, and some shards are merged twice."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = shard(folder / "whole")
        sources = []
        for index in range(3):
            mine = [place for place, one in zip(EVERYTHING, split, strict=True)
                    if one == index or (index == 0 and place in also)]  # fmt: skip
            sources.append(shard(folder / str(index), index + 1, 3, places=mine))
        merge_directories([sources[order[0]]], folder / "out", low_water=0)
        merge_directories(
            [sources[index] for index in (*order, *again)], folder / "out", low_water=0
        )
        assert exported(folder / "out") == exported(whole)
        assert audit_store(folder / "out").damage == []


def test_grown_shards(tmp_path: Path, whole: Path, slow: list[int]) -> None:
    """What came since the last merge is copied; nothing is compared row by row."""
    out = tmp_path / "out"
    sources = [shard(tmp_path / str(i), i, OF, trials=3) for i in (1, 2, 3)]
    merge_directories(sources, out, low_water=0)
    for index, source in enumerate(sources, 1):
        with writing(source) as store:
            rest = [(at, n) for at, n in EVERYTHING if n >= 3 and (at + n) % OF == index - 1]
            store.append(1, [sharded_row(at, n, [1, 2]) for at, n in rest])
    report = merge_directories(sources, out, low_water=0)
    assert (report.trials, report.trials_there) == (15, 15)
    assert exported(out) == exported(whole)
    assert audit_store(out).damage == []
    assert not slow


FAILING = [place for place in EVERYTHING if sharded_row(*place, []).status == "ok"][::5]


def failing(row: TrialRow) -> TrialRow:
    if (row.problem, row.trial) in FAILING:
        return replace(row, status="invalid", text="?", scores=[], transcript=None)
    return row


@pytest.mark.parametrize("is_first", [True, False], ids=["failed first", "answered first"])
@pytest.mark.parametrize("is_fast", [True, False], ids=["copied", "row by row"])
def test_an_answer_takes_the_place_of_a_failure(
    tmp_path: Path,
    whole: Path,
    slow: list[int],
    monkeypatch: pytest.MonkeyPatch,
    is_first: bool,
    is_fast: bool,
) -> None:
    """A shard is topped up with --retry-failed after it was merged."""
    if not is_fast:
        monkeypatch.setattr(MergedStore, "has_free_bodies", lambda _: False)
    failed = shard(tmp_path / "failed", 1, 1, change=failing)
    answered = tmp_path / "answered"
    shutil.copytree(failed, answered)
    with writing(answered) as store:
        store.append(1, [sharded_row(at, n, [1, 2]) for at, n in FAILING], again=True)
    out = tmp_path / "out"
    order = [failed, answered] if is_first else [answered, failed]
    reports = [merge_directories([source], out, low_water=0) for source in order]
    assert [report.replaced for report in reports] == [0, len(FAILING) if is_first else 0]
    assert bool(slow) != is_fast
    assert reports[1].trials == 0
    assert exported(out) == exported(whole) == exported(answered)
    assert audit_store(out).damage == []
    merge_directories(order, tmp_path / "together", low_water=0)
    assert exported(tmp_path / "together") == exported(whole)


def test_of_two_failures_the_later_counts(tmp_path: Path) -> None:
    def gave_up(row: TrialRow) -> TrialRow:
        return replace(failing(row), attempts=2) if failing(row) is not row else row

    def invalid(row: TrialRow) -> TrialRow:
        return (
            replace(failing(row), status="errored", attempts=9) if failing(row) is not row else row
        )

    early = shard(tmp_path / "early", 1, 1, change=gave_up)
    late = shard(tmp_path / "late", 1, 1, change=invalid)
    for order in ([early, late], [late, early]):
        out = tmp_path / f"{order[0].name}-first"
        merge_directories(order, out, low_water=0)
        assert exported(out) == exported(late)
        assert audit_store(out).damage == []


def other_text(row: TrialRow) -> TrialRow:
    return replace(row, text="other") if (row.problem, row.trial) == (1, 5) else row


def other_score(row: TrialRow) -> TrialRow:
    return replace(row, scores=[score._replace(value=0.75) for score in row.scores])


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
@pytest.mark.parametrize(
    ("change", "what"), [(other_text, "its completion"), (other_score, "its score")]
)
def test_two_answers_are_refused_and_nothing_changes(
    tmp_path: Path, change, what: str, there: bool
) -> None:
    one, two, three = shards(tmp_path)
    other = shard(tmp_path / "other", 1, OF, change=change, places=[(1, 2), (1, 5), (0, 3)])
    out = tmp_path / "out"
    if there:
        merge_directories([one], out, low_water=0)
        before = exported(out)
    with pytest.raises(SettingsChanged, match=f"is recorded twice, and {what} differs") as caught:
        merge_directories([two, one, three, other], out, low_water=0)
    assert str(other) in str(caught.value)
    assert out.exists() == there
    if there:
        assert exported(out) == before


def test_scores_of_a_scorer_that_one_shard_has(tmp_path: Path, slow: list[int]) -> None:
    """It was added before or after the first merge; the tallies know its scores."""
    sources = shards(tmp_path)
    out, later = tmp_path / "out", tmp_path / "later"
    merge_directories(sources, later, low_water=0)
    with writing(sources[1]) as store:
        store.set_scorers(1, entries([("new", "1")]))
        scored = [(at, n) for at, n in EVERYTHING if (at + n) % OF == 1]
        store.add_scores([(at, n, ScoreRow(3, 1.0, answer="a")) for at, n in scored])
    merge_directories(sources, out, low_water=0)
    report = merge_directories(sources, later, low_water=0)
    assert (report.trials, report.scores) == (0, 10)
    for directory in (out, later):
        assert audit_store(directory).damage == []
        with Trials(directory) as trials:
            assert trials.score_statuses(3) == {"ok": 10}
    assert not slow


def test_numbers_that_collide_are_read_row_by_row(
    tmp_path: Path, whole: Path, slow: list[int]
) -> None:
    """Both number their completions from 1, and the result is the same."""
    halves = [[p for p in EVERYTHING if p[1] % 2 == half] for half in (0, 1)]
    sources = [shard(tmp_path / str(half), places=halves[half]) for half in (0, 1)]
    merge_directories(sources, tmp_path / "out", low_water=0)
    assert exported(tmp_path / "out") == exported(whole)
    assert audit_store(tmp_path / "out").damage == []
    assert len(slow) == 1  # the first finds an empty store


def test_fast_and_slow_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = shards(tmp_path)
    merge_directories(sources, tmp_path / "fast", low_water=0)
    monkeypatch.setattr(MergedStore, "has_free_bodies", lambda _: False)
    merge_directories(sources, tmp_path / "slow", low_water=0)
    assert exported(tmp_path / "fast") == exported(tmp_path / "slow")
    assert audit_store(tmp_path / "slow").damage == []


def test_a_shard_that_is_being_written(tmp_path: Path, slow: list[int]) -> None:
    one, two, three = shards(tmp_path)
    with closing(Store(two, low_water=0)) as store:
        with pytest.raises(Busy, match=r"is being written by process \d+ on .* --partial"):
            merge_directories([one, two, three], tmp_path / "out", low_water=0)
        assert not (tmp_path / "out").exists()
        merge_directories([one, two], tmp_path / "out", low_water=0, partial=True)
        store.append(1, [TrialRow(0, 9, "ok", "new")])
        merge_directories([two], tmp_path / "out", low_water=0, partial=True)
        with Trials(tmp_path / "out") as trials:
            assert trials.recorded(1)[0] >> 9 & 1
    assert not slow


def test_a_source_that_changes_after_it_was_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is checked again, and refused if it contradicts by now; what came before is kept."""
    one, two = shards(tmp_path, 2)
    attached = MergedStore.attached

    def growing(store: MergedStore, path: Path):
        with writing(two) as running:
            if path.parent == two:
                running.append(1, [TrialRow(0, 0, "ok", "another answer")])
        return attached(store, path)

    monkeypatch.setattr(MergedStore, "attached", growing)
    with pytest.raises(SettingsChanged, match=r"trial 0 of problem 'p0' .* is recorded twice"):
        merge_directories([one, two], tmp_path / "out", low_water=0)
    assert exported(tmp_path / "out") == exported(one)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM trial WHERE problem=1",
        "DELETE FROM body WHERE problem=1",
        "DELETE FROM score WHERE scorer=2",
        "DELETE FROM attempt",
    ],
)
@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_a_source_that_has_lost_rows_is_refused(
    tmp_path: Path, statement: str, there: bool
) -> None:
    one, two, _ = shards(tmp_path)
    out = tmp_path / "out"
    if there:  # of the second, something is there already
        part = shard(tmp_path / "part", 2, OF, places=[(0, 1)])
        merge_directories([one, part], out, low_water=0)
    with closing(sqlite3.connect(two / STORE_FILE)) as connection, connection:
        connection.execute(statement)
    with pytest.raises(CorruptStore, match="were found where"):
        merge_directories([one, two], out, low_water=0)
    assert exported(out) == exported(out if there else one)
    assert audit_store(out).damage == []


def test_damaged_rows_stay_visible(tmp_path: Path) -> None:
    one, two, three = shards(tmp_path)
    with closing(sqlite3.connect(two / STORE_FILE)) as connection, connection:
        connection.execute("UPDATE body SET text=X'00' WHERE problem=1")
    merge_directories([one, two, three], tmp_path / "out", low_water=0)
    assert audit_store(tmp_path / "out").damage
    with pytest.raises(CorruptStore, match="is not what was written"):
        exported(tmp_path / "out")


def test_room_for_a_source_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, *_ = shards(tmp_path)
    size = (one / STORE_FILE).stat().st_size
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=2 * size))
    with pytest.raises(DiskNearlyFull, match="MB are free"):
        merge_directories([one], tmp_path / "out", low_water=0)
    assert not (tmp_path / "out").exists()


def test_versions_that_differ_are_remarked_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = shards(tmp_path, 2)[:1], []
    monkeypatch.setattr("passband.trials.store.__version__", "0.0.1")
    two.append(shard(tmp_path / "later", 2, 2))
    (warning,) = merge_directories([*one, *two], tmp_path / "out", low_water=0).warnings
    assert "0.0.1 and " in warning


def test_several_runs_keep_their_numbers(tmp_path: Path, slow: list[int]) -> None:
    """Also where the order of their names is another than that of their numbers."""
    sources = []
    for index in (1, 2):
        store = Store(tmp_path / str(index), low_water=0, first_body=index << 40)
        plan = {"shard": {"index": index, "of": 2, "batch": 1}}
        for task in ("zebra", "ant"):
            run = store.begin(task, "m", spec={}, config=plan, name="run")
            store.add_problems(run, [problem(at) for at in range(3)])
            (scorer,) = store.set_scorers(run, entries([("exact", "1")]))
            rows = [
                TrialRow(at, index, "ok", task, scores=[ScoreRow(scorer, 1.0)]) for at in (0, 1, 2)
            ]
            store.append(run, rows)
        store.close()
        sources.append(tmp_path / str(index))
    merge_directories(sources, tmp_path / "out", low_water=0)
    assert audit_store(tmp_path / "out").damage == []
    with Trials(tmp_path / "out") as trials:
        assert [(run.number, run.task) for run in trials.runs()] == [(2, "ant"), (1, "zebra")]
    assert not slow


@pytest.mark.process
def test_a_killed_merge_leaves_whole_sources(tmp_path: Path, whole: Path) -> None:
    sources = shards(tmp_path)

    done = merging(sources, tmp_path / "all", 0)
    assert done.returncode == 0, done.stderr
    total, left = int(done.stdout), set()
    for at in range(5, total + 1, max(1, total // 8)):
        out = tmp_path / f"out{at}"
        assert merging(sources, out, at).returncode == -signal.SIGKILL
        left.add(recorded(out))
        merge_directories(sources, out, low_water=0)
        assert exported(out) == exported(whole)
        assert audit_store(out).damage == []
    assert len(left) > 1
    assert left <= {10 * sources for sources in range(4)}


def recorded(directory: Path) -> int:
    try:
        with Trials(directory) as trials:
            return sum(trials.trial_count(run.number) for run in trials.runs())
    except InvalidInput:  # killed before the tables were made
        return 0
