"""`passband validate` from the outside."""

import json
from pathlib import Path

from support.runs.commands import run


def test_a_task_without_faults(folder: Path) -> None:
    done = run("validate", "sums.yaml", "arithmetic")
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()
    assert first == "sums.yaml: ok"
    assert second.endswith("arithmetic.yaml: ok")


def test_faults_are_told_with_file_and_line(folder: Path) -> None:
    text = Path("sums.yaml").read_text().replace("doc_to_text:", "doc_to_txt:")
    Path("sums.yaml").write_text(text.replace("repeats: 4", "repeats: many"))
    done = run("validate", "sums.yaml")
    assert done.code == 2
    assert all(line.startswith("sums.yaml:") for line in done.out.splitlines())
    assert any("repeats" in line for line in done.out.splitlines())
    found = json.loads(run("validate", "sums.yaml", "--json").out)
    assert {each["level"] for each in found["sums.yaml"]} >= {"error"}
    assert all(isinstance(each["line"], int) for each in found["sums.yaml"])


def test_json_of_a_task_without_faults(folder: Path) -> None:
    done = run("validate", "sums.yaml", "--json")
    assert done.code == 0
    assert json.loads(done.out) == {"sums.yaml": []}


def test_all_problems_are_rendered_if_asked_for(folder: Path) -> None:
    rows = Path("rows.jsonl").read_text()
    Path("rows.jsonl").write_text(rows + '{"id": "p9", "a": 1, "b": 2}\n')
    assert run("validate", "sums.yaml").code == 0
    done = run("validate", "sums.yaml", "--all")
    assert done.code == 2
    assert "p9" in done.out


def test_a_file_that_is_not_there(folder: Path) -> None:
    for name in ("none.yaml", "nothing"):
        done = run("validate", name)
        assert (done.code, done.out) == (2, "")
        assert name in done.err


def test_code_is_not_run_unasked(folder: Path) -> None:
    Path("code.py").write_text("open('ran', 'w').close()\ndef text(doc):\n    return 'x'\n")
    task = Path("sums.yaml").read_text()
    Path("sums.yaml").write_text(
        task.replace('"What is {{ a }} + {{ b }}?"', "!function code.text")
    )
    done = run("validate", "sums.yaml")
    assert done.code == 2
    assert "--trust-task-code" in done.out
    assert not Path("ran").exists()
    assert run("validate", "sums.yaml", "--trust-task-code").code == 0
    assert Path("ran").exists()


def test_hostile_text_is_shown_and_not_obeyed(folder: Path) -> None:
    task = Path("sums.yaml").read_text()
    Path("sums.yaml").write_text(task + '"\\e]0;title\\a": 1\n')
    done = run("validate", "sums.yaml")
    assert "\x1b" not in done.out
    assert "\x07" not in done.out


def test_data_is_not_a_task(folder: Path) -> None:
    done = run("validate", "rows.jsonl")
    assert (done.code, done.out) == (2, "")
    assert "rows.jsonl is data, not a task file: passband run takes it as it is" in done.err


def test_an_empty_name(folder: Path) -> None:
    for arguments in (("validate", ""), ("run", "", "--model", "tiny")):
        done = run(*arguments)
        assert done.code == 2
        assert done.err == (
            "passband: the name of a task is empty; give a name, a YAML file or a folder.\n"
        )


def test_a_refused_key_is_not_suggested(folder: Path) -> None:
    with Path("sums.yaml").open("a") as file:
        file.write("system_prompt: be brief\n")
    out = run("validate", "sums.yaml").out
    assert "unknown key 'system_prompt'. Did you mean 'system'?\n" in out  # not use_prompt
