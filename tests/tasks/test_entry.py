"""Groups of tasks: members of all kinds, metrics, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.tasks.entry import GroupMetric, TaskGroup
from passband.tasks.find import find_tasks

TASK = "dataset_path: rows.jsonl\ndoc_to_text: q\ndoc_to_target: a\n"
Write = Callable[..., Path]


@pytest.fixture
def folder(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PASSBAND_TASKS", raising=False)
    for name, tag in (("algebra", "maths"), ("geometry", "maths"), ("poems", "arts")):
        write(f"{name}.yaml", f"task: {name}\ntag: {tag}\n{TASK}")
    return tmp_path


def test_nested_groups_have_all_tasks_below_them(folder: Path, write: Write) -> None:
    write(
        "all.yaml",
        "group: all\n"
        "task:\n"
        "  - group: science\n"
        "    group_alias: Science\n"
        "    task: [maths]\n"
        "    aggregate_metric_list: {metric: acc, weight_by_size: false, filter_list: none}\n"
        "  - task: poems\n"
        "  - algebra\n"
        "aggregate_metric_list:\n"
        "  - metric: acc\n"
        "    aggregation: mean\n",
    )
    entries = find_tasks("all.yaml")
    assert [entry.name for entry in entries] == ["algebra", "geometry", "poems"]
    whole = TaskGroup("all", ("algebra", "geometry", "poems"), (GroupMetric("acc"),))
    science = TaskGroup(
        "science", ("algebra", "geometry"), (GroupMetric("acc", ("none",), False),), "Science"
    )
    assert entries[0].groups == (whole, science)
    assert entries[2].groups == (whole,)
    assert find_tasks("all") == entries
    assert TaskGroup.of(science.as_json()) == science


def test_a_group_without_metrics_is_only_a_list(folder: Path, write: Write) -> None:
    write("plain.yaml", "group: plain\ntask: [algebra, poems]\n")
    assert [entry.groups for entry in find_tasks("plain")] == [(), ()]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "{metric: acc, aggregation: median}",
            "all.yaml:3: the only aggregation over tasks is mean",
        ),
        ("{metric: acc, weight_by_size: 3}", "weight_by_size is true or false; got 3"),
        ("{metric: acc, wieght_by_size: true}", "has no key 'wieght_by_size'"),
        ("{metric: acc, filter_list: [1]}", "filter_list is a name or a list of names"),
        ("{aggregation: mean}", "names a metric"),
        ("acc", "names a metric; got 'acc'"),
    ],
)
def test_refused(folder: Path, write: Write, entry: str, message: str) -> None:
    write("all.yaml", f"group: all\ntask: [algebra]\naggregate_metric_list: [{entry}]\n")
    with pytest.raises(InvalidInput, match=message):
        find_tasks("all.yaml")


def test_inner_groups_are_checked_too(folder: Path, write: Write) -> None:
    write("all.yaml", "group: all\ntask:\n  - group: in\n    task: [{task: algebra, repeats: 3}]\n")
    with pytest.raises(InvalidInput, match="settings for its tasks are not read"):
        find_tasks("all.yaml")
    write("all.yaml", "group: all\ntask:\n  - group: in\n    task: [all]\n")
    with pytest.raises(InvalidInput, match="the group 'all' contains itself"):
        find_tasks("all.yaml")
