"""Tasks of an installed lm-eval, imitated by a package of the same name and shape."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from passband.errors import InvalidInput, PassbandWarning, UnknownName
from passband.tasks import lm_eval_index as module
from passband.tasks.file.loader import load_task
from passband.tasks.find import find_task, find_tasks, list_lm_eval_tasks, list_tasks
from passband.tasks.lm_eval_index import cache_folder, lm_eval_index

TASK = "dataset_path: rows.jsonl\ndoc_to_text: q\ndoc_to_target: a\n"


@pytest.fixture
def installed(write, tmp_path, monkeypatch):
    """The folder of tasks of a package that could be imported, but would not like to be."""
    packages = tmp_path / "site-packages"
    write("site-packages/lm_eval/__init__.py", "raise SystemExit('imported')\n")
    write("site-packages/lm_eval-0.4.99.dist-info/METADATA", "Name: lm_eval\nVersion: 0.4.99\n")
    tasks = "site-packages/lm_eval/tasks"
    write(f"{tasks}/a/wordsums.yaml", "task: wordsums\ntag: math_word\n" + TASK)
    write(f"{tasks}/a/arithmetic.yaml", "task: arithmetic\n" + TASK)
    write(f"{tasks}/b/quoted.yaml", "task: 'quoted one'  # said so\ntag:\n  - several\n" + TASK)
    write(f"{tasks}/b/keys.yaml", '"task": "keys"\n"tag": "several"\n' + TASK)
    write(f"{tasks}/b/number.yaml", "task: 12\n" + TASK)
    write(f"{tasks}/b/all.yaml", "group: all_of_it\ntask:\n  - wordsums\n  - arithmetic\n")
    write(f"{tasks}/b/settings.yaml", "doc_to_text: q\n")
    write(f"{tasks}/b/twice.yaml", "task: twice\nnum_fewshot: 1\nnum_fewshot: 0\n" + TASK)
    write(f"{tasks}/a/rows.jsonl", '{"q": "1+1", "a": "2"}\n')
    write(f"{tasks}/b/rows.jsonl", '{"q": "1+1", "a": "2"}\n')
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.syspath_prepend(str(packages))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PASSBAND_TASKS", raising=False)
    module._index.cache_clear()
    yield packages / "lm_eval" / "tasks"
    module._index.cache_clear()


def kept() -> Path:
    (path,) = cache_folder().iterdir()
    return path


def test_names_tags_and_groups(installed):
    assert find_task("wordsums") == installed / "a" / "wordsums.yaml"
    assert [entry.name for entry in find_tasks("several")] == ["keys", "quoted one"]
    assert find_task("quoted one").name == "quoted.yaml"
    assert [str(entry.path) for entry in find_tasks("all_of_it")] == [
        str(installed / "a" / name) for name in ("wordsums.yaml", "arithmetic.yaml")
    ]  # and not passband's own arithmetic
    assert load_task(find_tasks("wordsums")[0]).load(None)[0].reference.targets == ("2",)
    assert lm_eval_index().version == "0.4.99"


def test_own_names_come_first(installed, write, tmp_path):
    write("work/mine.yaml", "task: wordsums\n" + TASK)
    write("work/other.yaml", "task: other\ntag: all_of_it\n" + TASK)
    write("work/mixed.yaml", "group: mixed\ntask: [other, twice]\n")
    assert find_task("wordsums").name == "mine.yaml"
    assert (
        find_task("lm-eval:wordsums")
        == find_task("lm_eval:wordsums")
        == installed / "a/wordsums.yaml"
    )
    assert find_task("arithmetic").parent.name == "builtin"
    assert [entry.name for entry in find_tasks("all_of_it")] == ["other"]
    assert [entry.name for entry in find_tasks("mixed")] == ["other", "twice"]


def test_they_are_listed_by_themselves(installed):
    assert "wordsums" not in {entry.name for entry in list_tasks()}
    assert [(entry.name, entry.kind) for entry in list_lm_eval_tasks()] == [
        ("all_of_it", "group"),
        ("arithmetic", "task"),
        ("keys", "task"),
        ("quoted one", "task"),
        ("twice", "task"),
        ("wordsums", "task"),
    ]


def test_a_name_that_there_is_not(installed):
    with pytest.raises(UnknownName, match=r"no task named 'wordsumz'. Did you mean 'wordsums'"):
        find_tasks("wordsumz")
    with pytest.raises(
        UnknownName, match=r"no task named 'arithmetics'. Did you mean 'arithmetic'"
    ):
        find_tasks("lm-eval:arithmetics")


def test_without_lm_eval(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "lm_eval_tasks", lambda: None)
    with pytest.raises(UnknownName, match="Those of lm-eval are found where it is installed"):
        find_tasks("zzzzzz")
    with pytest.raises(InvalidInput, match="lm-eval is not installed; pip install lm-eval"):
        find_tasks("lm-eval:wordsums")


# -- what is kept --------------------------------------------------------------------------


def test_files_are_read_once(installed, monkeypatch):
    find_tasks("wordsums")
    module._index.cache_clear()  # as in another process
    monkeypatch.setattr(module, "_scanned", lambda root: pytest.fail("read again"))
    assert find_task("wordsums").name == "wordsums.yaml"
    assert [path.name[:15] for path in cache_folder().iterdir()] == ["lm-eval-0.4.99-"]


def damaged(text: str) -> list[str]:
    data = json.loads(text)
    return [
        "",
        text[: len(text) // 2],
        "[]",
        "[" * 100_000,
        json.dumps({**data, "format": 0}),
        json.dumps({**data, "version": "0.4.98"}),
        json.dumps({**data, "stamp": 0}),
        json.dumps({**data, "names": {"wordsums": "a/wordsums.yaml"}}),
        json.dumps({**data, "names": {"wordsums": [5]}}),
        json.dumps({**data, "tags": 5}),
        json.dumps({**data, "groups": 5}),
    ]


def test_a_damaged_file_is_written_again(installed):
    find_tasks("wordsums")
    whole = kept().read_text()
    for text in damaged(whole):
        kept().write_text(text)
        module._index.cache_clear()
        assert find_task("wordsums").name == "wordsums.yaml"
        assert kept().read_text() == whole


def test_an_index_that_is_wrong_leads_to_no_wrong_task(installed):
    find_tasks("wordsums")
    kept().write_text(kept().read_text().replace("a/wordsums", "a/arithmetic"))
    module._index.cache_clear()
    with pytest.raises(UnknownName, match="no task named 'wordsums'"):
        find_tasks("wordsums")


def test_several_may_write_at_once(installed):
    found = []

    def look() -> None:
        index = module._index.__wrapped__
        found.append(index(installed, "0.4.99", installed.stat().st_mtime_ns).named("wordsums"))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[installed / "a" / "wordsums.yaml"]] * 8
    assert json.loads(kept().read_text())["version"] == "0.4.99"  # and no other file is left


def test_a_folder_that_cannot_be_written(installed, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert find_task("wordsums").name == "wordsums.yaml"


def test_a_working_copy_is_looked_at_again(installed, write, tmp_path, monkeypatch):
    copy = tmp_path / "copy" / "lm_eval"
    copy.parent.mkdir()
    installed.parent.rename(copy)
    monkeypatch.syspath_prepend(str(copy.parent))
    assert find_task("wordsums") == copy / "tasks" / "a" / "wordsums.yaml"
    write("copy/lm_eval/tasks/new/fresh.yaml", "task: fresh\n" + TASK)
    assert find_task("fresh").parent == copy / "tasks" / "new"


def test_where_files_are_kept(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder().is_absolute()
    assert cache_folder().name == "passband"


# -- what is in its files ------------------------------------------------------------------


def test_a_duplicate_key_is_a_warning_in_its_files(installed):
    (entry,) = find_tasks("twice")
    with pytest.warns(PassbandWarning, match=r"twice.yaml:3: duplicate key.*line 2.*as in lm-eval"):
        assert load_task(entry).num_fewshot == 0
