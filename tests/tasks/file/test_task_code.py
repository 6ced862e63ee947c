import sys

import pytest

from passband.errors import InvalidInput
from passband.tasks.file.loader import load_task
from passband.tasks.file.task_code import RowList

CODE = """
    from pathlib import Path

    Path(__file__).with_name("ran").touch()

    def prepare(rows):
        return rows.filter(lambda row: row["id"] != "b").map(lambda row: {"twice": row["id"] * 2})

    def in_a_list(rows):
        return [{**row, "question": row["question"] + "?"} for row in rows]

    def text(row):
        return "Q " + row["question"]

    def target(row):
        return int(row["answer"]) // 2 - 1

    def choice(row):
        return ["one", "two", "three"]

    def samples():
        return [{"id": "s", "question": "0+0", "answer": "2"}]

    def data(parts, **options):
        return {"test": [{"question": str(i), "answer": "2"} for i in range(parts)]}

    def fails(rows):
        raise KeyError("gone")

    number = 5
"""


@pytest.fixture
def trusted(task, write, tmp_path):
    def load(text, code=CODE, **options):
        write("utils.py", code)
        return load_task(task(text, **options), trust=True)

    return load


def test_code_of_an_untrusted_task_is_never_run(task, write, tmp_path):
    write("utils.py", CODE)
    text = """
        task: sums
        process_docs: !function utils.prepare
        metric_list:
          - metric: !function utils.score
    """
    before = set(sys.modules)
    with pytest.raises(InvalidInput) as caught:
        load_task(task(text))
    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert "sums.yaml:2: !function utils.prepare is code that comes with the task" in lines[0]
    assert "sums.yaml:4: !function utils.score" in lines[1]
    assert all("--trust-task-code" in line for line in lines)
    assert not (tmp_path / "ran").exists()
    assert not [name for name in set(sys.modules) - before if "utils" in name]


def test_rows_are_prepared(trusted):
    loaded = trusted("process_docs: !function utils.prepare")
    assert [p.reference.doc["twice"] for p in loaded.load(None)] == ["aa", "cc"]
    assert [p.key for p in loaded.load(2)] == ["a", "c"]  # a limit counts what is left
    assert [
        p.messages[0].content for p in trusted("process_docs: !function utils.in_a_list").load(1)
    ]


def test_rows_are_prepared_without_the_datasets_package(trusted, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    loaded = trusted("process_docs: !function utils.prepare")
    assert [p.reference.doc["twice"] for p in loaded.load(None)] == ["aa", "cc"]


def test_texts_targets_and_choices(trusted):
    base = """
dataset_path: rows.jsonl
doc_to_text: !function utils.text
doc_to_target: !function utils.target
doc_to_choice: !function utils.choice
"""
    first, _, third = trusted("", base=base).load(None)
    assert first.messages[0].content == "Q 1+1"
    assert (first.reference.targets, first.reference.choices) == (("one",), ("one", "two", "three"))
    assert third.reference.targets == ("three",)


def test_examples(trusted):
    text = "num_fewshot: 1\nfewshot_config: {samples: !function utils.samples}"
    assert trusted(text).load(1)[0].messages[0].content == "0+0 2\n\n1+1"


def test_data(trusted):
    base = "doc_to_text: question\ndoc_to_target: answer\n"
    text = "custom_dataset: !function utils.data\ndataset_kwargs: {parts: 2}"
    assert len(trusted(text, base=base).load(None)) == 2
    with pytest.raises(InvalidInput, match="no split 'dev'"):
        trusted(text + "\ntest_split: dev", base=base).load(None)


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("utils.gone", "has no function 'gone'"),
        ("utils.number", "has no function 'number'"),
        ("nowhere.f", "nowhere.py for !function nowhere.f"),
        ("os.getcwd", "os.py for"),  # only code beside the task
    ],
)
def test_wrong_references(trusted, reference, told):
    with pytest.raises(InvalidInput, match=rf"sums.yaml:1: .*{told}"):
        trusted(f"process_docs: !function {reference}")


@pytest.mark.parametrize("code", ["1 / 0", "raise SystemExit", "import no_such_module_at_all"])
def test_code_that_cannot_be_imported(trusted, code):
    with pytest.raises(InvalidInput, match=r"sums.yaml:1: .*utils.py cannot be imported: "):
        trusted("process_docs: !function utils.f", code=code)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("from lm_eval.filters.extraction import RegexFilter", "pip install lm-eval"),
        ("import no_such_module_at_all.part", "pip install no_such_module_at_all"),
        ("import json.no_such_part", "No module named 'json.no_such_part'$"),
    ],
)
def test_a_package_that_is_missing(trusted, monkeypatch, code, told):
    monkeypatch.setitem(sys.modules, "lm_eval", None)
    with pytest.raises(InvalidInput, match=f"utils.py cannot be imported: ModuleNot.*{told}"):
        trusted("process_docs: !function utils.f", code=code)


def test_what_code_prints_is_no_result(trusted, capsys):
    trusted("process_docs: !function utils.f", code="print('hello')\ndef f(docs): return docs")
    assert capsys.readouterr() == ("", "hello\n")


def test_code_by_its_name_in_lm_eval(trusted, write, tmp_path, monkeypatch):
    write("site/lm_eval/__init__.py", "")
    write("site/lm_eval/tasks/sums/own.py", "def f(docs):\n    return list(docs)[:1]\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert len(trusted("process_docs: !function lm_eval.tasks.sums.own.f").load(None)) == 1


def test_code_that_fails(trusted):
    loaded = trusted("process_docs: !function utils.fails")
    with pytest.raises(InvalidInput, match=r"sums.yaml:1: !function utils.fails failed: KeyError"):
        loaded.load(None)


def test_changed_code_is_noticed(trusted):
    first = trusted("process_docs: !function utils.prepare")
    second = trusted("process_docs: !function utils.prepare", code=CODE + "\n    # more\n")
    assert first.config["process_docs"] == "!function utils.prepare"
    assert first.config["code"]["utils"] != second.config["code"]["utils"]


def test_a_module_runs_once(trusted, tmp_path):
    code = """
        from pathlib import Path

        with Path(__file__).with_name("runs").open("a") as file:
            file.write("x")

        def text(row):
            return row["question"]
    """
    text = "description: !function utils.text\nfewshot_config: {doc_to_text: !function utils.text}"
    trusted(text, code=code)
    assert (tmp_path / "runs").read_text() == "x"


def test_a_list_of_rows_does_what_is_used_most():
    rows = RowList([{"a": 1}, {"a": 2}, {"b": 3}])
    assert rows.map(lambda row, i: {"i": i}, with_indices=True)[1] == {"a": 2, "i": 1}
    assert rows.select([2, 0]) == [{"b": 3}, {"a": 1}]
    assert rows.column_names == ["a", "b"]
