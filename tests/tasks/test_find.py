import os

import pytest

from passband.errors import InvalidInput, UnknownName
from passband.tasks.find import find_task, find_tasks, list_tasks

TASK = "dataset_path: rows.jsonl\ndoc_to_text: q\ndoc_to_target: a\n"


@pytest.fixture
def here(write, tmp_path, monkeypatch):
    """A working folder with tasks in all the usual places."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PASSBAND_TASKS", os.pathsep.join([str(tmp_path / "more"), "", "nowhere"]))
    write("one.yaml", "task: one\n" + TASK)
    write("tasks/deep/two.yaml", "task: two\ntag: [small, both]\n" + TASK)
    write("more/three.yml", "task: three\ntag: both\n" + TASK)
    write("more/all.yaml", "group: all\ntask: [two, three]\n")
    write("more/nested.yaml", "group: nested\ntask:\n  - all\n  - task: one\n")
    write("mkdocs.yaml", "site_name: x\ntask: y\n")
    write("compose.yaml", "a: !reference x\n")
    write("list.yaml", "- a\n")
    write("tasks/.hidden/x.yaml", "task: hidden\n" + TASK)
    write("tasks/broken.yaml", "task: broken\n\tdoc_to_text: x\n")
    write("tasks/python.yaml", "task: python\ndoc_to_text: !!python/name:os.system ''\n")
    write("tasks/code.yaml", "task: code\nprocess_docs: !function utils.f\n" + TASK)
    write("tasks/utils.py", "raise SystemExit('imported')\n")
    return tmp_path


def test_listing(here):
    found = {entry.name: entry for entry in list_tasks()}
    assert set(found) >= {"one", "two", "three", "all", "nested", "broken", "python", "code"}
    assert not set(found) & {"y", "hidden", "mkdocs", "compose", "list"}
    kinds = {name: entry.kind for name, entry in found.items()}
    assert (kinds["one"], kinds["all"], kinds["broken"], kinds["python"], kinds["code"]) == (
        "task",
        "group",
        "broken",
        "broken",
        "task",
    )
    assert "broken.yaml:2: is not YAML" in (found["broken"].problem or "")
    assert [entry.name for entry in list_tasks()] == sorted(found, key=str.lower)


def test_built_in_tasks_are_found_anywhere(here):
    builtin = [entry for entry in list_tasks() if "builtin" in entry.path.parts]
    assert all(entry.kind == "task" for entry in builtin)


def test_by_name_and_by_path(here):
    assert find_task("one").name == "one.yaml"
    assert find_task("two").name == "two.yaml"
    assert find_task("three").name == "three.yml"
    assert find_task("one.yaml").name == "one.yaml"
    assert find_task(here / "tasks/deep/two.yaml").name == "two.yaml"
    assert find_task("broken").name == "broken.yaml"  # loading it will tell what is wrong


def test_groups_tags_and_folders(here):
    assert [path.name for path in find_tasks("all")] == ["two.yaml", "three.yml"]
    assert [path.name for path in find_tasks("nested")] == ["two.yaml", "three.yml", "one.yaml"]
    assert [path.name for path in find_tasks("more/all.yaml")] == ["two.yaml", "three.yml"]
    assert sorted(path.name for path in find_tasks("both")) == ["three.yml", "two.yaml"]
    assert [path.name for path in find_tasks("more/")] == ["three.yml"]
    assert [path.name for path in find_tasks("more")] == ["three.yml"]
    with pytest.raises(InvalidInput, match="'all' stands for 2 tasks"):
        find_task("all")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("thre", "no task named 'thre'. Did you mean 'three'?"),
        ("zzzzzz", "no task named 'zzzzzz'. Known: "),
        ("none.yaml", "there is no task file none.yaml"),
        ("no/where", "there is no task file"),
    ],
)
def test_what_is_not_there(here, name, told):
    with pytest.raises(InvalidInput) as caught:
        find_task(name)
    assert told in str(caught.value)
    assert isinstance(caught.value, UnknownName) == ("named" in told)


def test_a_name_of_two_files(here, write):
    write("tasks/again.yaml", "task: one\n" + TASK)
    with pytest.raises(InvalidInput, match="'one' is defined by several files"):
        find_task("one")


def test_groups_that_cannot_be_expanded(here, write):
    write("tasks/loop.yaml", "group: loop\ntask: [loop]\n")
    write("tasks/set.yaml", "group: set\ntask:\n  - task: one\n    num_fewshot: 5\n")
    write("empty/x.txt", "")
    with pytest.raises(InvalidInput, match="contains itself"):
        find_tasks("loop")
    with pytest.raises(InvalidInput, match="settings for its tasks are not read"):
        find_tasks("set")
    with pytest.raises(InvalidInput, match="no task file in empty"):
        find_tasks("empty")
