import os

import pytest

from passband.errors import InvalidInput, UnknownName
from passband.tasks import find
from passband.tasks.check import check_task
from passband.tasks.file import yaml_file
from passband.tasks.file.loader import load_task
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
    write("rows.jsonl", "{}\n")
    write("data/rows.csv", "q,a\n")
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
    assert "broken.yaml:2: is not YAML" in str(found["broken"].diagnostic)
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
    assert [entry.path.name for entry in find_tasks("all")] == ["two.yaml", "three.yml"]
    assert [entry.path.name for entry in find_tasks("nested")] == [
        "two.yaml",
        "three.yml",
        "one.yaml",
    ]
    assert [entry.path.name for entry in find_tasks("more/all.yaml")] == ["two.yaml", "three.yml"]
    assert sorted(entry.path.name for entry in find_tasks("both")) == ["three.yml", "two.yaml"]
    assert [entry.path.name for entry in find_tasks("more/")] == ["three.yml"]
    assert [entry.path.name for entry in find_tasks("more")] == ["three.yml"]
    with pytest.raises(InvalidInput, match="'all' is 2 tasks"):
        find_task("all")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("thre", "no task named 'thre'. Did you mean 'three'?"),
        ("row.jsonl", "no task named 'row.jsonl'. Did you mean 'rows.jsonl'?"),
        ("zzzzzz", "no task named 'zzzzzz'. Known: "),
        ("none.yaml", "there is no task file none.yaml"),
        ("no/where", "there is no task file"),
        ("", "the name of a task is empty"),
        (" ", "the name of a task is empty"),
        ("rows.jsonl", "rows.jsonl is data, not a task file: passband run takes it"),
        ("data/rows.csv", "data/rows.csv is data, not a task file"),
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


def test_known_names_are_listed_once(here, write):
    for number in range(3):
        write(f"tasks/{number}.yaml", "task: same\n" + TASK)
    with pytest.raises(UnknownName) as caught:
        find_task("zzzzzz")
    assert str(caught.value).count("same") == 1


def test_a_file_is_read_once(here, monkeypatch):
    reads = []

    def counted(path, reader=yaml_file.read_yaml):
        reads.append(path.name)
        return reader(path)

    monkeypatch.setattr(yaml_file, "read_yaml", counted)
    monkeypatch.setattr(find, "read_yaml", counted)
    for name in ("one.yaml", "one", "both"):
        reads.clear()
        for entry in find_tasks(name):
            assert load_task(entry).path == entry.path
        assert len(reads) == len(set(reads))
    (entry,) = find_tasks("one")
    first, again = check_task(entry), check_task(entry)
    assert first == again  # reading a file does not change it


def test_the_files_of_other_tasks_are_not_kept(here):
    assert {entry.name for entry in list_tasks(keep="both") if entry.file} == {"two", "three"}
    assert not [entry for entry in list_tasks() if entry.file]
