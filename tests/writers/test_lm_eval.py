"""Results of lm-eval: what its `make_table` needs, and the numbers of the summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from passband import summarize
from passband.trials.merging.merge import merge_directories
from passband.trials.rows import TrialRow
from support.runs.commands import run
from support.samples.stores import begin, filled, writing


def results(directory: Path, *options: object) -> dict[str, Any]:
    target = directory.parent / "results.json"
    done = run("export", directory, "--format", "lm-eval", "-o", target, *options)
    assert done.code == 0, done.err
    content: dict[str, Any] = json.loads(target.read_text())
    return content


def rows_of_a_table(content: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return (task, filter, metric, value and error) as lm-eval 0.4.13 makes a table of them.

    It fails without `results` or `versions`, on a value that is no number, and on a standard error
    that is neither a number nor "N/A".
    """
    rows = []
    for task, numbers in content["results"].items():
        assert content["versions"][task] is not None
        content.get("n-shot", {}).get(task)
        for key, value in numbers.items():
            metric, _, name = key.partition(",")
            if metric.endswith("_stderr") or key in ("alias", "sample_len"):
                continue
            error = numbers[f"{metric}_stderr,{name}"]
            shown = " N/A" if error == "N/A" else f"{error:.4f}"
            rows.append((task, name, metric, f"{value:.4f} ± {shown}"))
    return rows


def test_a_table_of_every_metric(tmp_path: Path) -> None:
    directory = filled(tmp_path / "run", [[1, 0, 1, 1], [0, 0, 0, 1], [0, 1, 1, 1]])
    content = results(directory)
    lines = [line for group in summarize(directory).groups for line in group.lines]
    expected = {f"{line.metric},none": line.estimate for line in lines}
    assert list(expected) == ["pass@1,none", "pass@2,none", "pass@4,none", "pass^2,none",
                              "pass^4,none"]  # fmt: skip
    for key, estimate in expected.items():
        assert estimate is not None
        assert content["results"]["sums"][key] == estimate.value
        error = content["results"]["sums"][key.replace(",", "_stderr,")]
        assert error == ("N/A" if estimate.se is None else estimate.se)
    assert rows_of_a_table(content)[0][:3] == ("sums", "none", "pass@1")
    assert content["n-samples"]["sums"] == {"original": 3, "effective": 3}
    assert content["config"]["model"] == "tiny"


def test_an_error_that_is_not_known(tmp_path: Path) -> None:
    content = results(filled(tmp_path / "run", [[1], [1]]))
    assert content["results"]["sums"]["pass@1_stderr,none"] == "N/A"
    assert rows_of_a_table(content) == [("sums", "none", "pass@1", "1.0000 ±  N/A")]


def test_several_tasks_of_one_model(tmp_path: Path) -> None:
    one = filled(tmp_path / "one", [[1, 0]], task="sums")
    two = filled(tmp_path / "two", [[1, 1]], task="logic")
    merge_directories([one, two], tmp_path / "all")
    assert set(results(tmp_path / "all")["results"]) == {"sums", "logic"}


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        number, _ = begin(store)
        store.append(number, [TrialRow(0, 0, "gave_up")])
    target = tmp_path / "results.json"
    done = run("export", tmp_path / "run", "--format", "lm-eval", "-o", target)
    assert done.code == 0
    assert "sums: 1 trials without a score are not in these means" in done.err
    assert json.loads(target.read_text())["results"]["sums"] == {"alias": "sums", "sample_len": 3}
