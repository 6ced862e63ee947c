from pathlib import Path

import pytest

from passband.tasks.check import check_task
from passband.tasks.file.loader import read_task
from passband.tasks.find import BUILTIN_TASKS

ROOT = Path(__file__).resolve().parents[2]
ROWS = [{"id": f"p{i}", "question": "q", "answer": "a"} for i in range(7)]


def told(problems):
    return [f"{problem.file.name}:{problem.line}: {problem.message}" for problem in problems]


def test_nothing_is_wrong(task):
    assert check_task(task()) == []


def test_templates_are_filled_in_for_the_first_problems(task):
    broken = [*ROWS[:2], {"id": "bad", "question": None, "answer": "a"}, *ROWS[2:]]
    path = task("doc_to_choice: '{{ choises }}'", rows=[*broken, {"id": "late"}])
    found = told(check_task(path))
    assert len(found) == 5
    assert found[0].startswith("sums.yaml:1: doc_to_choice of problem 'p0': there is no column")
    assert any("doc_to_choice of problem 'bad'" in line for line in found)
    assert len(check_task(path, limit=None)) == 9


def test_data_that_cannot_be_read(task, tmp_path):
    path = task()
    (tmp_path / "rows.jsonl").write_text('{"question": "q", "answer": "a"}\n{"question": \n')
    assert told(check_task(path)) == ["rows.jsonl:2: is not JSON: Expecting value."]
    (tmp_path / "rows.jsonl").unlink()
    assert "there is no data file" in told(check_task(path))[0]


def test_errors_of_the_file_come_first_and_in_order(task):
    path = task("repeats: 2\nzzz: 1\ngeneration_kwargs: {do_sample: false, seed: 1}")
    problems = check_task(path)
    assert [(problem.line, problem.level) for problem in problems] == [
        (2, "error"),
        (3, "error"),
        (3, "warning"),
    ]


def test_untrusted_code(task, write, tmp_path):
    write("utils.py", "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n")
    path = task("process_docs: !function utils.f")
    assert "--trust-task-code" in told(check_task(path))[0]
    assert not (tmp_path / "ran").exists()
    assert "has no function 'f'" in told(check_task(path, trust=True))[0]


# The other built-in tasks read data of the hub; test_benchmarks.py has rows for them.
SHIPPED = [*sorted((ROOT / "examples/tasks").glob("*.yaml")), BUILTIN_TASKS / "arithmetic.yaml"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_is_shipped_is_right(path):
    assert check_task(path, limit=None) == []


@pytest.mark.parametrize("path", sorted(BUILTIN_TASKS.glob("*.yaml")), ids=lambda path: path.stem)
def test_built_in_files_are_right(path):
    assert read_task(path).diagnostics == []
