"""Plain tables with texts, as trials to look at."""

from pathlib import Path

from passband.readers.logs import read_logs
from passband.readers.options import Options

HEAD = "problem_id,trial,score,answer,Model Response,target,question\n"
ROWS = "a,0,1,4,it is 4,4,2+2?\na,1,0,5,it is 5,4,2+2?\n"


def test_texts_are_found_by_the_names_of_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(HEAD + ROWS)
    (log,) = read_logs(tmp_path / "t.csv", Options(texts=True))
    assert [trial.text for trial in log.trials] == ["it is 4", "it is 5"]
    assert [trial.scores[0].answer for trial in log.trials] == ["4", "5"]
    assert '"2+2?"' in log.problems[0].record
    assert '"targets":["4"]' in log.problems[0].record.replace(" ", "")
    assert str(log.remarks[-1]) == (
        "texts: completion = Model Response, prompt = question, target = target, answer = answer"
    )


def test_an_answer_without_a_target_may_be_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("problem_id,score,answer\na,1,4\na,0,4\n")
    (log,) = read_logs(tmp_path / "t.csv", Options(texts=True))
    assert [trial.scores[0].answer for trial in log.trials] == [None, None]
    assert not any("texts" in remark.text for remark in log.remarks)


def test_texts_that_are_not_wanted_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(HEAD + ROWS)
    (log,) = read_logs(tmp_path / "t.csv", Options())
    assert [trial.text for trial in log.trials] == [None, None]
