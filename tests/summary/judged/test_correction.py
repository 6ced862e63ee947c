"""Lines of a judge: named as its own without labels, corrected with them."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from passband.errors import InvalidInput, UnknownName
from passband.readers.judged import Labels, judge_of
from passband.run.label.draw import DrawRequest, draw_sheet
from passband.run.label.enter import LabelRequest, enter_labels
from passband.stats.judged import (
    Judged,
    Prices,
    corrected,
    draw_labels,
)
from passband.summary.from_sources import summarize
from passband.summary.json import schema
from passband.summary.judged.correction import one_sided, shared_name
from passband.summary.judged.prices import parse_prices, read_prices
from passband.summary.judged.result import JudgeResult
from passband.summary.summary import Summary
from support.runs.judged_runs import JUDGE, Truth, fill, judged_run


def codes(summary: Summary, label: str) -> list[str]:
    return [note.code for note in summary.estimate(label).notes]


def labelled(
    directory: Path, count: int, *, most: int | None = None, **options: Any
) -> tuple[Path, Truth]:
    """Make a judged run with some labels."""
    truth = judged_run(directory, problems=60, **options)
    path = directory.with_suffix(".csv")
    draw_sheet([directory], path, DrawRequest(count))
    fill(path, truth, most=most)
    enter_labels([directory], path)
    return directory, truth


def judge(summary: Summary) -> JudgeResult:
    found = summary.groups[0].judge
    assert found is not None
    return found


# -- without labels ------------------------------------------------------------------------


def test_without_labels_every_line_is_called_the_judges(tmp_path: Path) -> None:
    judged_run(tmp_path / "run")
    summary = summarize(tmp_path / "run")
    names = ("pass@1", "pass@2", "pass@4", "pass^2", "pass^4")
    labels = {f"{name} (judged by quality)" for name in names}
    assert {line.metric for line in summary.groups[0].lines} == labels
    for _, line in summary.lines():
        assert line.estimate is not None
        assert line.estimate.notes[0].code == "judge-only"
    assert (judge(summary).n_labels, judge(summary).is_corrected) == (0, False)
    with pytest.raises(UnknownName):
        summary.estimate("pass@1")


def test_a_scorer_that_is_no_judge_is_as_before(tmp_path: Path) -> None:
    judged_run(tmp_path / "run", spec=None)
    summary = summarize(tmp_path / "run", "pass@1")
    assert summary.estimate("pass@1").notes == ()
    assert summary.groups[0].judge is None
    assert json.loads(summary.to_json())["version"] == 1
    named = summarize(tmp_path / "run", "pass@1", judge="quality")
    assert codes(named, "pass@1 (judged by quality)")[0] == "judge-only"


def test_few_labels_are_said_to_be_too_few(tmp_path: Path) -> None:
    run, _ = labelled(tmp_path / "run", 6)
    summary = summarize(run, "pass@1")
    (note, *_) = summary.estimate("pass@1 (judged by quality)").notes
    assert note.code == "judge-uncorrected"
    assert "6 labels: at least 10 are needed" in note.text


# -- with labels ---------------------------------------------------------------------------


def test_labels_correct_a_lenient_judge(tmp_path: Path) -> None:
    run, truth = labelled(tmp_path / "run", 60)
    mean = float(np.mean(list(truth.values())))
    alone = summarize(run, "pass@1", score="label")
    estimate = (summary := summarize(run, "pass@1")).estimate("pass@1")
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < mean < estimate.high
    own = judge(summary).pass_rate
    assert own is not None
    assert not estimate.low < own < estimate.high
    assert codes(summary, "pass@1")[0] == "corrected-by-labels"
    plain = alone.estimate("pass@1")
    assert plain.low is not None
    assert plain.high is not None
    assert estimate.high - estimate.low < plain.high - plain.low


def test_the_judge_is_described(tmp_path: Path) -> None:
    run, _truth = labelled(tmp_path / "run", 60)
    found = judge(summarize(run))
    assert (found.labels, found.n_labels, found.n_labelled_problems) == ("label", 60, 60)
    assert (found.design, found.n_drawn, found.is_corrected) == ("spread", 60, True)
    assert found.agreement is not None
    assert found.split is not None
    right = found.agreement.sensitivity
    assert right.of is not None
    assert found.agreement.specificity.of is not None
    assert right.of + found.agreement.specificity.of == 60
    shares = (found.split.share_between, found.split.share_within, found.split.share_judge)
    assert sum(share or 0 for share in shares) == pytest.approx(1.0, abs=0.02)


def test_metrics_of_several_tries_have_a_reason(tmp_path: Path) -> None:
    run, _ = labelled(tmp_path / "run", 30)
    lines = {line.metric: line for line in summarize(run).groups[0].lines}
    assert lines["pass@1"].estimate is not None
    assert lines["pass@4"].estimate is None
    assert "needs 4 labelled trials" in str(lines["pass@4"].reason)


def test_every_trial_labelled_is_the_labels_own(tmp_path: Path) -> None:
    run, truth = labelled(tmp_path / "run", 240)
    estimate = summarize(run, "pass@1").estimate("pass@1")
    plain = summarize(run, "pass@1", score="label").estimate("pass@1")
    assert estimate.value == pytest.approx(np.mean(list(truth.values())))
    assert (estimate.low, estimate.high) == (plain.low, plain.high)
    assert "fully-labelled" in [note.code for note in estimate.notes]


def test_verdicts_that_failed_are_bracketed(tmp_path: Path) -> None:
    run, truth = labelled(tmp_path / "run", 80, failed=0.2)
    found = judge(summarize(run, "pass@1"))
    assert found.n_failed > 20
    assert found.bracket is not None
    low, high = found.bracket
    assert high - low == pytest.approx(found.n_failed / 240)
    estimate = summarize(run, "pass@1").estimate("pass@1")
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < np.mean(list(truth.values())) < estimate.high


def test_rows_without_a_label_are_counted(tmp_path: Path) -> None:
    run, _ = labelled(tmp_path / "run", 60, most=40)
    notes = {note.code: note.text for note in summarize(run).groups[0].notes}
    assert notes["labels-missing"].startswith("20 of 60 trials that were drawn have no label")
    assert "every label says" not in notes["labels-missing"]


def test_a_file_labelled_in_part_has_the_probabilities_of_that_part() -> None:
    counts = [1] * 50 + [4] * 50
    places = [(f"p{at:02}", trial) for at, count in enumerate(counts) for trial in range(count)]
    problem, trial = zip(*places, strict=True)
    drawn = draw_labels(problem, trial, 150, seed="half")  # 2 of every problem with 4 trials
    first = drawn.rows[:80]  # 1 of each of 80 problems
    right = {places[row]: float(places[row][0] < "p50") for row in first}
    chances = {place: 1.0 if place[0] < "p50" else 0.5 for place in right}
    labels = Labels("label", right, "spread", chances, drawn=150, frame=250)
    scores = judge_of(dict.fromkeys(places, 1.0), [labels], judge="quality")
    share = sum(right.values()) / 80
    assert corrected(scores.judged).value == pytest.approx(share)  # not 2 to 1 for single trials
    whole = dataclasses.replace(labels, drawn=80)
    assert judge_of(dict.fromkeys(places, 1.0), [whole], judge="q").judged.probability is not None


def test_a_file_in_which_only_failures_are_labelled_is_doubted(tmp_path: Path) -> None:
    truth = judged_run(tmp_path / "run", problems=60)
    path = tmp_path / "labels.csv"
    draw_sheet([tmp_path / "run"], path, DrawRequest(60))
    fill(path, truth)
    path.write_text(path.read_text().replace(",pass,", ",,"))
    enter_labels([tmp_path / "run"], path)
    notes = {note.code: note.text for note in summarize(tmp_path / "run").groups[0].notes}
    assert "every label says fail, and if only such" in notes["labels-missing"]


def test_labels_by_hand_correct_nothing(tmp_path: Path) -> None:
    judged_run(tmp_path / "run")
    path = tmp_path / "mine.csv"
    path.write_text("problem,trial,label\n" + "".join(f"p{at},1,pass\n" for at in range(20)))
    enter_labels([tmp_path / "run"], path, LabelRequest(by_hand=True))
    (note, *_) = summarize(tmp_path / "run", "pass@1").estimate("pass@1 (judged by quality)").notes
    assert (note.code, "20 were chosen by hand" in note.text) == ("judge-only", True)


def test_what_has_no_corrected_counterpart_is_the_judges(tmp_path: Path) -> None:
    run, _ = labelled(tmp_path / "run", 30)
    for options in ({"method": "bca"}, {"population": 500}, {"policy": "fail"}):
        summary = summarize(run, "pass@1", **options)
        assert codes(summary, "pass@1 (judged by quality)")[0] == "judge-uncorrected"


def test_two_labellers_are_compared(tmp_path: Path) -> None:
    truth = judged_run(tmp_path / "run")
    for name, wrong in (("ann", 0), ("bob", 4)):
        path = tmp_path / f"{name}.csv"
        draw_sheet([tmp_path / "run"], path, DrawRequest(20, labeller=name))
        places = sorted(truth)
        noisy = truth | {place: 1 - truth[place] for place in places[: wrong * 20]}
        fill(path, noisy)
        enter_labels([tmp_path / "run"], path, LabelRequest(labeller=name))
    summary = summarize(tmp_path / "run", "pass@1")
    (other,) = judge(summary).labellers
    assert (judge(summary).labels, other.name, other.n_shared) == ("label-ann", "label-bob", 20)
    assert other.agreement is not None
    assert other.agreement.agree.count is not None
    assert other.agreement.agree.count < 20
    second = summarize(tmp_path / "run", "pass@1", label="label-bob")
    assert judge(second).labels == "label-bob"


def test_graded_labels_give_a_mean(tmp_path: Path) -> None:
    truth = judged_run(tmp_path / "run")
    path = tmp_path / "mine.csv"
    rows = [f"p{at},0,{3 * truth[f'p{at}', 0] + at % 2:g}" for at in range(40)]
    path.write_text("\n".join(["problem,trial,label", *rows]) + "\n")
    enter_labels([tmp_path / "run"], path, LabelRequest(scale=(0, 4)))
    summary = summarize(tmp_path / "run")
    assert summary.estimate("avg").value > 1


def test_judge_and_model_of_one_name_are_noted(tmp_path: Path) -> None:
    judged_run(tmp_path / "run", model="openai:gpt-4o-mini")
    notes = [note.code for note in summarize(tmp_path / "run").groups[0].notes]
    assert "judge-shares-name" in notes
    assert shared_name("a:org/Llama-3", "b/llama_2") == "llama"
    assert shared_name(None, "x") == shared_name("x", None) == shared_name("x", "y") == ""


# -- tables --------------------------------------------------------------------------------


def table(labels: Any, scores: Any = None) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    judge = [float(score) for score in rng.random(200) < 0.7] if scores is None else scores
    cells = [labels(at, score) for at, score in enumerate(judge)]
    return {"problem": list(range(200)), "judge": judge, "human": cells}


def test_a_table_is_corrected() -> None:
    cells = table(lambda at, score: float(score and at % 4 > 0) if at < 60 else None)
    summary = summarize(cells, judge="judge", label="human")
    assert summary.estimate("pass@1").value == pytest.approx(0.52, abs=0.03)
    assert "labels-taken-as-random" in codes(summary, "pass@1")
    assert summary.columns["label"] == "human"
    again = Summary.from_json(summary.to_json())
    assert again == summary


def test_a_table_without_labels_is_the_judges() -> None:
    summary = summarize(table(lambda at, score: None), "pass@1", judge="judge")
    assert codes(summary, "pass@1 (judged by judge)")[0] == "judge-only"


def test_labels_of_failures_alone_are_refused() -> None:
    cells = table(lambda at, score: None if score else 0)
    summary = summarize(cells, "pass@1", judge="judge", label="human")
    (note, *_) = summary.estimate("pass@1 (judged by judge)").notes
    assert "they were not drawn at random" in note.text
    assert judge(summary).agreement is None  # of failures alone, it would miss every pass


def test_labels_of_mostly_failures_are_refused() -> None:
    cells = table(lambda at, score: float(at % 5 == 0) if not score or at % 70 == 3 else None)
    summary = summarize(cells, "pass@1", judge="judge", label="human")
    (note, *_) = summary.estimate("pass@1 (judged by judge)").notes
    assert "labels are of trials that the judge passes, which are 7" in note.text
    assert judge(summary).agreement is None


def test_labels_of_few_whole_problems_are_no_reason_to_refuse() -> None:
    problem = np.repeat(np.arange(100), 10)
    scores = [float(at % 2) for at in problem]  # all trials of a problem alike
    labels = [float(at % 2) if at in (0, 2, 4, 6, 8, 9) else None for at in problem]
    judged = Judged.of(problem, np.tile(np.arange(10), 100), scores, labels)
    assert one_sided(judged) == ""


def test_a_full_column_of_labels_is_used_alone() -> None:
    cells = table(lambda at, score: at % 2)
    assert summarize(cells, judge="judge", label="human").estimate("pass@1").value == 0.5


def test_the_judge_alone_is_the_mean_over_problems() -> None:
    counts = [1] * 40 + [5] * 20
    problem = np.repeat(np.arange(60), counts)
    judge_scores = [float(at < 40) for at in problem]
    first = np.flatnonzero(np.diff(problem, prepend=-1))
    labels: list[float | None] = [None] * 140
    for at in first:
        labels[at] = judge_scores[at]
    cells = {"problem": problem.tolist(), "judge": judge_scores, "human": labels}
    summary = summarize(cells, "pass@1", judge="judge", label="human")
    assert judge(summary).pass_rate == pytest.approx(2 / 3)  # of trials it would be 2 / 7
    assert "(judge alone: 0.667;" in summary.estimate("pass@1").notes[0].text


def test_trials_without_a_verdict_are_left_out_of_the_judges_rate_alone() -> None:
    scores = [None if at % 10 == 0 else float(at % 3 > 0) for at in range(200)]
    cells = table(lambda at, score: float(at % 4 > 0) if at < 60 else None, scores)
    summary = summarize(cells, "pass@1", judge="judge", label="human")
    (note,) = [note for note in summary.groups[0].notes if note.code == "unscored"]
    assert "are left out of the judge's own rate; pass@1 (judged by judge) is" in note.text


def test_a_judge_that_grades_has_a_mean_and_no_pass_rate() -> None:
    scores = [float(20 * (at % 5)) for at in range(200)]
    cells = table(lambda at, score: score + at % 3 if at < 60 else None, scores)
    summary = summarize(cells, judge="judge", label="human")
    assert judge(summary).pass_rate is None
    assert "(judge alone: 40.000)" in summary.estimate("avg").notes[0].text
    percent = summarize(table(lambda at, score: None, scores), judge="judge")
    assert judge(percent).pass_rate is None


# -- the JSON ------------------------------------------------------------------------------


def test_json_holds_all_of_it(tmp_path: Path) -> None:
    run, _ = labelled(tmp_path / "run", 60)
    summary = summarize(run, prices={"label": 0.5, "trial": 0.01})
    text = summary.to_json()
    again = Summary.from_json(text)
    assert again == summary
    assert again.to_json() == text
    values = json.loads(text)
    assert (values["version"], values["prices"]["label"]) == (3, 0.5)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(values, schema())


def test_a_judge_without_labels_is_plain_json(tmp_path: Path) -> None:
    judged_run(tmp_path / "run", spec=JUDGE)
    (group,) = summarize(tmp_path / "run").as_json()["groups"]
    values = group["judge"]
    assert (values["scorer"], values["agreement"], values["labellers"]) == ("quality", None, [])


def test_prices_are_checked() -> None:
    assert parse_prices("label=0.5, vote=0") == Prices(0.5, 0.0)
    assert read_prices(None) is None
    with pytest.raises(UnknownName, match="Did you mean 'label'"):
        parse_prices("labels=0.5")
    for text in ("label=-1", "label=nan", "label=x", "label"):
        with pytest.raises(InvalidInput):
            parse_prices(text)
