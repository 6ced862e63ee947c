import json
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.tasks.file.loader import load_task

ROOT = Path(__file__).resolve().parents[3]


def test_a_task_comes_out_whole(task):
    text = """
        task: sums
        repeats: 5
        num_fewshot: 1
        description: "Add.\\n"
        metadata: {version: 2.1}
    """
    loaded = load_task(str(task(text)))
    assert (loaded.name, loaded.repeats, loaded.num_fewshot) == ("sums", 5, 1)
    assert loaded.version == "2.1"
    problems = loaded.load(None)
    assert [problem.key for problem in problems] == ["a", "b", "c"]
    assert problems[0].reference.targets == ("2",)
    assert problems[0].reference.doc == {"id": "a", "question": "1+1", "answer": "2"}
    assert len(problems[0].messages) == 1
    assert problems[0].messages[0].role == "user"
    assert problems[0].messages[0].content.startswith("Add.\n")
    assert loaded.load(2) == problems[:2]


def test_the_file_names_a_task_without_a_name(task):
    assert (load_task(task()).name, load_task(task()).version) == ("sums", "1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "leave"), ("truncated: leave", "leave"), ("truncated: score", "score")],
)
def test_what_is_cut_off(task, text, expected):
    assert load_task(task(text)).truncated == expected


def test_the_config_is_the_resolved_file(task, write):
    write("base.yaml", "repeats: 3\ndescription: x\n")
    loaded = load_task(task("include: base.yaml\nrepeats: 4"))
    assert loaded.config["repeats"] == 4
    assert loaded.config["description"] == "x"
    assert "include" not in loaded.config
    assert json.loads(json.dumps(loaded.config)) == loaded.config


def test_data_are_looked_for_beside_the_file_that_names_them(write):
    write("shared/rows.jsonl", '{"q": "x", "a": "y"}')
    write(
        "shared/base.yaml",
        "dataset_path: json\ndataset_kwargs: {data_files: rows.jsonl}\n"
        "doc_to_text: q\ndoc_to_target: a\n",
    )
    path = write("t.yaml", "task: t\ninclude: shared/base.yaml\n")
    assert load_task(path).load(None)[0].reference.targets == ("y",)


def test_every_problem_is_in_the_message(task):
    text = """
        metric_lst: []
        repeats: many
        description: "{{ x"
        process_docs: !function utils.f
    """
    with pytest.raises(InvalidInput) as caught:
        load_task(task(text))
    lines = str(caught.value).splitlines()
    assert [line.split("sums.yaml:")[1].split(":")[0] for line in lines] == ["4", "1", "2"]
    assert lines[1].endswith("sums.yaml:1: unknown key 'metric_lst'. Did you mean 'metric_list'?")


def test_wrong_templates_are_told_with_their_lines(task):
    text = """
        description: "{{ x"
        gen_prefix: "{% y %}"
        num_fewshot: 1
        fewshot_config:
          doc_to_text: "{{ z"
        generation_kwargs: {seed: 1}
    """
    with pytest.raises(InvalidInput) as caught:
        load_task(task(text))
    told = [line.split("sums.yaml:")[1] for line in str(caught.value).splitlines()]
    assert [line.split(":")[0] for line in told] == ["6", "1", "2", "5"]
    assert told[3].startswith("5: fewshot_config.doc_to_text: the template cannot be read")


def test_a_missing_file():
    with pytest.raises(InvalidInput, match=r"none.yaml:1: cannot be read"):
        load_task("none.yaml")


def test_a_template_that_fails_names_the_problem(task):
    loaded = load_task(task("description: '{{ qestion }}'"))
    told = r"sums.yaml:1: description of problem 'a': no column"
    with pytest.raises(InvalidInput, match=told.replace("no column", ".*Did you mean 'question'")):
        loaded.load(None)


@pytest.mark.parametrize("path", sorted((ROOT / "examples/tasks").glob("*.yaml")))
def test_the_examples_load(path):
    loaded = load_task(path)
    assert len(loaded.load(None)) >= 6
    assert loaded.name == path.stem


def test_templates_within_a_list_are_refused(task):
    with pytest.raises(InvalidInput, match=r"doc_to_choice: the items of a list are not templates"):
        load_task(task('doc_to_choice: ["{{answer}}", "b"]'))
