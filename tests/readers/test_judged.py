"""A judge's scores beside labels: from run directories, logs and tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from passband import InvalidInput, PassbandWarning
from passband.readers import read
from passband.readers.judged import Labels, is_judged, judge_of, judge_scores
from passband.readers.sources import outcomes_of
from passband.run.label.draw import DrawRequest, draw_sheet
from passband.run.label.enter import LabelRequest, enter_labels
from passband.trials.reader import Trials
from passband.trials.rows import ScorerEntry, ScoreRow
from support.runs.judged_runs import JUDGE, fill, judged_run
from support.samples.stores import call, writing

TABLE: dict[str, Any] = {
    "problem": ["a", "a", "b", "b"],
    "trial": [0, 1, 0, 1],
    "judge": [1, 0, 1, 1],
    "human": ["yes", "", "no", None],
    "remark": ["fine", "", "hm", ""],
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    truth = judged_run(tmp_path / "run", problems=12, trials=2)
    draw_sheet([tmp_path / "run"], tmp_path / "labels.csv", DrawRequest(10))
    fill(tmp_path / "labels.csv", truth)
    enter_labels([tmp_path / "run"], tmp_path / "labels.csv")
    return tmp_path / "run"


def test_verdicts_and_labels_of_a_run(run: Path) -> None:
    with Trials(run) as trials:
        record = trials.run()
        assert is_judged(record, record.scorer())
        found = judge_scores(trials, record, record.scorer())
    assert (found.judge, found.model, found.identity) == ("quality", "openai:gpt-4o", "quality 1")
    assert (found.judged.n_trials, found.n_labels, found.judged.design) == (24, 10, "spread")
    assert found.labels is not None
    assert set(found.labels.probabilities.values()) == {10 / 24}


@pytest.mark.parametrize("aggregate", ["mean", "majority"])
def test_votes_are_those_that_were_cast(tmp_path: Path, aggregate: str) -> None:
    spec = {**JUDGE, "votes": 2, "options": {"aggregate": aggregate}}
    judged_run(tmp_path / "run", problems=2, trials=2, spec=spec)
    votes = {(0, 0): (1.0, 0.5), (0, 1): (0.5, 0.5), (1, 0): (1.0, None)}
    with writing(tmp_path / "run") as store:
        store.add_calls(
            call(1, *place, 2 * number, value=value)
            for place, values in votes.items()
            for number, value in enumerate(values)
        )
    with Trials(tmp_path / "run") as trials:
        judged = judge_scores(trials, trials.run(), trials.run().scorer()).judged
    if aggregate == "majority":  # which is no mean of votes
        assert judged.votes is judged.vote_variance is None
        return
    assert judged.votes is not None
    assert judged.votes.tolist() == [2, 2, 1, 1]
    np.testing.assert_allclose(judged.vote_variance, [0.125, 0.0, np.nan, np.nan])


def test_labels_make_a_judge_of_the_scorer_that_they_were_drawn_for(tmp_path: Path) -> None:
    truth = judged_run(tmp_path / "run", spec=None)
    with Trials(tmp_path / "run") as trials:
        assert not is_judged(trials.run(), trials.run().scorer())
    draw_sheet([tmp_path / "run"], tmp_path / "labels.csv", DrawRequest(10))
    fill(tmp_path / "labels.csv", truth)
    enter_labels([tmp_path / "run"], tmp_path / "labels.csv")
    with Trials(tmp_path / "run") as trials:
        record = trials.run()
        assert is_judged(record, record.scorer())
        assert not is_judged(record, record.scorer("label"))


def test_labels_chosen_by_hand_are_apart(run: Path, tmp_path: Path) -> None:
    with Trials(run) as trials:
        drawn = judge_scores(trials, trials.run(), trials.run().scorer()).labels
    assert drawn is not None
    path = tmp_path / "mine.csv"
    path.write_text("problem,trial,label\n" + "".join(f"p{at},1,pass\n" for at in range(12)))
    enter_labels([run], path, LabelRequest(by_hand=True, replace=True))
    with Trials(run) as trials:
        found = judge_scores(trials, trials.run(), trials.run().scorer())
    assert found.labels is not None
    assert set(found.labels.values) == set(drawn.values)  # a drawn trial stays drawn
    assert found.labels.by_hand == 12 - sum(trial == 1 for _, trial in drawn.values)
    assert (found.n_labels, found.judged.design) == (10, "spread")


def test_only_labels_by_hand_correct_nothing(tmp_path: Path) -> None:
    judged_run(tmp_path / "run")
    path = tmp_path / "mine.csv"
    path.write_text("problem,trial,label\n" + "".join(f"p{at},1,pass\n" for at in range(12)))
    enter_labels([tmp_path / "run"], path, LabelRequest(by_hand=True))
    with Trials(tmp_path / "run") as trials:
        found = judge_scores(trials, trials.run(), trials.run().scorer())
    assert (found.n_labels, found.judged.n_labels, found.judged.design) == (0, 12, "chosen")


def test_another_scorer_may_be_the_truth(tmp_path: Path) -> None:
    truth = judged_run(tmp_path / "run", problems=12, trials=2)
    with writing(tmp_path / "run") as store:
        record = ScorerEntry("quality", "quality 1", JUDGE)
        _, exact = store.set_scorers(1, [record, ScorerEntry("exact", "exact 1", None)])
        store.add_scores(
            (int(key[1:]), trial, ScoreRow(exact, right, "ok", "42", "last_number"))
            for (key, trial), right in truth.items()
        )
    columns = {"judge": "quality", "label": "exact"}
    (group,) = read(tmp_path / "run", columns=columns).groups
    assert group.judged is not None
    assert group.judged.judged.is_fully_labelled
    assert group.judged.judged.design == "unknown"


def test_a_table_has_columns_of_both() -> None:
    (group,) = read(TABLE, columns={"judge": "judge", "label": "human"}).groups
    assert group.judged is not None
    assert (group.judged.judge, group.judged.n_labels) == ("judge", 2)
    assert group.judged.judged.design == "unknown"
    assert read(TABLE, columns={"score": "judge"}).groups[0].judged is None


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"judge": "judge", "label": "humann"}, "no column named 'humann'"),
        ({"judge": "judge", "label": "judge"}, "both the score and the label"),
        ({"judge": "judge", "score": "human"}, "name two columns"),
        ({"judge": "judge", "label": "remark"}, "column remark must hold numbers"),
    ],
)
def test_wrong_columns_are_named(columns: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(TABLE, columns=columns)


def test_an_empty_column_of_labels_is_refused() -> None:
    table = TABLE | {"human": [""] * 4}
    with pytest.raises(InvalidInput, match=r"column human .* is empty in every row"):
        read(table, columns={"judge": "judge", "label": "human"})


def test_percentages_need_a_threshold() -> None:
    table = TABLE | {"judge": [90, 20, 75, 40]}
    columns = {"judge": "judge", "label": "human"}
    with pytest.raises(InvalidInput, match="go from 20 to 90; say with --threshold"):
        read(table, columns=columns)
    (group,) = read(table, columns=columns, threshold=50).groups
    assert group.judged is not None
    assert group.judged.judged.verdict.tolist() == [1, 0, 1, 0]


def test_graded_labels_beside_graded_scores_are_welcome() -> None:
    found = judge_of({("a", 0): 3.0, ("b", 0): 1.0}, [Labels("x", {("a", 0): 4.0})], judge="j")
    assert found.judged.label.tolist()[0] == 4.0


def test_a_bare_number_of_a_judged_run_warns(run: Path) -> None:
    with pytest.warns(PassbandWarning, match="the verdicts of quality, a judge's"):
        outcomes_of(run)
