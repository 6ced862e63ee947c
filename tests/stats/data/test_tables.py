"""Tables: every library's table is read alike, columns are found by name, rows are checked."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput, Outcomes
from passband.errors import UnknownName
from passband.stats.data.columns import ROLES, Roles
from passband.stats.data.tables import Table

COLUMNS: dict[str, list[Any]] = {
    "problem_id": ["a", "b", "a", "a", "b"],
    "trial": [1, 1, 2, 3, 2],
    "status": ["ok", "ok", "ok", "timeout", "ok"],
    "score": [1.0, 0.0, 0.0, None, 1.0],
}
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


def facts(outcomes: Outcomes) -> tuple[object, ...]:
    assert outcomes.successes is not None
    return (
        list(outcomes.problems),
        outcomes.trials.tolist(),
        outcomes.successes.tolist(),
        outcomes.status_counts,
        None if outcomes.clusters is None else list(outcomes.clusters),
    )


# -- any library's table ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        COLUMNS,
        {name: np.array(column) for name, column in COLUMNS.items()},
        {name: tuple(column) for name, column in COLUMNS.items()},
        {name: pd.Series(column) for name, column in COLUMNS.items()},
        RECORDS,
        iter(RECORDS),
        [{k: v for k, v in record.items() if v is not None} for record in RECORDS],
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).astype({"score": "Int64", "problem_id": "category"}),
        pa.table(COLUMNS),
        pa.Table.from_pylist(RECORDS),
        Table(COLUMNS),
    ],
)
def test_every_kind_of_table_is_read_alike(table: object) -> None:
    expected = (["a", "b"], [2, 2], [1, 1], {"ok": 4, "timeout": 1}, None)
    assert facts(Outcomes.from_table(table)) == expected


def test_the_table_is_not_changed() -> None:
    frame = pd.DataFrame(COLUMNS)
    before = frame.copy()
    Outcomes.from_table(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_a_masked_column_stays_masked() -> None:
    scores = np.ma.masked_array([1, 1, 0], mask=np.array([0, 1, 0], bool))
    outcomes = Outcomes.from_table({"problem": ["a", "a", "b"], "score": scores})
    assert facts(outcomes)[1:4] == ([1, 1], [1, 0], {"ok": 2, "missing": 1})


def test_keys_of_records_need_not_be_text() -> None:
    table = Table.of([{0: "a", 1: 1}, {0: "b", 1: 0}])
    assert facts(table.outcomes(problem="0", score="1"))[2] == [1, 0]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "the table is empty"),
        ([], "the table is empty"),
        ({"problem": [], "score": []}, "the table is empty"),
        (pd.DataFrame(), "the table is empty"),
        ({"problem": ["a"], "score": [1, 0]}, "equal lengths; got problem with 1, score with 2"),
        ({"problem": "a", "score": [1]}, "column problem must be a list of values; got 'a'"),
        ({"problem": ["a"], "score": 1}, "column score must be a list of values; got 1"),
        ({"problem": {"0": "a"}, "score": {"0": 1}}, "column problem must be a list"),
        ({"problem": np.array("a"), "score": [1]}, "column problem must be a list"),
        ([{"problem": "a", "score": 1}, [1]], "row 2 is list, not a record"),
        (["a"], "row 1 is str, not a record"),
        (5, "need columns or records; got int"),
        (pd.DataFrame([["a", 1, 0]], columns=["p", "score", "score"]), "must be distinct"),
        (pa.table([["a"], [1], [0]], names=["p", "score", "score"]), "must be distinct"),
    ],
)
def test_what_is_not_a_table_is_refused(table: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Outcomes.from_table(table)


# -- which column is which -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (["task_id", "passed"], Roles("task_id", "passed")),
        (["Task ID", "Is Correct", "Trial"], Roles("Task ID", "Is Correct", "Trial")),
        (["taskId", "isCorrect"], Roles("taskId", "isCorrect")),
        (["TASK-ID", " Score "], Roles("TASK-ID", " Score ")),
        (["id", "problem", "reward", "score"], Roles("problem", "score")),
        (["id", "acc", "status"], Roles("id", "acc", status="status")),
        (["doc_id", "epoch", "value", "cluster"], Roles("doc_id", "value", "epoch", "cluster")),
    ],
)
def test_columns_are_guessed(names: list[str], roles: Roles) -> None:
    assert Table({name: ["1"] for name in names}).roles() == roles


@pytest.mark.parametrize("role", ROLES)
def test_every_usual_name_is_recognized(role: str) -> None:
    for name in ROLES[role]:
        needed = {"problem": "problem_id", "score": "score"} | {role: name}
        table = Table({written: ["1"] for written in needed.values()})
        assert vars(table.layout(answers=True).roles)[role] == name
        shouted = name.upper().replace("_", " ")
        assert Table({**table.columns, shouted: ["1"]}).roles(**needed)


def test_columns_can_be_named() -> None:
    table: dict[str, Any] = {
        "name": ["a", "a"],
        "problem": ["x", "y"],
        "ok": [1, 0],
        "score": [5, 6],
    }
    found = Outcomes.from_table(table, problem="name", score="ok")
    assert facts(found)[:3] == (["a"], [2], [1])
    assert str(Table(table).roles(problem="name")) == "problem = name, score = score"


def test_a_column_plays_one_part() -> None:
    with pytest.raises(UnknownName, match="no column looks like a score"):
        Table({"score": ["a"]}).roles(problem="score")


@pytest.mark.parametrize(
    ("columns", "given_roles", "message"),
    [
        (["probelm", "score"], {}, r"a problem; found: probelm, score\. Did you mean 'probelm'\?"),
        (["problem", "scroe"], {}, r"a score; found: problem, scroe\. Did you mean 'scroe'\?"),
        (["xyz"], {}, r"found: xyz\. Say which one it is with problem= .*--problem.* problem_id"),
        (["problem", "score"], {"score": "scor"}, r"no column named 'scor' .*'score'\? Found: pr"),
        (["problem", "score"], {"scores": "x"}, r"no column role named 'scores'.*'score'\?"),
        ([f"column {n}" for n in range(40)], {}, "column 11 and 28 more"),
    ],
)
def test_columns_not_found(
    columns: list[str], given_roles: Mapping[str, str], message: str
) -> None:
    with pytest.raises(UnknownName, match=message):
        Table({name: ["1"] for name in columns}).roles(**given_roles)


# -- rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["1", "0"], [1, 1]),
        (["1.0", "0.0"], [1, 1]),
        ([" 1 ", "0 "], [1, 1]),
        (["True", "FALSE"], [1, 1]),
        (["yes", "no"], [1, 1]),
        (["pass", "fail"], [1, 1]),
        (["Passed", "Failed"], [1, 1]),
        (["correct", "incorrect"], [1, 1]),
        ([True, False], [1, 1]),
        ([np.True_, np.float32(0)], [1, 1]),
        ([np.array(1.0), 0], [1, 1]),
        ([1, None], [1, 0]),
        ([1, float("nan")], [1, 0]),
        ([1, pd.NA], [1, 0]),
        (["1", ""], [1, 0]),
        (["1", "n/a"], [1, 0]),
        (["1", "null"], [1, 0]),
    ],
)
def test_scores_as_people_write_them(written: list[Any], read: list[int]) -> None:
    outcomes = Outcomes.from_table({"problem": ["a", "b"], "score": written})
    assert outcomes.trials.tolist() == read
    assert outcomes.successes is not None
    assert outcomes.successes.tolist() == [1, 0]


@pytest.mark.parametrize(
    "wrong", ["maybe", "100%", "0,5", [1], {"value": 1}, object(), 10**400, b"\xff", "x" * 500]
)
def test_scores_that_are_none(wrong: object) -> None:
    column = [1, 0, wrong, wrong]
    with pytest.raises(InvalidInput, match=r"score must hold numbers, .* row 3 has") as error:
        Outcomes.from_table({"problem": list("aabb"), "score": column})
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("wrong", ["inf", "-Infinity", "1e999", float("inf"), np.float32("-inf")])
def test_scores_are_finite(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="column score must hold finite numbers; row 2 has"):
        Outcomes.from_table({"problem": ["a", "a"], "score": [1, wrong]})


@pytest.mark.parametrize("nobody", ["", "  ", None, float("nan"), pd.NA])
def test_every_row_names_its_problem(nobody: object) -> None:
    with pytest.raises(InvalidInput, match="column problem is empty in row 2"):
        Outcomes.from_table({"problem": ["a", nobody], "score": [1, 0]})


def test_odd_problem_names_are_names() -> None:
    names = ["None", "0", "missing", ("a", 1), 3.0, 3.5]
    outcomes = Outcomes.from_table({"problem": names, "score": [1] * 6})
    assert outcomes.problems == ["None", "0", "missing", "('a', 1)", "3", "3.5"]
    lists = Outcomes.from_table({"problem": [["a"], ["a"], ["b"]], "score": [1, 0, 1]})
    assert facts(lists)[:3] == (["['a']", "['b']"], [2, 1], [1, 1])


def test_numbers_are_names_however_they_are_stored() -> None:
    table: dict[str, Any] = {
        "problem": [1, 1.0, np.int64(1)],
        "trial": [1, 2, 3],
        "score": [1, 0, 1],
    }
    assert facts(Outcomes.from_table(table))[:3] == (["1"], [3], [2])


def test_statuses_are_counted_where_there_is_no_score() -> None:
    table: dict[str, Any] = {
        "problem": list("aaaab"),
        "score": [1, None, None, "", None],
        "status": ["ok", "ok", "timeout", None, "timeout"],
    }
    outcomes = Outcomes.from_table(table)
    assert outcomes.status_counts == {"ok": 1, "missing": 2, "timeout": 2}
    assert outcomes.unscored["timeout"].tolist() == [1, 1]
    assert outcomes.trials.tolist() == [1, 0]


def test_duplicate_trials_are_shown() -> None:
    table: dict[str, Any] = {
        "problem": ["a", "a", "b", "b", "c", "c", "c", "d", "d", "e"],
        "trial": [1, 1, 1, 1, 1, 2, 2, 7, 7, 1],
        "score": [1] * 10,
    }
    message = r"\(problem, trial\) is repeated for \(a, 1\); \(b, 1\); \(c, 2\) and 1 more\."
    with pytest.raises(InvalidInput, match=message):
        Outcomes.from_table(table)
    del table["trial"]
    assert Outcomes.from_table(table).trials.tolist() == [2, 2, 3, 2, 1]


def test_long_names_are_cut_in_messages() -> None:
    table: dict[str, Any] = {
        "problem": ["p" * 10_000] * 2,
        "trial": ["t" * 10_000] * 2,
        "score": [1, 0],
    }
    with pytest.raises(InvalidInput, match="is repeated for") as error:
        Outcomes.from_table(table)
    assert len(str(error.value)) < 400


def test_clusters() -> None:
    table: dict[str, Any] = {"problem": list("aab"), "score": [1, 0, 1], "cluster": ["x", "x", "y"]}
    assert facts(Outcomes.from_table(table))[4] == ["x", "y"]
    table["cluster"] = ["x", "y", "y"]
    with pytest.raises(InvalidInput, match="one cluster; 'a' is in 'x' and 'y'"):
        Outcomes.from_table(table)


def test_an_empty_cluster_column_makes_no_clusters() -> None:
    table: dict[str, Any] = {
        "problem": list("aab"),
        "score": [1, 0, 1],
        "cluster": [None, "", None],
    }
    assert Outcomes.from_table(table).clusters is None
    with pytest.raises(InvalidInput, match=r"column cluster \(for cluster\) is empty in every row"):
        Outcomes.from_table(table, cluster="cluster")


def test_a_problem_without_a_cluster_among_others_is_refused() -> None:
    table: dict[str, Any] = {
        "problem": list("aab"),
        "score": [1, 0, 1],
        "cluster": ["x", "x", None],
    }
    with pytest.raises(InvalidInput, match="column cluster is empty for problem 'b'; every"):
        Outcomes.from_table(table)


def test_graded_scores_stay_with_their_problem() -> None:
    outcomes = Outcomes.from_table({"problem": list("aba"), "score": [0.5, 2, 1.5]})
    assert outcomes.graded is not None
    assert outcomes.graded.values.tolist() == [0.5, 1.5, 2]
    assert outcomes.graded.offsets.tolist() == [0, 2, 3]


rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from([0, 1, None])), min_size=1, max_size=20
)


@given(rows)
def test_a_table_and_a_matrix_agree(rows: Sequence[tuple[str, int | None]]) -> None:
    by_problem: dict[str, list[int | None]] = {}
    for problem, score in rows:
        by_problem.setdefault(problem, []).append(score)
    table = Outcomes.from_table([{"problem": p, "score": s} for p, s in rows])
    matrix = Outcomes.from_array(list(by_problem.values()), problems=list(by_problem))
    assert facts(table) == facts(matrix)


# -- other shapes ----------------------------------------------------------------------------


def test_a_column_per_trial() -> None:
    table = Table({"problem": ["a", "b"], "Trial 1": ["1", "0"], "Trial 2": ["1", ""]})
    outcomes = table.outcomes()
    assert facts(outcomes)[:4] == (["a", "b"], [2, 1], [2, 0], {"ok": 3, "missing": 1})
    assert table.long().unfolded == "a column per trial: Trial 1, Trial 2"


def test_a_column_per_trial_and_a_row_per_problem() -> None:
    table = Table({"0": [1, 0], "1": [1, 1], "2": [0, 0]})
    assert facts(table.outcomes())[:3] == (["0", "1"], [3, 3], [2, 1])
    named = Table({"name": ["a", "b"], "t1": [1, 0], "t2": [1, 1]})
    assert facts(named.outcomes(problem="name"))[:3] == (["a", "b"], [2, 2], [2, 1])


def test_counts() -> None:
    table = Table({"problem": ["a", "b"], "n": ["8", "4"], "c": ["3", "0"]})
    assert facts(table.outcomes())[:3] == (["a", "b"], [8, 4], [3, 0])
    assert table.long().unfolded == "counts: c successes of n trials"


@pytest.mark.parametrize(("n", "c"), [(2, 3), (0, 0), (-1, -1), (2.5, 1), (2, 0.5), (None, 1)])
def test_counts_that_cannot_be(n: float | None, c: float) -> None:
    with pytest.raises(InvalidInput, match=r"row 2 has c = .* and n = "):
        Table({"problem": ["a", "b"], "n": [2, n], "c": [1, c]}).outcomes()


def test_counts_too_many_to_unfold() -> None:
    with pytest.raises(InvalidInput, match=r"more than the 20000000.*from_counts"):
        Table({"problem": ["a"], "n": [10**15], "c": [1]}).outcomes()


def test_a_score_column_is_never_passed_over() -> None:
    table = Table({"problem": ["a"], "score": [1], "trial_1": [0], "trial_2": [0], "n": [3]})
    assert table.long() is table
    assert table.long(score="trial_1") is table
    features = Table({"problem": ["a"], "feature_1": [1], "feature_2": [0]})
    assert features.long() is features


# -- splitting -------------------------------------------------------------------------------


def test_split_by_columns() -> None:
    table = Table({"problem": list("aabb"), "model": list("MNMN"), "score": [1, 0, 1, 0]})
    parts = {group.key: facts(group.outcomes)[2] for group in table.layout(by=["model"]).groups()}
    assert parts == {("M",): [1, 1], ("N",): [0, 0]}
    by_both = table.layout(by=["model", "problem"]).groups()
    assert [group.key for group in by_both] == [("M", "a"), ("N", "a"), ("M", "b"), ("N", "b")]
    assert table.several("model")
    with pytest.raises(UnknownName, match=r"'modle' \(for --by\)\. Did you mean 'model'\?"):
        table.layout(by=["modle"])


def test_columns_by_any_spelling() -> None:
    table = Table({name: ["1"] for name in ("Model", "model name", "x", "MODEL")})
    assert table.matching(("model_name", "model")) == ["model name", "Model", "MODEL"]
    assert not table.several("Model")
