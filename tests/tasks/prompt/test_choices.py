from collections import Counter

import pytest

from passband.errors import InvalidInput
from passband.tasks.file.loader import load_task
from passband.tasks.prompt.field import ChoiceOrder, example_key

CHOICES = ("right", "a", "b", "c")
ROWS = [
    {"id": f"p{i}", "Q x": f"q{i}", "Right One": str(i), "Wrong One": str(i + 1), "Third": "z "}
    for i in range(40)
]
BASE = """
dataset_path: json
dataset_kwargs: {data_files: rows.jsonl}
doc_to_choice: '{{ [doc["Right One"], doc["Wrong One"], Third] }}'
doc_to_target: 0
doc_to_text: '{{ doc["Q x"] }}: {{ choices | join(",") }}'
"""


def test_every_place_is_as_likely_as_another():
    order = ChoiceOrder("t", 0)
    places = Counter(order.permuted(CHOICES, str(key)).index("right") for key in range(2000))
    assert all(abs(count - 500) < 90 for count in places.values())


def test_the_order_depends_on_task_seed_and_problem_alone():
    orders = {
        ChoiceOrder(task, seed).permuted(CHOICES, key)
        for task in "ab"
        for seed in (0, 1)
        for key in "xyz"
    }
    assert len(orders) > 6
    assert ChoiceOrder("a", 0).permuted(CHOICES, "x") == ChoiceOrder("a", 0).permuted(CHOICES, "x")
    assert sorted(ChoiceOrder("a", 0).permuted(CHOICES, "x")) == sorted(CHOICES)
    assert example_key({"a": 1, "b": 2}) == example_key({"b": 2, "a": 1})


def test_choices_and_target_are_shuffled_together(task):
    problems = load_task(task("shuffle_choices: {seed: 0}", BASE, ROWS)).load(None)
    for problem, row in zip(problems, ROWS, strict=True):
        assert problem.reference.targets == (row["Right One"],)
        assert set(problem.reference.choices) == {row["Right One"], row["Wrong One"], "z "}
        shown = ",".join(text.strip() for text in problem.reference.choices)
        assert problem.messages[0].content == f"{row['Q x']}: {shown}"
    places = Counter(p.reference.choices.index(p.reference.targets[0]) for p in problems)
    assert len(places) == 3
    again = load_task(task("shuffle_choices: {seed: 0}", BASE, ROWS)).load(7)
    assert [p.reference for p in again] == [p.reference for p in problems[:7]]
    other = load_task(task("shuffle_choices: {seed: 1}", BASE, ROWS)).load(None)
    assert [p.reference for p in other] != [p.reference for p in problems]


def test_without_a_seed_choices_stay_in_order(task):
    first = load_task(task("", BASE, ROWS)).load(1)[0]
    assert first.reference.choices == ("0", "1", "z ")
    assert first.messages[0].content == "q0: 0,1,z"


def test_a_column_named_choices_wins_unless_they_are_shuffled(task):
    base = BASE.replace('[doc["Right One"], doc["Wrong One"], Third]', 'doc["choices"]')
    rows = [{"id": i, "Q x": "q", "choices": ["0", "1", "2", "3"]} for i in range(20)]
    kept = load_task(task("", base, rows)).load(None)
    assert {p.messages[0].content for p in kept} == {"q: 0,1,2,3"}
    shuffled = load_task(task("shuffle_choices: {seed: 0}", base, rows)).load(None)
    assert len({p.messages[0].content for p in shuffled}) > 5
    assert all(p.messages[0].content == f"q: {','.join(p.reference.choices)}" for p in shuffled)


def test_worked_examples_are_shuffled_too(task):
    text = "shuffle_choices: {seed: 0}\nnum_fewshot: 3\nfewshot_config: {doc_to_target: Third}"
    for problem in load_task(task(text, BASE, ROWS)).load(None):
        *examples, asked = problem.messages[0].content.split("\n\n")
        for line in examples:
            _, key, shown, target = line.replace(":", " ").split()[0:1] + line.split()[0:3]
            assert target == "z"  # other text than a choice is free in an example
            assert set(shown.split(",")) == {key[1:-1], str(int(key[1:-1]) + 1), "z"}
        assert asked.startswith("q")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shuffle_choices: {}", "shuffle_choices: the key 'seed' is missing"),
        ("shuffle_choices: {sed: 0}", "Did you mean 'seed'"),
        ("shuffle_choices: {seed: x}", "seed must be a whole number; got 'x'"),
        ("shuffle_choices: true", "shuffle_choices must be a mapping; got True"),
    ],
)
def test_wrong_settings(task, text, message):
    with pytest.raises(InvalidInput, match=message):
        load_task(task(text, BASE, ROWS))


def test_there_must_be_choices(task):
    with pytest.raises(InvalidInput, match="shuffle_choices needs doc_to_choice"):
        load_task(task("shuffle_choices: {seed: 0}"))
