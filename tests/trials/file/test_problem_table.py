"""Problems of a run: what may change in the data, and what is refused in words."""

from dataclasses import replace
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.trials.encoding import canonical_json
from passband.trials.reader import Trials
from passband.trials.rows import ProblemRow, ScoreRow, TrialRow
from passband.trials.settings import SettingsChanged
from support.samples.stores import begin, problem, writing


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (replace(problem(1), key="q"), "problem 2 of the data was 'p1' and is now 'q'"),
        (problem(1, target="43"), """'p1' has changed its targets: ["42"] then, ["43"] now"""),
        (
            replace(problem(1), record=problem(1).record.replace("Question", "Frage")),
            'has changed its messages: [["user", "Question 1?"]] then',
        ),
        (
            replace(problem(1), record=problem(1).record.replace('"id":"p1"', '"id":"x"')),
            'has changed its doc.id: "p1" then, "x" now',
        ),
    ],
)
def test_other_problems_are_refused_in_words(
    tmp_path: Path, changed: ProblemRow, words: str
) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        with pytest.raises(SettingsChanged) as caught:
            store.add_problems(run, [problem(0), changed, problem(2), problem(3)])
        assert words in str(caught.value)
        assert store._one("SELECT count(*) FROM problem") == 3


@pytest.mark.parametrize(
    ("before", "after"), [({"x": 1}, {"x": 1.0}), ({"x": None}, {}), ({"x": {}}, {"x": {}})]
)
def test_the_same_problem_written_otherwise_is_the_same(
    tmp_path: Path, before: dict, after: dict
) -> None:
    """A data set may lose a null, or write 1 as 1.0, between two versions of a library."""
    with writing(tmp_path) as store:
        run, _ = begin(store, [replace(problem(0), record=canonical_json({"doc": before}))])
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        store.add_problems(run, [replace(problem(0), record=canonical_json({"doc": after}))])


def test_data_may_grow_at_the_front_and_be_put_in_another_order(tmp_path: Path) -> None:
    first, second, third = (problem(at) for at in range(3))
    with writing(tmp_path) as store:
        run, (scorer,) = begin(store, [first, second])
        for at in (0, 1):
            scores = [ScoreRow(scorer, float(at))]
            store.append(run, [TrialRow(at, 0, "ok", f"text {at}", scores=scores)])
        grown = [third, first, second]
        numbers = store.add_problems(run, [replace(row, position=at) for at, row in
                                           enumerate(grown)])  # fmt: skip
        assert numbers == [2, 0, 1]
        store.append(run, [TrialRow(2, 0, "ok", "text 2", scores=[ScoreRow(scorer, 0.5)])])
    with Trials(tmp_path) as trials:
        found = trials.run()
        assert [each.key for each in trials.problems(run)] == ["p2", "p0", "p1"]
        assert [row.text for row in trials.trials(found)] == ["text 2", "text 0", "text 1"]
        outcomes = trials.outcomes(found)
        assert list(outcomes.problems) == ["p2", "p0", "p1"]
        assert outcomes.graded.values.tolist() == [0.5, 0.0, 1.0]


def test_a_problem_that_the_data_lack_now_goes_behind(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(at, 0, "ok", "x") for at in range(3)])
        assert store.add_problems(run, [problem(0), replace(problem(2), position=1)]) == [0, 2]
    with Trials(tmp_path) as trials:
        assert [each.key for each in trials.problems(run)] == ["p0", "p2", "p1"]


def test_a_part_of_the_data_leaves_the_rest_in_place(tmp_path: Path) -> None:
    """As the shards of a run do."""
    with writing(tmp_path) as store:
        run, _ = begin(store, [problem(at) for at in range(6)])
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        assert store.add_problems(run, [problem(at) for at in (1, 4)]) == [1, 4]
    with Trials(tmp_path) as trials:
        assert [each.position for each in trials.problems(run)] == list(range(6))


def test_more_problems_may_come_and_fewer(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        store.add_problems(run, [problem(at) for at in range(5)])
        store.add_problems(run, [problem(0)])
        assert store._one("SELECT count(*) FROM problem") == 5


def test_a_name_stands_for_one_problem(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store)
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        for twice in (
            [problem(0), replace(problem(0), position=3)],
            [problem(3), replace(problem(4), key="p3")],
        ):
            with pytest.raises(InvalidInput, match="two problems are named"):
                store.add_problems(run, twice)


def test_clusters_follow_the_data(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        run, _ = begin(store, [problem(0), problem(1, cluster="a")])
        store.append(run, [TrialRow(0, 0, "ok", "x")])
        store.add_problems(run, [problem(0, cluster="b"), problem(1, cluster="b"), problem(2)])
    with Trials(tmp_path) as trials:
        assert [each.cluster for each in trials.problems(run)] == ["b", "b", None]


def test_a_problem_without_a_place_in_the_data_does_not_claim_one(tmp_path: Path) -> None:
    """It is moved behind all others, and no data can have another problem in a place there."""
    first, second, third = (problem(at) for at in range(3))
    swapped = [replace(third, position=0), replace(second, position=1)]
    with writing(tmp_path) as store:
        run, _ = begin(store, [first, second, third])
        store.append(run, [TrialRow(number, 0, "ok", "x") for number in range(3)])
        assert store.add_problems(run, swapped) == [2, 1]
        assert store.add_problems(run, [*swapped, problem(2 + 5), problem(3), problem(4)])
    with Trials(tmp_path) as trials:
        keys = [each.key for each in trials.problems(run)]
    assert keys == ["p2", "p1", "p3", "p4", "p7", "p0"]
