"""The values of a report on several models are those of `compare` and `compare_all`."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from passband import InvalidInput, compare, compare_all
from passband.readers import read
from passband.stats.decision.ranking.simultaneous import holm
from passband.summary.compare.models import ComparisonOptions
from passband.summary.findings.scan import RIGHT
from passband.summary.findings.several import ComparedFindings, compared_findings
from support.samples.inspect_logs import sample, write_eval
from support.samples.stores import filled

OPTIONS = ComparisonOptions()


def wins(seed: int, rate: float, trials: int = 4, problems: int = 30) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return (rng.random((problems, trials)) < rate).astype(float).tolist()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three run directories; the first two have one more task in common."""
    folder = tmp_path_factory.mktemp("several")
    made = [
        filled(folder / name, wins(seed, rate), model=name)
        for seed, (name, rate) in enumerate({"low": 0.3, "high": 0.7, "other": 0.5}.items())
    ]
    for directory, rate in zip(made[:2], (0.5, 0.6), strict=True):
        filled(directory, wins(int(10 * rate), rate), task="zeros", model=directory.name)
    return made


@pytest.fixture(scope="module")
def pair(runs: list[Path]) -> ComparedFindings:
    return compared_findings(runs[:2], OPTIONS)


def test_two_models_have_differences_for_both_targets(
    runs: list[Path], pair: ComparedFindings
) -> None:
    assert pair.pair == ("low", "high")
    sums, zeros = pair.tasks
    assert [task.task for task in pair.tasks] == ["sums", "zeros"]
    assert [one.metric for one in sums.metrics] == ["pass@1", "pass@4", "pass^4"]
    a, b = (read(path, tasks=["sums"]).groups[0].outcomes for path in runs[:2])
    alone = compare(a, b, "pass@1", settle=True)
    adjusted = sums.first.comparison
    assert adjusted is not None
    assert replace(adjusted, p_adjusted=None, family=1) == alone
    assert sums.first.again is not None
    assert sums.first.again.p_value == compare(a, b, "pass@1", over="trials").p_value
    assert sums.first.again.family == adjusted.family == 6
    both = {"low": a, "high": b}
    assert sums.first.ranking == compare_all(both, "pass@1")
    assert sums.first.repeated == compare_all(both, "pass@1", over="trials")
    assert zeros.changes is not None


def test_p_values_are_adjusted_for_all_comparisons_of_the_report(pair: ComparedFindings) -> None:
    rows = [one for task in pair.tasks for one in task.metrics]
    found = [one.comparison for one in rows if one.comparison]
    plain = [one.p_value for one in found if one.p_value is not None]
    assert [one.p_adjusted for one in found] == holm(plain)
    assert pair.n_comparisons == 6
    assert (
        pair.verdicts("problems").count("better") == 1
    )  # the first metric of sums; that of zeros is undecided
    assert pair.verdicts("problems").count("worse") == 0


def test_changed_problems_come_with_texts_and_the_trials_of_both(pair: ComparedFindings) -> None:
    changes = pair.tasks[0].changes
    assert changes is not None
    for one in changes.most:
        assert one.problem_text is not None
        assert one.problem_text.messages[0].text == f"Question {one.problem[1:]}?"
        for side, stack in zip(one.asked, (one.a, one.b), strict=True):
            assert side is not None
            assert sum(answer.mark == RIGHT for answer in side.answers) == stack.right
            assert len(side.answers) == len(side.texts) == stack.trials


def test_texts_stop_at_their_number_of_bytes(runs: list[Path]) -> None:
    few, none = (
        compared_findings(runs[:2], OPTIONS, transcripts=count).tasks[0].changes for count in (8, 0)
    )
    assert few is not None
    assert none is not None
    shown = [side for one in few.most for side in one.asked if side is not None]
    assert {len(side.texts) for side in shown} == {1}
    assert {len(side.answers) for side in shown} == {4}
    assert {one.asked for one in none.most} == {(None, None)}


def test_three_models_are_ranked_where_all_were_asked(runs: list[Path]) -> None:
    found = compared_findings(runs, OPTIONS)
    sums, zeros = found.tasks
    assert found.pair is None
    assert found.models == ("low", "high", "other")
    models = {path.name: read(path, tasks=["sums"]).groups[0].outcomes for path in runs}
    assert sums.first.ranking.family == 3
    alone = compare_all(models, "pass@1", family=3)
    assert sums.first.ranking.standings == alone.standings
    assert [one.low for one in sums.first.ranking.pairs] == [one.low for one in alone.pairs]
    assert [one.p_holm for one in sums.first.ranking.pairs] > [one.p_holm for one in alone.pairs]
    assert sums.first.comparison is None
    assert sums.changes is None
    assert zeros.models == ("low", "high")
    assert zeros.first.comparison is not None


def test_counts_are_of_all_trials_of_a_model(pair: ComparedFindings) -> None:
    low, high = pair.tasks[0].asked
    assert (low.model, low.n_problems, low.trials, low.n_trials) == ("low", 30, (4, 4), 120)
    assert low.unscored == high.unscored == {}


def test_graded_scores_have_means(tmp_path: Path) -> None:
    a = filled(tmp_path / "a", [[3.0, 5.0], [1.0, 2.0], [7.0, 9.0]])
    b = filled(tmp_path / "b", [[4.0, 6.0], [1.0, 4.0], [8.0, 8.0]])
    (task,) = compared_findings([a, b], OPTIONS).tasks
    assert [one.metric for one in task.metrics] == ["avg", "max@2"]
    assert not task.is_share


def test_a_log_is_compared_with_a_run(tmp_path: Path) -> None:
    log = write_eval(tmp_path / "log.eval", [sample(f"p{at}", 1, "C") for at in range(3)])
    run = filled(tmp_path / "run", [[1.0], [0.0], [0.0]])
    (task,) = compared_findings([log, run], OPTIONS).tasks
    assert task.changes is not None
    assert (task.changes.worsened, task.changes.improved) == (2, 0)
    assert all(None not in one.asked for one in task.changes.most)


def test_a_table_without_texts_is_compared_too(tmp_path: Path) -> None:
    paths = []
    for name, score in (("a", 0), ("b", 1)):
        path = tmp_path / f"{name}.csv"
        path.write_text("problem,score\n" + "".join(f"p{at},{score}\n" for at in range(4)))
        paths.append(path)
    (task,) = compared_findings(paths, OPTIONS).tasks
    assert task.changes is not None
    assert task.changes.improved == 4


def test_bad_input_is_refused_as_by_compare(tmp_path: Path, runs: list[Path]) -> None:
    with pytest.raises(InvalidInput, match="cannot be compared with itself"):
        compared_findings([runs[0], runs[0]], OPTIONS)
    with pytest.raises(InvalidInput, match="a margin or another test is for two models"):
        compared_findings(runs, ComparisonOptions(margin=0.1), tasks=["sums"])
    other = tmp_path / "other.csv"
    other.write_text("problem,score\nx,1\ny,0\n")
    with pytest.raises(InvalidInput, match="no problem is on both sides"):
        compared_findings([runs[2], other], OPTIONS)
