"""Entering labels: all or nothing, with the line that is wrong."""

from collections.abc import Callable
from pathlib import Path

import pytest

from passband import InvalidInput
from passband.run.label.draw import DrawRequest, draw_sheet
from passband.run.label.enter import LabelRequest, enter_labels
from passband.trials.reader import Trials
from support.runs.judged_runs import Truth, fill, judged_run
from support.samples.stores import writing


@pytest.fixture
def truth(tmp_path: Path) -> Truth:
    return judged_run(tmp_path / "run", problems=12, trials=2)


@pytest.fixture
def run(tmp_path: Path, truth: Truth) -> Path:
    return tmp_path / "run"


@pytest.fixture
def sheet(tmp_path: Path, run: Path) -> Path:
    draw_sheet([run], tmp_path / "labels.csv", DrawRequest(10))
    return tmp_path / "labels.csv"


@pytest.fixture
def mine(tmp_path: Path) -> Callable[..., Path]:
    def write(*lines: str, header: str = "problem_id,trial,label") -> Path:
        path = tmp_path / "mine.csv"
        path.write_text("\n".join([header, *lines]) + "\n")
        return path

    return write


def stored(run: Path, name: str = "label") -> dict[tuple[str, int], float | None]:
    with Trials(run) as trials:
        record = trials.run()
        keys = {number: key for key, number in trials.numbers(record.number).items()}
        rows = trials.scores(record.scorer(name).number)
        return {(keys[problem], trial): score.value for problem, trial, score in rows}


def test_labels_become_a_scorer(run: Path, sheet: Path, truth: Truth) -> None:
    fill(sheet, truth, most=7)
    entered = enter_labels([run], sheet)
    assert (entered.labels, entered.new, entered.empty) == (7, 7, 3)
    found = stored(run)
    assert len(found) == 7
    assert all(truth[place] == value for place, value in found.items())
    with Trials(run) as trials:
        record = trials.run()
    assert [scorer.name for scorer in record.scorers] == ["quality", "label"]
    spec = dict(record.scorer("label").spec or {})
    assert (spec["function"], spec["design"], spec["judge"]) == ("label", "spread", "quality")
    assert (spec["drawn"], spec["trials"], spec["files"][0]["labels"]) == (10, 24, 7)


def test_reading_again_changes_nothing(run: Path, sheet: Path, truth: Truth) -> None:
    fill(sheet, truth)
    enter_labels([run], sheet)
    again = enter_labels([run], sheet)
    assert (again.labels, again.new, again.changed) == (10, 0, 0)
    with Trials(run) as trials:
        assert len((trials.run().scorer("label").spec or {})["files"]) == 1


def test_a_spreadsheet_may_sort_rows_and_strip_zeros(run: Path, sheet: Path, truth: Truth) -> None:
    fill(sheet, truth)
    lines = sheet.read_text("utf-8").splitlines()
    sheet.write_text("\n".join([lines[0], *sorted(lines[1:])]) + "\n", "utf-8")
    assert enter_labels([run], sheet).labels == 10


def test_one_column_sorted_alone_is_noticed(run: Path, sheet: Path, truth: Truth) -> None:
    import csv

    fill(sheet, truth)
    with sheet.open(newline="") as file:
        header, *rows = csv.reader(file)
    names = sorted(row[0] for row in rows)
    with sheet.open("w", newline="") as file:
        csv.writer(file).writerows(
            [header, *([n, *r[1:]] for n, r in zip(names, rows, strict=True))]
        )
    with pytest.raises(InvalidInput, match=r"labels.csv:\d+: the ticket is that of problem"):
        enter_labels([run], sheet)


def test_a_file_of_your_own(run: Path, mine: Callable[..., Path]) -> None:
    entered = enter_labels([run], mine("p1,0,yes", "p2,1.0,no", "p3,0,"))
    assert (entered.labels, entered.empty, entered.design) == (2, 1, "unknown")
    assert stored(run) == {("p1", 0): 1.0, ("p2", 1): 0.0}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["p1,0,pass", "p99,0,pass"], r"mine.csv:3: sums has no problem 'p99'"),
        (["p1,7,pass"], r"mine.csv:2: problem 'p1' has no trial 7; its trials are 0 to 1"),
        (["p1,-1,pass"], r"mine.csv:2: the number of a trial is a whole number"),
        (["p1,x,pass"], r"mine.csv:2: the number of a trial is a whole number"),
        (["p1,,pass"], r"mine.csv:2: the number of the trial is missing"),
        ([",0,pass"], r"mine.csv:2: the problem is missing"),
        (["p1,0,maybe"], r"mine.csv:2: 'maybe' is no label"),
        (
            ["p1,0,pass", "p2,0,no", "p1,0,fail"],
            r"mine.csv:4: .* labelled fail here and pass in li",
        ),
        (["p1,0,", "p2,0,"], "no row has a label yet"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(
    run: Path, mine: Callable[..., Path], lines: list[str], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        enter_labels([run], mine(*lines))
    with Trials(run) as trials:
        assert [scorer.name for scorer in trials.run().scorers] == ["quality"]


def test_the_same_label_twice_is_one(run: Path, mine: Callable[..., Path]) -> None:
    assert enter_labels([run], mine("p1,0,pass", "p1,0,yes")).labels == 1


def test_a_row_that_comes_twice_is_not_called_empty(run: Path, mine: Callable[..., Path]) -> None:
    entered = enter_labels([run], mine("p0,0,pass", "p0,0,pass", "p1,0,"))
    assert (entered.labels, entered.empty) == (1, 1)


def test_a_changed_label_needs_a_word(run: Path, mine: Callable[..., Path]) -> None:
    enter_labels([run], mine("p1,0,pass"))
    with pytest.raises(InvalidInput, match=r"mine.csv:2: .* was labelled pass before and is fail"):
        enter_labels([run], mine("p1,0,fail"))
    assert enter_labels([run], mine("p1,0,fail"), LabelRequest(replace=True)).changed == 1
    assert stored(run) == {("p1", 0): 0.0}


def test_labels_of_a_second_person_need_a_name(run: Path, mine: Callable[..., Path]) -> None:
    enter_labels([run], mine("p1,0,pass"))
    second = mine("p1,0,fail").rename(run.with_name("second.csv"))
    with pytest.raises(InvalidInput, match="--labeller NAME") as refused:
        enter_labels([run], second)
    assert "--replace" not in str(refused.value)
    assert enter_labels([run], second, LabelRequest("bob")).new == 1


def test_a_file_of_another_run_is_refused(run: Path, sheet: Path, truth: Truth) -> None:
    fill(sheet, truth)
    other = run.with_name("other")
    judged_run(other, problems=12, trials=2, model="other")
    with pytest.raises(InvalidInput, match=r"labels.csv:2: this trial was drawn from another run"):
        enter_labels([other], sheet)


def test_an_answer_that_has_changed_is_refused(tmp_path: Path, sheet: Path, truth: Truth) -> None:
    fill(sheet, truth)
    again = tmp_path / "again"
    judged_run(again, problems=12, trials=2, seed=9)
    with pytest.raises(InvalidInput, match="another one than when it was drawn"):
        enter_labels([again], sheet)


def test_several_runs_need_a_choice(run: Path, mine: Callable[..., Path]) -> None:
    with writing(run) as store:
        store.begin("sums", "second", spec={"seed": "s"}, config={"metrics": []}, name="run")
    with pytest.raises(InvalidInput, match="which run is it"):
        enter_labels([run], mine("p1,0,pass"))
    assert enter_labels([run], mine("p1,0,pass"), LabelRequest(models=("tiny",))).labels == 1
    named = mine("p2,0,pass,tiny", header="problem,trial,label,model")
    assert enter_labels([run], named).labels == 1


def test_graded_labels_have_a_scale(run: Path, mine: Callable[..., Path]) -> None:
    enter_labels([run], mine("p1,0,3"), LabelRequest(scale=(0, 4)))
    assert stored(run) == {("p1", 0): 3.0}
    assert enter_labels([run], mine("p1,0,3", "p2,0,4")).new == 1  # the scale is known by now
    with pytest.raises(InvalidInput, match="labels of another scale need"):
        enter_labels([run], mine("p3,0,3"), LabelRequest(scale=(0, 5)))


def test_labellers_have_scorers_of_their_own(run: Path, mine: Callable[..., Path]) -> None:
    enter_labels([run], mine("p1,0,pass"), LabelRequest(labeller="ann"))
    enter_labels([run], mine("p1,0,fail"), LabelRequest(labeller="bob"))
    assert (stored(run, "label-ann"), stored(run, "label-bob")) == (
        {("p1", 0): 1.0},
        {("p1", 0): 0.0},
    )


def test_a_scorer_of_that_name_is_not_taken(tmp_path: Path, mine: Callable[..., Path]) -> None:
    from support.samples.stores import filled

    run = filled(tmp_path / "plain", [[1, 0]] * 3)
    from passband.trials.rows import ScorerEntry

    with writing(run) as store:
        store.set_scorers(1, [ScorerEntry("label", "mine 1", None)])
    with pytest.raises(InvalidInput, match="holds no labels"):
        enter_labels([run], mine("p1,0,pass"))
