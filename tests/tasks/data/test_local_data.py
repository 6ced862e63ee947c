import json
from pathlib import Path

import pytest

from passband.errors import InvalidInput, UnknownName
from passband.tasks.data.local_data import LocalData, local_data
from passband.tasks.data.problem_set import ProblemSet
from passband.tasks.data.rows import read_rows
from passband.tasks.file.loader import load_task

TASK = """
dataset_path: org/not-here
training_split: train
test_split: test
columns: [question, [answer, Answer]]
doc_to_text: "{{ question }}"
doc_to_target: "{{ doc.get('answer', doc.get('Answer')) }}"
fewshot_delimiter: "|"
"""


def rows(*names, column="answer"):
    return "\n".join(json.dumps({"question": name, column: name.upper()}) for name in names)


@pytest.fixture
def copies(write, tmp_path):
    write("task.yaml", TASK)
    write("copy.jsonl", rows("a", "b"))
    write("folder/test.jsonl", rows("c", "d"))
    write("folder/train.jsonl", rows("e", "f", "g"))
    write("folder/README.md", "not data")
    return tmp_path


def targets(folder, *words, task="task.yaml"):
    loaded = load_task(folder / task, data=LocalData.of([folder / word for word in words]))
    return [problem.reference.targets[0] for problem in loaded.load(None)]


def test_a_file_takes_the_place_of_the_data(copies, monkeypatch):
    assert targets(copies, "copy.jsonl") == ["A", "B"]
    monkeypatch.chdir(copies)
    task = load_task("task.yaml", data=LocalData.of(["copy.jsonl"]))
    monkeypatch.chdir("/")
    assert len(task.load(None)) == 2  # wherever the process is by then
    assert task.config["data"] == ["copy.jsonl"]
    assert isinstance(task.load, ProblemSet)
    assert task.load.digest(None) is not None


def test_a_folder_has_a_file_for_each_split(copies, write):
    assert targets(copies, "folder") == ["C", "D"]
    write("shards/test-00000-of-00002.jsonl", rows("x"))
    write("shards/test-00001-of-00002.jsonl", rows("y"))
    write("shards/train-00000-of-00001.jsonl", rows("z"))
    assert targets(copies, "shards") == ["X", "Y"]


def test_splits_are_named(copies):
    words = [f"test={copies / 'copy.jsonl'}", f"train={copies / 'folder/train.jsonl'}"]
    data = LocalData.of(words)
    assert [row["answer"] for row in read_rows(data.source(), "train")] == ["E", "F", "G"]
    with pytest.raises(InvalidInput, match=r"no split 'train' in the data\..* Splits: test"):
        read_rows(LocalData.of(words[:1]).source(), "train")


def test_worked_examples_are_not_taken_from_the_wrong_file(copies, write):
    write("shots.yaml", TASK + "num_fewshot: 1")
    assert targets(copies, "folder", task="shots.yaml") == ["C", "D"]
    with pytest.raises(InvalidInput, match=r"takes worked examples from split 'train'.*one file"):
        targets(copies, "copy.jsonl", task="shots.yaml")
    only = LocalData.of([f"test={copies / 'copy.jsonl'}"])
    with pytest.raises(UnknownName, match="from split 'train', and --data has only test"):
        load_task(copies / "shots.yaml", data=only).load(None)


def test_columns_that_are_missing_are_all_named(copies, write):
    write("other.jsonl", rows("a", column="Answer"))
    assert targets(copies, "other.jsonl") == ["A"]
    write("wrong.csv", "Question,key\n1,2\n")
    message = r"wrong.csv:1: task needs the columns question, answer or Answer; the data have Ques"
    with pytest.raises(InvalidInput, match=message):
        targets(copies, "wrong.csv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.jsonl"], "there is no file"),
        (["copy.jsonl", "folder/test.jsonl"], "say which split each is"),
        (["folder", "test=copy.jsonl"], "say which split each is"),
        (["task.yaml"], "of no known format"),
        (["."], "holds no data file"),
        (["test=copy.jsonl", "train=rows.csv"], "copy.jsonl and rows.csv have different formats"),
    ],
)
def test_what_is_no_copy_of_the_data(copies, write, monkeypatch, words, message):
    write("rows.csv", "a\n1\n")
    monkeypatch.chdir(copies)
    if words == ["."]:
        monkeypatch.chdir(copies / "folder")
        for path in Path().glob("*.jsonl"):
            path.unlink()
    with pytest.raises(InvalidInput, match=message):
        LocalData.of(words)


def test_data_are_of_one_task():
    assert local_data((), ["a", "b"]) is None
    with pytest.raises(InvalidInput, match="data of one task; got 2: a, b"):
        local_data(["x.jsonl"], ["a", "b"])
