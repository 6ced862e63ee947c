"""Findings on runs: every number as the summary has it, and nothing where data do not allow it."""

from pathlib import Path

from passband.summary.findings.findings import Findings, ReportRequest, source_findings
from passband.summary.from_sources import summarize
from passband.trials.reader import Trials
from passband.trials.rows import ScoreRow, TrialRow
from support.samples.stores import begin, filled, problem, writing


def findings(directory: Path, request: ReportRequest | None = None) -> Findings:
    with Trials(directory) as trials:
        (found,) = source_findings(trials, request).runs
    return found


def test_numbers_are_those_of_the_summary(tmp_path: Path) -> None:
    run = filled(tmp_path / "run", [[1, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0]] * 5)
    found = findings(run)
    summary = summarize(run)
    assert found.headline is not None
    assert found.headline.estimate == summary.estimate("pass@1")
    inner = summarize(run, over="trials")
    assert found.inner["pass@4"] == inner.estimate("pass@4")
    assert [tries.points[-1].value for tries in found.tries] == [
        summary.estimate("pass@4").value,
        summary.estimate("pass^4").value,
    ]
    assert found.strip is not None
    assert (found.strip.always, found.strip.sometimes, found.strip.never) == (5, 10, 5)
    assert found.strip.marks[5] == "1101"
    assert found.uncertainty is not None
    assert [one.what for one in found.uncertainty.purchases] == ["now", "trials", "problems"]


def test_a_problem_without_a_second_trial_has_no_curve(tmp_path: Path) -> None:
    found = findings(filled(tmp_path / "run", [[1], [0], [1]]))
    assert found.tries == ()
    assert found.strip is not None


def test_graded_scores_have_no_strip_and_the_best_of_k(tmp_path: Path) -> None:
    found = findings(filled(tmp_path / "run", [[0.5, 0.25], [1, 0.75], [0, 0.1]]))
    assert found.strip is None
    assert [tries.metric for tries in found.tries] == ["max@*"]
    assert [one.problem.key for one in found.transcripts.problems] == ["p1", "p0", "p2"]


def test_texts_stay_within_the_bytes_that_are_asked_for(tmp_path: Path) -> None:
    run = filled(tmp_path / "run", [[1, 0] * 8] * 40)
    few = findings(run, ReportRequest(transcripts=4_000)).transcripts
    assert few.is_sampled
    assert 1 <= len(few.problems) < 40
    assert findings(run, ReportRequest(transcripts=0)).transcripts.problems == ()
    assert not findings(run).transcripts.is_sampled


def test_problems_that_are_not_asked_yet_are_counted_and_not_missed(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, (scorer,) = begin(store, [problem(at) for at in range(10)])
        score = ScoreRow(scorer, 1.0, "ok", "1", "last_number")
        trials = [TrialRow(at, n, "ok", "1", scores=[score]) for at in range(6) for n in range(4)]
        store.append(run, trials)
    found = findings(tmp_path / "run")
    assert found.progress.each == (0, 4)
    assert found.transcripts.damaged == 0
    assert found.transcripts.n_problems == 6
    assert [tries.points[-1].k for tries in found.tries] == [4, 4]
