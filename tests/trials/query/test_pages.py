"""Pages of trials: the same as all trials in a row, from any place, in both directions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.stats.data.scale import UNIT, Scale
from passband.trials.query.filters import STATUS_WORDS, TrialFilter
from passband.trials.query.pages import TrialId
from passband.trials.reader import Trials
from passband.trials.rows import STATUSES, ScoreRow, TrialRow
from support.fuzz.properties import one_in
from support.samples.stores import begin, filled, problem, writing

_scores = st.sampled_from([None, (1.0, "ok"), (0.0, "ok"), (0.5, "ok"), (0.0, "no_answer"),
                           (None, "error"), (None, "timeout")])  # fmt: skip
_cells = st.none() | st.tuples(st.sampled_from(STATUSES), _scores)
_choices = st.builds(
    TrialFilter,
    problems=st.sampled_from([(), (1,), (0, 3)]),
    trials=st.sampled_from([(), (0, 2)]),
    statuses=st.lists(st.sampled_from(STATUS_WORDS), max_size=2).map(tuple),
    right=st.sampled_from([None, True, False]),
    scorer=st.just(1),
    scale=st.sampled_from([UNIT, Scale(0.0, 1.0, lower_is_better=True)]),
)


def written(directory: Path, grid: list[list[tuple[str, tuple[float | None, str] | None] | None]],
            places: list[int]) -> None:  # fmt: skip
    """Write a run whose problems have these trials, at these places in the data."""
    with writing(directory) as store:
        rows = [problem(at) for at in range(len(grid))]
        run, (scorer,) = begin(store, [rows[place] for place in places])
        store.append(run, [
            TrialRow(at, trial, cell[0], "x", scores=[] if cell[1] is None else  # type: ignore[arg-type]
                     [ScoreRow(scorer, cell[1][0], cell[1][1], "x", "r")])  # type: ignore[arg-type]
            for at, cells in enumerate(grid) for trial, cell in enumerate(cells) if cell
        ])  # fmt: skip


@one_in(4)
@given(
    grid=st.lists(st.lists(_cells, min_size=3, max_size=3), min_size=4, max_size=4),
    choices=st.lists(_choices, min_size=1, max_size=6),
    limit=st.integers(1, 4),
)
def test_pages_are_all_chosen_trials(
    tmp_path_factory: pytest.TempPathFactory, grid: list, choices: list[TrialFilter], limit: int
) -> None:
    directory = tmp_path_factory.mktemp("store") / "run"
    written(directory, grid, [2, 3, 0, 1])
    with Trials(directory) as trials:
        run = trials.run()
        for choice in choices:
            places = [TrialId(*place) for place in trials.chosen(run, choice).places()]
            walk = trials.walk(run, choice)
            assert paged(walk.after, limit, -1) == places
            assert paged(walk.before, limit, 0, backwards=True) == places
            assert walk.count() in (None, len(places))


def paged(step, limit: int, edge: int, *, backwards: bool = False) -> list[TrialId]:
    found: list[TrialId] = []
    place = None
    while some := step(place, limit):
        found = some + found if backwards else found + some
        place = some[edge]
    return found


def test_a_row_has_the_beginning_of_its_text(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        texts = ["short", "é" * 5_000, None]
        store.append(run, [TrialRow(0, at, "ok", text) for at, text in enumerate(texts)])
    with Trials(tmp_path) as trials:
        walk = trials.walk(trials.run(), TrialFilter())
        rows = [walk.row(TrialId(0, at), 10) for at in range(3)]
    assert [row.text for row in rows] == ["short", "é" * 10, None]


def test_what_was_counted_is_kept_until_another_process_writes(tmp_path: Path) -> None:
    filled(tmp_path, [[1, 0], [0, 1]])
    with Trials(tmp_path) as trials:
        trials.release()
        version = trials.renew()
        assert trials.trial_count(1) == 4
        counts = trials._counts
        trials.release()
        assert trials.renew() == version
        assert trials._counts is counts
        trials.release()
        with writing(tmp_path) as store:
            store.append(1, [TrialRow(0, 2, "ok", "x")])
        assert trials.renew() != version
        assert trials.statuses(1) == {"ok": 5}


def test_problems_are_read_again_only_when_they_are_others(tmp_path: Path) -> None:
    filled(tmp_path, [[1, 0], [0, 1]])
    with Trials(tmp_path) as trials:
        trials.release()
        trials.renew()
        places = trials._places(1)
        trials.release()
        with writing(tmp_path) as store:
            store.append(1, [TrialRow(0, 2, "ok", "x")])
        trials.renew()
        assert trials._places(1) is places
        trials.release()
        with writing(tmp_path) as store:
            store.add_problems(1, [problem(2)])
        trials.renew()
        assert list(trials.numbers(1)) == ["p0", "p1", "p2"]
