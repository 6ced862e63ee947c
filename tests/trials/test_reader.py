"""Reading: outcomes against a count by hand, and what is said of what is not there."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.stats.data.outcomes import Outcomes
from passband.trials.file import schema
from passband.trials.file.schema import STORE_FILE, CorruptStore
from passband.trials.query.counts import unscored_reason
from passband.trials.reader import Trials
from passband.trials.rows import SCORE_STATUSES, STATUSES, ProblemRow, ScoreRow, TrialRow
from support.samples.stores import TASK, any_text, begin, filled, problem, read_back, writing

scored = st.sampled_from(["ok", "no_answer"])
unscored = st.sampled_from(["error", "timeout"])


def drawn_score(value: st.SearchStrategy[float]) -> st.SearchStrategy:
    """(value, status) as scorers give them, or None for a scorer that has not come by yet."""
    return st.none() | st.tuples(value, scored) | st.tuples(st.none(), unscored)


def drawn_trials(value: st.SearchStrategy[float]) -> st.SearchStrategy:
    """For each problem, trials as (status, score); only an answer has a score."""
    trial = st.one_of(
        st.tuples(st.just("ok"), drawn_score(value)),
        st.tuples(st.just("truncated"), drawn_score(value)),
        st.tuples(st.sampled_from(STATUSES[2:]), st.none()),
    )
    return st.lists(st.lists(trial, max_size=6), min_size=1, max_size=5).filter(any)


def by_hand(wins: list, keys: list[str]) -> dict[str, tuple[list[float], Counter[str]]]:
    """Scores, and reasons for none, of every problem, asked or not."""
    found: dict[str, tuple[list[float], Counter[str]]] = {key: ([], Counter()) for key in keys}
    for key, trials in zip(keys, wins, strict=True):
        for status, score in trials:
            values, reasons = found[key]
            if score is not None and score[0] is not None:
                values.append(score[0])
            elif status != "ok":
                reasons[status] += 1
            else:
                reasons["unscored" if score is None else f"scorer_{score[1]}"] += 1
    return found


def written(directory: Path, wins: list, keys: list[str], clusters: list[str | None]) -> Outcomes:
    rows = [
        ProblemRow(at, key, "{}", cluster)
        for at, (key, cluster) in enumerate(zip(keys, clusters, strict=True))
    ]
    with writing(directory) as store:
        run, (main, other) = begin(store, rows, scorers=[("main", "1"), ("other", "1")])
        for at, trials in enumerate(wins):
            for trial, (status, score) in enumerate(trials):
                scores = [ScoreRow(other, 0.25)]  # another scorer must not matter
                if score is not None:
                    scores.append(ScoreRow(main, *score))
                store.append(run, [TrialRow(at, trial, status, "x", scores=scores)])
    with Trials(directory) as trials:
        return trials.outcomes(trials.run(TASK))


def check(folder: Path, wins: list, keys: list[str], clusters: list[str | None]) -> Outcomes:
    found = written(folder / str(len(list(folder.iterdir()))), wins, keys, clusters)
    expected = by_hand(wins, keys)
    assert list(found.problems) == list(expected)
    assert found.trials.tolist() == [len(values) for values, _ in expected.values()]
    reasons = sorted({name for _, counts in expected.values() for name in counts})
    assert sorted(found.unscored) == reasons
    for name in reasons:
        counts = [counter[name] for _, counter in expected.values()]
        assert found.unscored[name].tolist() == counts
    everything = [value for values, _ in expected.values() for value in values]
    if all(value in (0, 1) for value in everything):
        assert found.is_binary
        assert found.successes is not None
        assert found.successes.tolist() == [sum(values) for values, _ in expected.values()]
    else:
        assert found.graded is not None
        assert found.graded.values.tolist() == everything
    if None in clusters:
        assert found.clusters is None
    else:
        assert found.clusters is not None
        assert list(found.clusters) == clusters
    return found


@given(drawn_trials(st.sampled_from([0.0, 1.0])))
def test_binary_outcomes_are_what_the_rows_say(tmp_path: Path, wins: list) -> None:
    assert check(tmp_path, wins, [f"p{at}" for at in range(len(wins))], [None] * len(wins))


@given(drawn_trials(st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda value: value + 0.0)))
def test_graded_outcomes_are_what_the_rows_say(tmp_path: Path, wins: list) -> None:
    check(tmp_path, wins, [f"p{at}" for at in range(len(wins))], [None] * len(wins))


names = st.sampled_from(["1", "1.0", "01", "nan", "NA", "None", "true", " a", "a", "é", "-"])


@given(st.data(), st.booleans())
def test_any_name_of_a_problem_or_a_cluster_will_do(
    tmp_path: Path, data: st.DataObject, graded: bool
) -> None:
    value = 0.5 if graded else 1.0
    name = (names | any_text).filter(lambda text: text.strip())
    keys = data.draw(st.lists(name, min_size=1, max_size=4, unique=True))
    clusters = data.draw(st.lists(st.none() | name, min_size=len(keys), max_size=len(keys)))
    wins = [[("ok", (value, "ok")), ("refused", None)] for _ in keys]
    check(tmp_path, wins, keys, clusters)


def test_every_reason_has_a_name() -> None:
    for status in range(1, len(STATUSES)):
        assert unscored_reason(status, None) == STATUSES[status]
    assert unscored_reason(0, None) == "unscored"
    assert unscored_reason(0, SCORE_STATUSES.index("timeout")) == "scorer_timeout"


def test_another_scorer_can_be_asked_for(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, (one, two) = begin(store, [problem(0)], scorers=[("one", "1"), ("two", "1")])
        scores = [ScoreRow(one, 0.0), ScoreRow(two, 1.0)]
        store.append(run, [TrialRow(0, 0, "ok", "x", scores=scores)])
    with Trials(tmp_path) as trials:
        found = trials.run(TASK)
        assert trials.outcomes(found).successes.tolist() == [0]
        assert trials.outcomes(found, found.scorer("two")).successes.tolist() == [1]
        assert trials.score_sums(two) == [(0, 1, 1.0)]
        with pytest.raises(InvalidInput, match=r"no scorer named 'twoo'\. Did you mean 'two'\?"):
            found.scorer("twoo")
        with pytest.raises(InvalidInput, match=r"no scorer named 'x'\. It has one, two\."):
            found.scorer("x")


def test_a_task_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    filled(tmp_path, [[1]])
    with Trials(tmp_path) as trials:
        with pytest.raises(InvalidInput, match=r"has no task named 'sum'\. Did you mean 'sums'"):
            trials.run("sum")
        with pytest.raises(InvalidInput, match=r"has no task named 'xyz'\. It has sums\."):
            trials.run("xyz")


def test_counts_of_a_run(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store)
        with Trials(tmp_path) as trials:
            assert trials.rate() is None
            assert trials.tokens(run) == (0, 0)
            assert trials.recorded(run) == {}
        rows = [
            TrialRow(0, 0, "ok", "a", None, 5, 10, 100, 1, scores=[ScoreRow(scorer, 1.0)]),
            TrialRow(0, 3, "truncated", "b", None, 5, None, 300, 2),
            TrialRow(2, 0, "gave_up", attempts=5),
        ]
        store.append(run, rows)
    with Trials(tmp_path) as trials:
        assert trials.recorded(run) == {0: 0b1001, 2: 0b1}
        assert trials.statuses(run) == {"ok": 1, "truncated": 1, "gave_up": 1}
        assert trials.tokens(run) == (10, 10)
        assert trials.retried(run) == 2
        assert trials.score_statuses(scorer) == {"ok": 1}
        assert trials.score_sums(scorer) == [(0, 1, 1.0)]
        assert list(trials.trials(trials.run(TASK), unscored_by=scorer)) == rows[1:]


# -- damage that opening does not find -------------------------------------------------------


def test_damage_in_a_large_file_is_told_when_it_is_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = filled(tmp_path, [[1, 0] * 100] * 20)
    path = directory / STORE_FILE
    data = bytearray(path.read_bytes())
    middle = len(data) // 4096 // 2 * 4096
    data[middle : middle + 3 * 4096] = b"\xaa" * (3 * 4096)
    path.write_bytes(data)
    monkeypatch.setattr(schema, "_CHECKED_BYTES", 0)
    with pytest.raises(CorruptStore, match="salvage"):
        read_back(directory)


def test_a_text_that_cannot_be_decoded_is_damage(tmp_path: Path) -> None:
    directory = filled(tmp_path, [[1]])
    for change in ("text=x'ff'", "codec=1", "codec=9"):
        with closing(sqlite3.connect(directory / STORE_FILE, isolation_level=None)) as connection:
            connection.execute(f"UPDATE body SET {change}")
        what = "a completion is not what was written: trial 0 of problem 'p0' of sums"
        with pytest.raises(CorruptStore, match=what):
            read_back(directory)
