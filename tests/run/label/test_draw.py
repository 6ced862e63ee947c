"""Drawing: reproducible, blind, and labelled trials stay."""

from pathlib import Path

import pytest

from passband import InvalidInput
from passband.run.label.draw import DrawRequest, draw_sheet
from passband.run.label.enter import enter_labels
from passband.run.label.sheet import SheetRow, read_sheet
from passband.trials.reader import Trials
from support.runs.judged_runs import fill, judged_run


def rows(path: Path) -> list[SheetRow]:
    return list(read_sheet(path))


def places(path: Path) -> list[tuple[str, int]]:
    return [(row.ticket.problem, row.ticket.trial) for row in rows(path) if row.ticket is not None]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    judged_run(tmp_path / "run")
    return tmp_path / "run"


def test_the_same_seed_draws_the_same(run: Path, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        draw_sheet([run], tmp_path / name, DrawRequest(20, seed=5))
    draw_sheet([run], tmp_path / "c.csv", DrawRequest(20, seed=6))
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert places(tmp_path / "a.csv") != places(tmp_path / "c.csv")


def test_spread_takes_one_trial_of_each_problem_first(run: Path, tmp_path: Path) -> None:
    drawn = draw_sheet([run], tmp_path / "a.csv", DrawRequest(60))
    assert (drawn.rows, drawn.trials, drawn.labelled) == (60, 160, 0)
    found = places(tmp_path / "a.csv")
    assert len({problem for problem, _ in found[:40]}) == 40
    assert {row.ticket.probability for row in rows(tmp_path / "a.csv") if row.ticket} == {0.375}


def test_more_than_there_are_is_all(run: Path, tmp_path: Path) -> None:
    assert draw_sheet([run], tmp_path / "a.csv", DrawRequest(1000)).rows == 160


def test_drawing_again_keeps_what_is_labelled_in_the_file(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    draw_sheet([run], path, DrawRequest(20))
    before = path.read_bytes()
    draw_sheet([run], path, DrawRequest(20))
    assert path.read_bytes() == before
    first = places(path)
    fill(path, judged_run(tmp_path / "twin"), most=5)
    assert draw_sheet([run], path, DrawRequest(30)).labelled == 5
    assert places(path)[:20] == first
    assert [bool(row.label) for row in rows(path)] == [True] * 5 + [False] * 25


def test_drawing_again_keeps_what_is_labelled_in_the_run(run: Path, tmp_path: Path) -> None:
    truth = judged_run(tmp_path / "twin")
    draw_sheet([run], tmp_path / "a.csv", DrawRequest(20))
    fill(tmp_path / "a.csv", truth)
    enter_labels([run], tmp_path / "a.csv")
    again = draw_sheet([run], tmp_path / "b.csv", DrawRequest(30))
    assert (again.rows, again.labelled) == (30, 20)
    fill(tmp_path / "b.csv", truth)
    enter_labels([run], tmp_path / "b.csv")
    with Trials(run) as trials:
        record = trials.run().scorer("label")
        chances = {score.detail for *_, score in trials.scores(record.number)}
    assert chances == {f"p={30 / 160!r}"}


def test_another_draw_is_not_added(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    draw_sheet([run], path, DrawRequest(20, seed=5))
    for other in (DrawRequest(30, seed=6), DrawRequest(30, design="trial")):
        with pytest.raises(InvalidInput, match="another draw cannot be added"):
            draw_sheet([run], path, other)


def test_two_models_get_the_same_problems_and_are_mixed(run: Path, tmp_path: Path) -> None:
    judged_run(tmp_path / "other", seed=1, model="other")
    drawn = draw_sheet([run, tmp_path / "other"], tmp_path / "a.csv", DrawRequest(10))
    tickets = [row.ticket for row in rows(tmp_path / "a.csv") if row.ticket]
    models = [ticket.run for ticket in tickets]
    own, others = (
        {t.problem for t in tickets if t.run == model} for model in dict.fromkeys(models)
    )
    assert (drawn.rows, own == others) == (20, True)
    assert len(set(models[:2])) == 2
    assert any(models[at] != models[0] for at in range(0, 20, 2))  # no fixed order of the two


def test_files_of_others_are_not_overwritten(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("problem,trial,label\np1,0,pass\n")
    with pytest.raises(InvalidInput, match="did not write it"):
        draw_sheet([run], path)
    judged_run(tmp_path / "other", model="other")
    path.unlink()
    draw_sheet([tmp_path / "other"], path)
    with pytest.raises(InvalidInput, match="another run"):
        draw_sheet([run], path)


def test_what_is_drawn_for_must_be_a_scorer(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no scorer named 'qualty'"):
        draw_sheet([run], tmp_path / "a.csv", DrawRequest(scorer="qualty"))
