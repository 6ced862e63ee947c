"""Records of every kind of source: the same trials, scores and statuses as its outcomes."""

from pathlib import Path

import pytest

from passband import InvalidInput, estimate, read
from passband.readers.options import Options
from passband.summary.eva.run import runs_of
from passband.summary.eva.summarize import metrics_summaries
from support.samples.log_samples import SAMPLES


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_records_are_the_trials_of_the_outcomes(name: str, tmp_path: Path) -> None:
    path = SAMPLES[name].write(tmp_path)
    expected = [group.outcomes for group in read(path).groups]
    runs = runs_of(path)
    assert len(runs) == len(expected)
    assert len({run.name for run in runs}) == len(runs)
    for run, outcomes in zip(runs, expected, strict=True):
        made = run.outcomes(run.column(run.metrics[0]))
        assert list(made.problems) == list(outcomes.problems)
        assert made.trials.tolist() == outcomes.trials.tolist()
        assert made.n_unscored == outcomes.n_unscored
        assert made.is_binary == outcomes.is_binary
        if outcomes.is_binary:
            successes = outcomes.required_successes()
            assert made.required_successes().tolist() == successes.tolist()
        else:
            graded = outcomes.required_graded().values
            assert made.required_graded().values.tolist() == graded.tolist()


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_every_log_is_summarized(name: str, tmp_path: Path) -> None:
    path = SAMPLES[name].write(tmp_path)
    for summary, group in zip(metrics_summaries(path), read(path).groups, strict=True):
        main = next(iter(summary.per_metric.values()))
        try:
            mean = estimate(group.outcomes, "avg")
        except InvalidInput:
            assert main.mean is None
        else:
            assert (main.mean, main.mean_ci_n_scenarios) == (mean.value, mean.n_problems)


def test_columns_are_for_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("q,right\na,1\nb,0\n")
    (run,) = runs_of(path, Options.of({"problem": "q", "score": "right"}, ()))
    assert (run.metrics, run.scenarios) == (("right",), ("a", "b"))
    log = SAMPLES["human-eval"].write(tmp_path)
    with pytest.raises(InvalidInput, match=r"does not apply to a log \(human-eval\)"):
        runs_of(log, Options.of({"score": "passed"}, ()))
