"""What the rows of a table say beyond scores."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from passband import read
from passband.errors import InvalidInput
from passband.readers import Group, Groups, Options, readers, register_reader
from passband.stats.data.outcomes import Outcomes


def rows(problems: int = 30, trials: int = 4, **columns: Any) -> list[dict[str, Any]]:
    """Return records; a column is a function of the problem, the trial and the score."""
    rng = np.random.default_rng(5)
    records = []
    for problem in range(problems):
        for trial in range(trials):
            score = int(rng.random() < 0.5)
            more = {name: make(problem, trial, score) for name, make in columns.items()}
            records.append({"problem": f"p{problem}", "trial": trial, "score": score, **more})
    return records


def found(table: Any, **options: Any) -> dict[str, Any]:
    (group,) = read(table, **options).groups
    return {finding.code: finding for finding in group.outcomes.found.findings}


def same(problem: int, trial: int, score: int) -> str:
    return f"A long answer to the problem {problem}, the same each time."


def other(problem: int, trial: int, score: int) -> str:
    return f"A long answer to the problem {problem}, this time the one numbered {trial}."


def test_nothing_is_found_without_texts_or_in_fair_ones() -> None:
    assert found(rows()) == {}
    assert found(rows(completion=other, prompt=lambda p, t, s: f"What is {p}?")) == {}


def test_identical_answers_are_invalid_over_trials() -> None:
    finding = found(rows(response=same))["identical-answers"]
    assert finding.severity_for("trials", 1) == "invalid"
    assert finding.severity_for("problems", 1) == "remark"


def test_at_temperature_zero_they_are_greedy_decoding() -> None:
    table = rows(completion=same, temperature=lambda p, t, s: 0.0)
    assert list(found(table)) == ["greedy-decoding"]


def test_copied_prompts_are_found_and_clustered_by_any_name() -> None:
    table = rows(question_text=lambda p, t, s: f"What is {p // 3}?")
    assert found(table)["copied-problems"].numbers["prompts"] == 10
    (group,) = read(table, columns={"cluster": "prompt"}).groups
    assert group.outcomes.n_units(1) == 10
    assert "copied-problems" not in found(table, columns={"cluster": "prompt"})


def test_right_answers_that_are_scored_wrong() -> None:
    table = rows(
        completion=lambda p, t, s: str(100 + p) if s else f"All in all, it is {100 + p} then",
        target=lambda p, t, s: 100 + p,
    )
    finding = found(table)["looks-misread"]
    assert finding.severity == "weak"
    assert 'expected "1' in finding.text
    fair = rows(
        completion=lambda p, t, s: f"In run {t} it is {100 + p + (0 if s else 7)}",
        target=lambda p, t, s: 100 + p,
    )
    assert found(fair) == {}


def test_first_trials_keep_what_texts_show() -> None:
    assert "identical-answers" in found(rows(response=same), first=2)


@pytest.mark.parametrize("trials", [1, 3])
def test_python_s_own_constructor_leaves_texts_alone(trials: int) -> None:
    assert Outcomes.from_array(np.eye(trials)).found.findings == ()


def test_first_trials_of_a_data_set_are_chosen_row_by_row(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "set").mkdir()
    for part in range(2):
        table = pa.Table.from_pylist(rows()[part::2])
        parquet.write_table(table, tmp_path / "set" / f"{part}.parquet")
    (group,) = read(tmp_path / "set", first=2).groups
    assert group.outcomes.trials.tolist() == [2] * 30
    expected = {row["problem"]: 0 for row in rows()}
    for row in rows():
        expected[row["problem"]] += row["score"] * (row["trial"] < 2)
    counts = zip(group.outcomes.problems, group.outcomes.required_successes(), strict=True)
    assert dict(counts) == expected


def test_a_reader_that_has_no_first_trials_is_refused(tmp_path: Path) -> None:
    @register_reader("whole")
    class Whole:
        def sniff(self, path: Path) -> bool:
            return path.suffix == ".whole"

        def read(self, path: Path, options: Options) -> Groups:
            return Groups(str(path), (), (Group((), Outcomes.from_array([[1, 0, 1]])),))

    path = tmp_path / "a.whole"
    path.touch()
    try:
        with pytest.raises(InvalidInput, match="has no first trials"):
            read(path, first=2)
    finally:
        readers.remove("whole")


def test_targets_are_those_of_each_problem_where_asked_for() -> None:
    table = rows(3, gold=lambda p, t, s: [2.0, "", 7][p])
    (group,) = read(table, targets=True).groups
    assert group.targets == {"p0": ("2",), "p2": ("7",)}
    assert read(table).groups[0].targets == {}
    assert read(rows(3), targets=True).groups[0].targets == {}
