"""`passband label`, and what other verbs make of labels."""

import json
from pathlib import Path

import pytest

from support.runs.commands import Done, run
from support.runs.judged_runs import Truth, fill, judged_run


@pytest.fixture
def truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Truth:
    monkeypatch.chdir(tmp_path)
    return judged_run(tmp_path / "run")


def passband(*words: str) -> Done:
    return run(*words)


def test_from_drawing_to_the_corrected_number(truth: Truth) -> None:
    before = passband("stats", "run", "-m", "pass@1")
    assert "pass@1 (judged by quality)" in before.out
    drawn = passband("label", "run", "-m", "60", "-o", "labels.csv", "--seed", "3")
    assert drawn.out == "labels.csv: 60 trials of 160 drawn (spread, seed 3), 0 labelled\n"
    assert "passband label run --read labels.csv" in drawn.err
    fill(Path("labels.csv"), truth)
    read = passband("label", "run", "--read", "labels.csv")
    assert read.out == "label: 60 labels read, 60 new; 0 rows without a label\n"
    after = passband("stats", "run", "-m", "pass@1", "--prices", "label=0.5,trial=0.01")
    assert "judged by" not in after.out
    assert "pass@1: judged by quality, corrected by 60 labels" in after.err
    assert "where the variance comes from" in after.err
    assert "kappa" in after.err


def test_disagreements_are_shown(truth: Truth) -> None:
    passband("label", "run", "-m", "60")
    fill(Path("labels.csv"), truth)
    passband("label", "run", "--read", "labels.csv", "-q")
    shown = passband("show", "run", "--disagree", "--json")
    rows = [json.loads(line) for line in shown.out.splitlines()]
    assert rows
    for row in rows:
        verdict = row["scores"]["quality"]["score"]
        assert verdict != row["scores"]["label"]["score"]
        assert truth[row["problem_id"], row["trial"]] != verdict
    text = passband("show", "run", "--disagree", "--limit", "1").out
    assert "judged and labelled differently" in text
    assert "label: labelled" in text


def test_without_labels_there_is_nothing_to_disagree_with(truth: Truth) -> None:
    done = passband("show", "run", "--disagree")
    assert (done.code, "has no labels to disagree with" in done.err) == (2, True)


def test_reports_have_a_section_on_the_judge(truth: Truth) -> None:
    passband("report", "run", "-o", "alone.html")
    alone = Path("alone.html").read_text("utf-8")
    assert "Nobody has labelled what quality says" in alone
    assert "is the pass rate of the judge quality, and not that of the task" in alone
    passband("label", "run", "-m", "60")
    fill(Path("labels.csv"), truth)
    passband("label", "run", "--read", "labels.csv")
    passband("report", "run", "-o", "labelled.html")
    page = Path("labelled.html").read_text("utf-8")
    for text in ("Verdicts and labels", "corrected by 60 labels", "% judge", "kappa", "labelled"):
        assert text in page


def test_a_report_on_two_judged_models_says_whose_verdicts_they_are(truth: Truth) -> None:
    other = judged_run(Path("other"), model="other", lenient=0.6)
    passband("report", "run", "other", "-o", "alone.html", "--no-transcripts")
    assert "verdicts on sums are those of quality alone" in Path("alone.html").read_text("utf-8")
    for name, right in (("run", truth), ("other", other)):
        passband("label", name, "-m", "40", "-o", f"{name}.csv")
        fill(Path(f"{name}.csv"), right)
        passband("label", name, "--read", f"{name}.csv")
    passband("report", "run", "other", "-o", "both.html", "--no-transcripts")
    assert "corrected by labels" in Path("both.html").read_text("utf-8")


def test_json_of_both_steps(truth: Truth) -> None:
    drawn = json.loads(passband("label", "run", "-m", "20", "--json").out)
    assert (drawn["rows"], drawn["design"], drawn["path"]) == (20, "spread", "labels.csv")
    fill(Path("labels.csv"), truth, most=3)
    entered = json.loads(passband("label", "run", "--read", "labels.csv", "--json").out)
    assert (entered["labels"], entered["empty"]) == (3, 17)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scale", "0", "4"], "--scale says how labels are read"),
        (["--chosen-by-hand"], "--chosen-by-hand says how labels are read"),
        (["--read", "none.csv"], "none.csv: no such file"),
        (["-o", "labels.txt"], r"labels are written to .csv or .jsonl"),
        (["--scorer", "nobody"], "no scorer named 'nobody'"),
        (["--task", "nothing"], "has no task named 'nothing'"),
    ],
)
def test_what_is_asked_wrongly(truth: Truth, words: list[str], message: str) -> None:
    done = passband("label", "run", *words)
    assert done.code == 2
    assert message in done.err


def test_a_table_is_no_run_directory(truth: Truth) -> None:
    Path("table.csv").write_text("problem,score\na,1\n")
    done = passband("label", "table.csv")
    assert done.code != 0
    assert "Traceback" not in done.err
