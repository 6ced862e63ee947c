"""Tables with the names that people give: right, or refused by name; none wrong in silence.

Each case has the text of a file, and by hand either its trials, successes (or mean) and trials
without a score, by group, or the words of a refusal or of a remark.
"""

import json
import re
from pathlib import Path

import pytest

from passband import InvalidInput, Outcomes
from passband.readers import read
from support.runs.commands import run


def rows(text: str) -> str:
    """Write rows that are separated by semicolons as lines."""
    return "\n".join(text.split(";")) + "\n"


#: Trials, the sum of their scores, and rows without a score, over all problems of the only group.
RIGHT: dict[str, tuple[str, int, float, int]] = {
    # -- counts
    "n and correct": ("problem,n,correct;a,10,1;b,10,0;c,10,1", 30, 2, 0),
    "total and correct": ("problem,total,correct;a,5,5;b,5,0", 10, 5, 0),
    "attempts and passed": ("task_id,attempts,passed;a,4,3;b,8,1", 12, 4, 0),
    "trials and passed": ("question,trials,passed;a,20,1;b,20,0", 40, 1, 0),
    "n and passed": ("id,n,passed;7,3,3;9,3,0", 6, 3, 0),
    "one problem": ("problem,attempts,passed;a,20,1", 20, 1, 0),
    "runs and success": ("problem,runs,success;a,8,2;b,8,6", 16, 8, 0),
    "samples and solved": ("problem,samples,solved;a,8,2;b,4,4", 12, 6, 0),
    "resolved out of": ("instance_id,resolved,out_of;a,2,5;b,0,5", 10, 2, 0),
    "rollouts": ("problem,rollouts,pass;a,16,4;b,16,0", 32, 4, 0),
    "capitals and spaces": ("Problem,Num Trials,Num Correct;a,6,2;b,6,3", 12, 5, 0),
    "n_success": ("problem,n_success,n_runs;a,2,6;b,3,6", 12, 5, 0),
    "passes of tries": ("problem,tries,passes;a,6,2;b,6,3", 12, 5, 0),
    "passed and failed": ("problem,passed,failed;a,7,3;b,0,10", 20, 7, 0),
    "correct and incorrect": ("problem,correct,incorrect;a,1,1;b,2,0", 4, 3, 0),
    "different totals": ("problem,n,correct;a,1,1;b,99,0", 100, 1, 0),
    "counts as floats": ("problem,n,correct;a,10.0,1.0;b,10.0,0.0", 20, 1, 0),
    "counts by seed": ("problem,seed,n,correct;a,1,5,2;a,2,5,3;b,1,5,0;b,2,5,5", 20, 10, 0),
    "counts and extra columns": ("problem,subject,n,correct,note;a,x,4,2,;b,y,4,1,ok", 8, 3, 0),
    # -- rows that are trials though a column is named like a count
    "n numbers the rows": ("n,problem,correct;1,a,1;2,a,0;3,b,1", 3, 2, 0),
    "n from 0 within problems": ("problem,n,correct;a,0,1;a,1,0;b,0,1;b,1,1", 4, 3, 0),
    "n from 1 within problems": ("problem,n,correct;a,1,1;a,2,0;b,1,1;b,2,1", 4, 3, 0),
    "n rows each": ("problem,n,correct;a,2,1;a,2,0;b,2,1;b,2,1", 4, 3, 0),
    "words beside n": ("problem,n,correct;a,8,yes;b,8,no", 2, 1, 0),
    "attempt numbers": ("problem,attempt,passed;a,1,1;a,2,0;b,1,1", 3, 2, 0),
    "flags of both": ("problem,passed,failed;a,1,0;a,0,1;b,1,0", 3, 2, 0),
    # -- failures
    "error text": ("problem,score,error;a,1,;a,0,HTTP 500;b,0,;b,1,", 3, 2, 1),
    "only failures are 0": ("problem,score,error;a,1,;a,0,HTTP 500: no;b,1,;b,0,Timeout", 2, 2, 2),
    "status timeout": ("problem,score,status;a,1,ok;a,0,timeout;b,0,ok", 2, 1, 1),
    "status error": ("problem,correct,status;a,1,success;a,0,error;b,0,success", 2, 1, 1),
    "status of HTTP": ("problem,correct,status;a,1,200;a,0,503;b,0,200", 2, 1, 1),
    "status failed of runs": (
        "problem,score,status;a,1,completed;a,0,failed;b,0,completed",
        2, 1, 1,
    ),
    "status failed of answers": ("problem,score,status;a,1,passed;a,0,failed;b,0,failed", 3, 1, 0),
    "truncated counts": ("problem,score,status;a,1,ok;a,0,truncated;b,0,ok", 3, 1, 0),
    "exception": ("problem,passed,exception;a,1,;a,0,;b,0,RateLimitError: 429", 2, 1, 1),
    "error of None": ("problem,score,error;a,1,None;a,0,None;b,0,no error", 3, 1, 0),
    "assertions are verdicts": (
        "task_id,passed,error;a,1,;a,0,AssertionError: 3 != 4;b,0,assert f(2) == 4",
        3, 1, 0,
    ),
    "error without a score": ("problem,score,error;a,1,;a,,HTTP 500;b,0,", 2, 1, 1),
    "measured errors": ("problem,score,error;a,1,0.12;a,0,3.5;b,0,0.7", 3, 1, 0),
    "error flags": ("problem,correct,error;a,1,0;a,0,1;b,0,0", 2, 1, 1),
    # -- names
    "a space is a name": ('score,problem;1,0;0," 0";1,1', 3, 2, 0),
    "nan is a problem": ("problem,score;nan,1;nan,0;b,1", 3, 2, 0),
    "null is a problem": ("problem,score;null,1;none,0;NA,1", 3, 2, 0),
    "spaces after commas": ("problem, score;a, 1;a, 0;b, 1", 3, 2, 0),
    "graded": ("problem,score;a,0.25;b,0.75", 2, 1, 0),
    "rates beside n": ("problem,n,accuracy;a,4,0.25;b,4,0.75", 2, 1, 0),
}  # fmt: skip

REFUSED: dict[str, tuple[str, str]] = {
    "above its total": ("problem,total,correct;a,10,7;b,10,12", "row 2 has correct = 12 and total"),
    "a total of 0": ("problem,attempts,passed;a,4,2;b,0,0", "row 2 has passed = 0 and attempts"),
    "half a count": ("problem,trials,successes;a,4,1.5", "row 1 has successes = 1.5"),
    "an empty total": ("problem,total,correct;a,10,7;b,,3", "row 2 has correct = 3 and total"),
    "no total": ("problem,correct;a,7;b,3", "column correct holds whole numbers up to 7"),
    "rows or counts": ("problem,n,correct;a,8,1;a,8,0;b,8,1;b,8,1", "column n may be the number"),
    "errors in every row": (
        "problem,score,error;a,1,x;a,0,HTTP 500;b,0,y",
        "column error is filled in every row",
    ),
    "errors wherever it is wrong": (
        "problem,score,error;a,1,;a,0,NameError: x;b,0,SyntaxError",
        r"column error is filled in every row that scored 0 \(row 2: 'NameError: x'\)",
    ),
    "flags wherever it is wrong": ("problem,correct,error;a,1,0;a,0,1;b,1,0", "scored 0"),
    "an underscore": ("problem,score;a,1_0;b,0", "row 1 has '1_0'"),
    "English thousands": ('problem,score;a,"1,234.5";b,2', "row 1 has '1,234.5'"),
    "German thousands": ('problem,score;a,"1.234,5";b,2', "row 1 has '1.234,5'"),
    "French thousands": ('problem,score;a,"1 234,5";b,2', "row 1 has '1 234,5'"),
    "Swiss thousands": ("problem,score;a,1'234.5;b,2", 'row 1 has "1\'234.5"'),
    "decimal comma": ("problem\tscore;a\t0,5;b\t1,0", "row 1 has '0,5'"),
    "an empty name": ("problem,score;a,1; ,0", "column problem is empty in row 2"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(tmp_path: Path, name: str) -> None:
    text, trials, total, unscored = RIGHT[name]
    path = tmp_path / "t.csv"
    path.write_text(rows(text))
    (group,) = read(path).groups
    outcomes = group.outcomes
    scores = outcomes.graded.values if outcomes.graded is not None else outcomes.successes
    assert scores is not None
    lost = sum(int(counts.sum()) for counts in outcomes.unscored.values())
    assert (outcomes.n_trials, float(scores.sum()), lost) == (trials, total, unscored)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(tmp_path: Path, name: str) -> None:
    text, words = REFUSED[name]
    path = tmp_path / "t.csv"
    path.write_text(rows(text))
    with pytest.raises(InvalidInput, match=words):
        read(path)


def test_json_records_are_read_alike(tmp_path: Path) -> None:
    records = [{"problem": "a", "n": 10, "passed": 7}, {"problem": "b", "n": 10, "passed": 1}]
    (tmp_path / "t.json").write_text(json.dumps(records))
    outcomes = read(tmp_path / "t.json").only()
    assert outcomes.trials.tolist() == [10, 10]
    assert outcomes.required_successes().tolist() == [7, 1]


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("problem,score,total;a,7,10;b,3,10", "not used: total, which looks like a count"),
        ("problem,n,correct;a,8,yes;b,8,no", "not used: n, which looks like a count"),
        ("problem,score,status;a,1,ok;a,0,timeout", r"left out: 1 \(timeout: 1; .* row 2\)"),
        ("problem,score,error;a,1,;a,0,HTTP 500", r"left out: 1 \(errored: 1; .* row 2\)"),
    ],
)
def test_doubts_are_named_also_where_little_is_printed(
    tmp_path: Path, text: str, remark: str
) -> None:
    (tmp_path / "t.csv").write_text(rows(text))
    with pytest.warns(match=remark):
        Outcomes.from_file(tmp_path / "t.csv")
    done = run("stats", tmp_path / "t.csv", "-q")
    assert re.search(remark, done.err)


@pytest.mark.parametrize(
    "text",
    [
        "id,name,value;1,correct,1;2,latency,3.5;3,correct,0;4,latency,2.5",
        "id,name,value;1,correct,1;2,polite,1;3,correct,0;4,polite,0",
        "trace,score_name,value;a,correct,1;a,latency,9;b,correct,0;b,latency,8",
    ],
)
def test_scores_of_several_kinds_are_split(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(rows(text))
    groups = read(tmp_path / "t.csv", columns={"problem": text.partition(",")[0]})
    assert [group.outcomes.n_trials for group in groups.groups] == [2, 2]
    assert groups.groups[0].key == ("correct",)


@pytest.mark.parametrize("name", ["alice", "bob"])
def test_names_of_problems_split_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "t.csv").write_text(rows(f"id,name,score;1,{name},1;2,carol,0;3,dan,1"))
    assert read(tmp_path / "t.csv").only().n_trials == 3


def test_a_key_twice_in_a_line_is_refused(tmp_path: Path) -> None:
    lines = '{"problem": "a", "score": 1}\n{"problem": "b", "score": 1, "score": 0}\n'
    (tmp_path / "t.jsonl").write_text(lines)
    with pytest.raises(InvalidInput, match=r"t.jsonl:2: has the key 'score' twice"):
        read(tmp_path / "t.jsonl")


VOTES = "problem,score,answer;a,1,{};a,1,{};a,0,7"


@pytest.mark.parametrize("answer", ['"1,234.5"', '"1.234,5"', '"1 234,5"', "1'234.5", "1234.5"])
def test_numbers_of_four_locales_are_one_answer(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(rows(VOTES.format(answer, "1234.5")))
    done = run("stats", path, "-m", "vote@3", "--format", "csv", "-q")
    assert "vote@3,1.0" in done.out, done.err


@pytest.mark.parametrize(
    "answers", [('"0,5"', "0.5"), ('"1,234"', "1.234"), ('"1,234";a,1,"0,25"', "1234")]
)
def test_what_may_be_one_number_or_two_is_refused(tmp_path: Path, answers: tuple[str, str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(rows(VOTES.format(*answers)))
    done = run("stats", path, "-m", "vote@3")
    assert done.code == 2
    assert "column answer has answers" in done.err
