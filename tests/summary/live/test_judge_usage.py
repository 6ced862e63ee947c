"""What judges took is told by model."""

from pathlib import Path

from passband.score.judge.bias import canary_names
from passband.summary.live.judge_usage import judges_of
from passband.trials.reader import Trials
from passband.trials.rows import ScorerEntry
from support.runs.judged_runs import JUDGE, judged_run
from support.samples.stores import call, writing


def test_a_judge_without_a_name_of_its_own_is_called_by_its_model(tmp_path: Path) -> None:
    judged_run(tmp_path, problems=2)
    spec = {**JUDGE, "name": "judge", "model": "openai:large"}
    with writing(tmp_path) as store:
        (judge,) = store.set_scorers(1, [ScorerEntry("judge", "2", spec)])
        null = store.put_scorer(1, ScorerEntry(*canary_names("judge", "2")))
        store.add_calls([call(1, 1, 0), call(judge, 1, 0), call(null, 1, 0)])
    with Trials(tmp_path) as trials:
        titles = [usage.title for usage in judges_of(trials, trials.run())]
    assert sorted(titles) == ["openai:large", "openai:large (null answers)", "quality"]
