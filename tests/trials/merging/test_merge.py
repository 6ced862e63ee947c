"""Two stores of one run become one: the same bytes as one that always held everything."""

from __future__ import annotations

import io
import random
import shutil
import signal
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.trials import store as store_module
from passband.trials.exports.export import export_trials
from passband.trials.file.lock import Busy
from passband.trials.file.schema import STORE_FILE
from passband.trials.merging.entries import MergeReport
from passband.trials.merging.merge import merge_directories
from passband.trials.reader import Trials
from passband.trials.repair.salvage import salvage_store
from passband.trials.rows import AttemptRow, ProblemRow, ScorerEntry, ScoreRow, Status, TrialRow
from passband.trials.settings import SettingsChanged
from passband.trials.store import Store
from support.runs.commands import run as command
from support.runs.dying import merging
from support.samples.stores import MODEL, TASK, begin, entries, problem, writing
from support.samples.stores import shard as stored_shard

PROBLEMS, TRIALS = 7, 5

Place = tuple[int, int]
EVERYTHING = [(at, trial) for at in range(PROBLEMS) for trial in range(TRIALS)]


def trial(at: int, number: int, scorers: list[int]) -> TrialRow:
    """The same trial each time, whichever store it is in; only its latency differs."""
    rng = random.Random(1000 * at + number)
    status: Status = rng.choice(["ok", "ok", "ok", "truncated", "gave_up"])
    scores = [ScoreRow(s, float(rng.random() < 0.5), answer="a") for s in scorers]
    return TrialRow(
        at, number, status, f"text {at} {number} \ud800", "thought", 3, 4,
        random.randrange(1000), seed=at, scores=scores if status == "ok" else [],
        transcript=[{"role": "user", "content": str(at)}] if number == 1 else None, cost=0.5,
    )  # fmt: skip


def store_of(
    directory: Path,
    places: Iterable[Place],
    *,
    problems: Iterable[int] = range(PROBLEMS),
    scorers: Iterable[tuple[str, str]] = (("one", "1"), ("two", "1")),
    model: str = MODEL,
    change: Callable[[TrialRow], TrialRow] = lambda row: row,
    row: Callable[[int], ProblemRow] = problem,
    name: str = "run",
    spec: str = "s",
) -> Path:
    """Make a run directory that holds these trials of a run."""
    with writing(directory) as store:
        run = store.begin(TASK, model, spec={"seed": spec}, config={}, name=name)
        chosen = list(problems)
        numbers = dict(
            zip(chosen, store.add_problems(run, [row(at) for at in chosen]), strict=True)
        )
        made = store.set_scorers(run, entries(list(scorers)))
        rows = [change(trial(at, n, made)) for at, n in places]
        store.append(run, [replace(each, problem=numbers[each.problem]) for each in rows])
        store.add_attempts(run, [AttemptRow(numbers[chosen[0]], 9, 1, 1, "late", None, "slow")])
        store.end_session(store.begin_session(8), 1.0, len(rows))
    return directory


def exported(directory: Path) -> bytes:
    file = io.BytesIO()
    with Trials(directory) as trials:
        export_trials(trials, trials.runs(), "jsonl", file)
    return file.getvalue()


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    return exported(store_of(tmp_path / "whole", EVERYTHING))


def test_shards_by_problem(tmp_path: Path, whole: bytes) -> None:
    """Each shard knows only its problems, and where the data have them."""
    shards = []
    for shard in range(3):
        mine = [at for at in range(PROBLEMS) if at % 3 == shard]
        places = [(at, n) for at in mine for n in range(TRIALS)]
        shards.append(store_of(tmp_path / f"shard{shard}", places, problems=mine))
    for order in (shards, shards[::-1]):
        out = tmp_path / f"out{shards.index(order[0])}"
        report = merge_directories(order, out, low_water=0)
        assert (report.runs, report.problems, report.trials) == (1, PROBLEMS, len(EVERYTHING))
        assert exported(out) == whole


def test_halves_by_trial_one_after_the_other(tmp_path: Path, whole: bytes) -> None:
    halves = [
        store_of(tmp_path / str(half), [p for p in EVERYTHING if p[1] % 2 == half])
        for half in (0, 1)
    ]
    merge_directories(halves[:1], tmp_path / "out", low_water=0)
    assert exported(tmp_path / "out") == exported(halves[0])
    before = [(half / STORE_FILE).read_bytes() for half in halves]
    report = merge_directories(halves, tmp_path / "out", low_water=0)
    assert (report.runs, report.problems) == (0, 0)
    assert report.trials + report.trials_there == len(EVERYTHING)
    assert exported(tmp_path / "out") == whole
    assert [(half / STORE_FILE).read_bytes() for half in halves] == before
    again = merge_directories(halves, tmp_path / "out", low_water=0)
    assert again == MergeReport(str(tmp_path / "out"), 2, trials_there=len(EVERYTHING))
    with Trials(tmp_path / "out") as trials:
        assert len(trials.sessions()) == 2
        assert len(trials.attempt_rows(1)) == 1


def test_the_same_trial_twice_is_one(tmp_path: Path, whole: bytes) -> None:
    """Both have it, and an answer may have taken longer in one."""
    one = store_of(tmp_path / "one", EVERYTHING[:20])
    other = store_of(tmp_path / "other", EVERYTHING[10:])
    report = merge_directories([one, other], tmp_path / "out", low_water=0)
    assert report.trials_there == 10
    assert exported(tmp_path / "out") == whole


def test_counts_of_the_whole(tmp_path: Path, whole: bytes) -> None:
    one = store_of(tmp_path / "one", EVERYTHING[:20])
    other = store_of(tmp_path / "other", EVERYTHING[10:])
    merge_directories([one, other], tmp_path / "out", low_water=0)
    with Trials(tmp_path / "whole") as expected, Trials(tmp_path / "out") as found:
        assert found.statuses(1) == expected.statuses(1)
        assert found.tokens(1) == expected.tokens(1)
        assert found.cost(1) == expected.cost(1)
        assert found.recorded(1) == expected.recorded(1)
        for scorer in (1, 2):
            assert found.score_sums(scorer) == expected.score_sums(scorer)
        rows = [
            [replace(row, latency_ms=0) for row in trials.trials(trials.run())]
            for trials in (expected, found)
        ]
        assert rows[0] == rows[1]


def test_several_models_and_tasks(tmp_path: Path) -> None:
    one = store_of(tmp_path / "one", EVERYTHING, model="a")
    two = store_of(tmp_path / "two", EVERYTHING, model="b")
    report = merge_directories([one, two], tmp_path / "out", low_water=0)
    assert report.runs == 2
    assert exported(tmp_path / "out") == exported(one) + exported(two)


def test_scorers_are_united(tmp_path: Path) -> None:
    one = store_of(tmp_path / "one", EVERYTHING[:10], scorers=[("x", "1"), ("y", "1")])
    two = store_of(tmp_path / "two", EVERYTHING[:20], scorers=[("x", "2"), ("y", "1"), ("z", "1")])
    merge_directories([one, two], tmp_path / "out", low_water=0)
    with Trials(tmp_path / "out") as trials:
        run = trials.run()
        assert [(s.name, s.identity) for s in run.scorers] == [("x", "1"), ("y", "1"), ("z", "1")]
        unused = [s for _, place, s in trials.all_scorers() if place is None]
        assert [(s.name, s.identity) for s in unused] == [("x", "2")]
        assert trials.score_statuses(unused[0].number) == trials.score_statuses(
            run.scorer("z").number
        )
        assert trials.outcomes(run).n_trials < trials.outcomes(run, run.scorer("z")).n_trials
    three = tmp_path / "three"
    merge_directories(
        [tmp_path / "out"], three, low_water=0
    )  # scorers that are not used come along
    assert exported(three) == exported(tmp_path / "out")
    with Trials(three) as trials:
        assert [place for _, place, _ in trials.all_scorers()] == [0, 1, 2, None]
        assert trials.score_statuses(unused[0].number)


def test_data_that_have_grown_at_the_front(tmp_path: Path, whole: bytes) -> None:
    def earlier(at: int) -> ProblemRow:
        return replace(problem(at), position=at - 2)

    old = [place for place in EVERYTHING if place[0] >= 2 and place[1] < 3]
    one = store_of(tmp_path / "one", old, problems=range(2, PROBLEMS), row=earlier)
    new = [place for place in EVERYTHING if place not in old]
    two = store_of(tmp_path / "two", new)
    for number, order in enumerate(([one, two], [two, one])):
        merge_directories(order, tmp_path / f"out{number}", low_water=0)
        assert exported(tmp_path / f"out{number}") == whole


def test_where_rows_were_imported_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "utc_now", lambda: "2026-01-01T00:00:00Z")
    for name in ("one", "two"):
        with writing(tmp_path / name) as store:
            store.add_source("csv", "other.csv", "11")
            source = store.add_source("csv", f"{name}.csv", "00")
            run = store.begin(TASK, name, spec={}, config={}, source=source)
            store.add_problems(run, [problem(0)])
            store.append(run, [TrialRow(0, 0, "ok", "x", source=source)])
    for _ in range(2):
        merge_directories([tmp_path / "one", tmp_path / "two"], tmp_path / "out", low_water=0)
    with Trials(tmp_path / "out") as trials:
        files = {source.number: source.file for source in trials.sources()}
        assert sorted(files.values()) == ["one.csv", "other.csv", "two.csv"]
        for record in trials.runs():
            (row,) = trials.trials(record)
            assert files[record.source] == files[row.source] == f"{record.model}.csv"


# -- conflicts -------------------------------------------------------------------------------


def other_text(row: TrialRow) -> TrialRow:
    return replace(row, text="other") if (row.problem, row.trial) == (1, 2) else row


def other_score(row: TrialRow) -> TrialRow:
    scores = [score._replace(value=0.125) for score in row.scores]
    return replace(row, scores=scores)


def other_status(row: TrialRow) -> TrialRow:
    return replace(row, status="refused", scores=[]) if row.trial == 2 else row


CONFLICTS: dict[str, tuple[dict[str, Any], str]] = {
    "settings": ({"spec": "t"}, r'seed: "s" in one, "t" in the other'),
    "name": ({"name": "other"}, r'name: "run" in one, "other" in the other'),
    "record": (
        {"row": lambda at: problem(at, target="43")},
        r"""problem 'p0' of sums differs in its targets: \["42"\] in one, \["43"\]""",
    ),
    "cluster": (
        {"row": lambda at: problem(at, cluster="c")},
        r"problem 'p0' of sums differs in its cluster: None in one, 'c' in the other",
    ),
    "text": (
        {"change": other_text},
        r"trial 2 of problem 'p1' of sums is recorded twice, and its completion differs",
    ),
    "status": ({"change": other_status}, r"trial 2 of problem 'p0' .* its status differs"),
    "score": ({"change": other_score}, r"is recorded twice, and its score differs"),
}


@pytest.mark.parametrize("what", CONFLICTS)
@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_conflicts_are_refused_and_change_nothing(tmp_path: Path, what: str, there: bool) -> None:
    options, words = CONFLICTS[what]
    one = store_of(tmp_path / "one", EVERYTHING)
    two = store_of(tmp_path / "two", EVERYTHING, **options)
    extra = store_of(tmp_path / "extra", EVERYTHING, model="another")
    out = tmp_path / "out"
    if there:
        merge_directories([one], out, low_water=0)
        before = exported(out)
    with pytest.raises(SettingsChanged, match=words) as caught:
        merge_directories([extra, one, two], out, low_water=0)
    assert str(two) in str(caught.value)
    assert caught.value.exit_code == 2
    assert out.exists() == there
    if there:
        assert exported(out) == before


def test_what_is_refused(tmp_path: Path) -> None:
    one = store_of(tmp_path / "one", EVERYTHING)
    with pytest.raises(InvalidInput, match="give the run directories"):
        merge_directories([], tmp_path / "out")
    with pytest.raises(InvalidInput, match="is not a run directory"):
        merge_directories([one, tmp_path], tmp_path / "out")
    with pytest.raises(InvalidInput, match="is the destination as well"):
        merge_directories([one / ".." / "one"], one)
    with closing(Store(tmp_path / "busy", low_water=0)), pytest.raises(Busy):
        merge_directories([one], tmp_path / "busy", low_water=0)
    assert not (tmp_path / "out").exists()


def test_a_run_that_is_being_written_is_copied_as_it_is(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run = store.begin(TASK, MODEL, spec={}, config={})
        store.add_problems(run, [problem(0)])
        store.set_scorers(run, [ScorerEntry("one", "1")])
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        with pytest.raises(Busy, match=r"is being written by process \d+ on .* --partial"):
            merge_directories([tmp_path / "run"], tmp_path / "copy", low_water=0)
        assert not (tmp_path / "copy").exists()
        merge_directories([tmp_path / "run"], tmp_path / "copy", low_water=0, partial=True)
        store.append(run, [TrialRow(0, 1, "ok", "y")])
    with Trials(tmp_path / "copy") as trials:
        assert trials.statuses(run) == {"ok": 1}
        assert trials.run().name == "run"
    merge_directories([tmp_path / "run"], tmp_path / "copy", low_water=0)
    assert exported(tmp_path / "copy") == exported(tmp_path / "run")


def test_a_killed_merge_is_done_again(tmp_path: Path, whole: bytes) -> None:
    halves = [
        store_of(tmp_path / str(half), [p for p in EVERYTHING if p[1] % 2 == half])
        for half in (0, 1)
    ]

    done = merging(halves, tmp_path / "all", 0)
    assert done.returncode == 0, done.stderr
    total = int(done.stdout)
    for at in range(3, total + 1, max(1, total // 8)):
        out = tmp_path / f"out{at}"
        if at % 2:
            merge_directories(halves[:1], out, low_water=0)
        assert merging(halves, out, at).returncode == -signal.SIGKILL
        merge_directories(halves, out, low_water=0)
        assert exported(out) == whole


def test_a_session_that_was_going_on_is_the_same_when_it_has_ended(tmp_path: Path) -> None:
    with writing(tmp_path / "source") as store:
        begin(store)
        number = store.begin_session(8)
        merge_directories([tmp_path / "source"], tmp_path / "all", low_water=0, partial=True)
        shutil.copytree(tmp_path / "all", tmp_path / "before")
        store.end_session(number, 2.0, 4)
    for name in ("source", "source", "before"):
        merge_directories([tmp_path / name], tmp_path / "all", low_water=0)
    with Trials(tmp_path / "all") as trials, Trials(tmp_path / "source") as source:
        assert trials.sessions() == source.sessions()
        assert trials.rate() == 2.0


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_tokens_survive_merging_salvaging_and_export(tmp_path: Path, form: str) -> None:
    """Shards are copied by SQLite, a run with other numbers row by row."""
    for index in (1, 2):
        stored_shard(tmp_path / f"shard{index}", index, 2)
    whole = stored_shard(tmp_path / "whole")
    merge_directories([tmp_path / "shard1", tmp_path / "shard2"], tmp_path / "copied", low_water=0)
    with writing(tmp_path / "read") as store:
        begin(store, [problem(9)], task="other")
    merge_directories([whole], tmp_path / "read", low_water=0)
    salvage_store(whole, tmp_path / "saved")
    with Trials(whole) as trials:
        wanted = {
            (row.problem, row.trial): (row.reasoning_tokens, row.cached_tokens)
            for row in trials.trials(trials.run())
        }
        assert set(wanted.values()) == {(2, None), (2, 0), (2, 3)}
        export_trials(trials, trials.runs(), form, tmp_path / f"rows.{form}")
    done = command("import", tmp_path / f"rows.{form}", "-o", tmp_path / "imported")
    assert done.code == 0, done.err
    for name in ("copied", "read", "saved", "imported"):
        with Trials(tmp_path / name) as trials:
            run = next(run for run in trials.runs() if run.task == TASK)
            found = {(row.problem, row.trial): (row.reasoning_tokens, row.cached_tokens)
                     for row in trials.trials(run)}  # fmt: skip
            assert found == wanted
            assert trials.reasoning_tokens(run.number) == 60
            cached = sum(cached or 0 for _, cached in wanted.values())
            assert trials.cached_tokens(run.number) == cached
