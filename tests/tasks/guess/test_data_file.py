"""Plain data as a task: what is guessed, what is said about it, and what is refused."""

import csv
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.generate.problem import Problem
from passband.score.scorer import Reference
from passband.tasks.file.loader import load_task
from passband.tasks.guess.answers import kind_of
from passband.tasks.guess.data_file import draft_task
from passband.tasks.guess.guess import DataOptions
from passband.tasks.guess.load import load_data_task, recorded_data_task, write_task_file
from passband.tasks.task import Task
from support.fuzz.properties import one_in

Rows = Sequence[Mapping[str, Any]]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(*rows: Mapping[str, Any], name: str = "problems.jsonl") -> Path:
    path = Path(name)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def loaded(*rows: Mapping[str, Any], **options: Any) -> tuple[Task, list[Problem]]:
    """The task of rows, and its problems; the file that init writes gives the same."""
    path = written(*rows)
    return both_ways(path, **options)


def both_ways(path: Path, **options: Any) -> tuple[Task, list[Problem]]:
    chosen = DataOptions(**options)
    task = load_data_task(path, chosen)
    problems = list(task.load(None))
    file = load_task(write_task_file(draft_task(path, chosen), force=True))
    assert list(file.load(None)) == problems
    assert [s.identity for s in file.scorers] == [s.identity for s in task.scorers]
    assert (file.name, file.config, file.sampling, file.metrics) == (
        task.name, task.config, task.sampling, task.metrics,
    )  # fmt: skip
    assert file.load.digest(None) == task.load.digest(None)  # type: ignore[attr-defined]
    return task, problems


def refused(*rows: Mapping[str, Any], **options: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        load_data_task(written(*rows), DataOptions(**options)).load(None)
    assert str(caught.value).startswith("problems.jsonl: ")
    return str(caught.value)


def prompt(problem: Problem) -> str:
    return problem.messages[0].content


# -- pictures and sounds -------------------------------------------------------------------

ASKED = {"question": "How many cats?", "answer": 2}
PICTURE = "cats/1.png"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("image", PICTURE),
        ("image", "of three cats"),
        ("Images", [PICTURE, PICTURE]),
        ("img_path", "1"),
        ("image_2", {"bytes": None, "path": "1"}),
        ("audio", {"array": [0.5], "sampling_rate": 8000}),
        ("scene", PICTURE),
        ("scene", "https://example.org/a.JPG?size=2"),
        ("scene", "data:image/png;base64,iVBORw0KGgo="),
        ("clip", ["a.mp4", "b.mp4"]),
    ],
)
def test_pictures_that_no_prompt_shows_are_refused(name: str, value: Any) -> None:
    rows = [ASKED | {name: value}, ASKED | {name: None}]
    message = refused(*rows)
    assert f"column {name} holds pictures or sounds" in message
    assert message.endswith(f"give --ignore-columns {name}.")
    assert f"column {name} holds" in refused(*rows, prompt="{{ question }}")
    task, _ = loaded(*rows, ignore_columns=[name])
    assert task.notes[0].endswith(f"not used: {name}")
    path = f"{{{{ question }}}} {{{{ doc[{json.dumps(name)}] }}}}"
    assert len(loaded(*rows, prompt=path)[1]) == 2  # the user's own words


@pytest.mark.parametrize(
    ("name", "value"),
    [("image", None), ("image", ""), ("images", 0), ("has_image", True), ("imagery", "vivid"),
     ("scene", "see cats.png"), ("scene", "png"), ("scene", 3.5)],
)  # fmt: skip
def test_what_is_no_picture_is_not_used(name: str, value: Any) -> None:
    assert len(loaded(ASKED | {name: value}, ASKED | {name: value})[1]) == 2


def test_ignored_columns_exist() -> None:
    assert "Did you mean 'image'" in refused(ASKED | {"image": PICTURE}, ignore_columns=["imge"])
    both = ASKED | {"image": PICTURE, "audio": "a.wav"}
    assert refused(both).endswith("give --ignore-columns image,audio.")
    assert "column audio holds" in refused(both, ignore_columns=["image"])


def test_pictures_of_parquet_files(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"question": ["?"], "answer": [2], "scene": [b"\x89PNG"]})
    pq.write_table(table, "a.parquet")
    with pytest.raises(InvalidInput, match="column scene holds pictures"):
        load_data_task("a.parquet")
    assert len(load_data_task("a.parquet", DataOptions(ignore_columns=["scene"])).load(None)) == 1


# -- the usual shapes ----------------------------------------------------------------------


def test_numbers_are_asked_for_in_a_box_and_compared_as_numbers() -> None:
    rows = [{"problem": f"Find $n$ if n={n}.", "answer": f"{n:03}"} for n in range(3)]
    task, problems = loaded(*rows)
    assert task.name == "problems"
    assert prompt(problems[1]).startswith("Find $n$ if n=1.\n\nWork step by step")
    (scorer,) = task.scorers
    for text in (r"So \boxed{1}.", "The answer is 1.", "I get 1"):
        assert scorer.score(text, problems[1].reference).value == 1
    assert task.sampling.stop == ()  # a blank line ends no answer
    assert task.notes[0] == "columns: question = problem, answer = answer"
    assert "numeric (the answers are numbers)" in task.notes[2]
    assert "passband init problems.jsonl" in task.notes[3]
    assert task.warnings == ()


def test_the_short_answers_of_solutions() -> None:
    task, (first, _) = loaded(
        {"question": "a?", "answer": "2 * 2 <<2*2=4>>\n#### 1,234"},
        {"question": "b?", "answer": "#### -5"},
    )
    assert (first.reference.targets, task.metrics[0].name) == (("1,234",), "numeric")
    assert "answer = answer (after ####)" in task.notes[0]
    task, (first,) = loaded({"problem": "a?", "solution": r"It is \boxed{204}.", "url": "u"})
    assert (first.reference.targets, task.metrics[0].name) == (("204",), "numeric")
    assert task.notes[0].endswith("not used: url")


def test_formulas_are_compared_as_mathematics() -> None:
    task, (first, _) = loaded(
        {"problem": "a", "answer": r"\frac{1}{2}"}, {"problem": "b", "answer": "3"}
    )
    assert task.scorers[0].score(r"\boxed{0.5}", first.reference).value == 1
    task, (first,) = loaded({"problem": "a", "solution": r"Hence \boxed{\frac{1}{2}}."})
    assert task.metrics[0].name == "math"  # a number alone, but its solution is none
    assert task.scorers[0].score(r"\boxed{0.5}", first.reference).value == 1


def test_texts_are_found_after_a_marker_or_alone() -> None:
    task, (first, _) = loaded(
        {"question": "Capital of France?", "answer": "Paris"},
        {"question": "Of Iceland?", "answer": "Reykjavík"},
    )
    for text in ("Answer: paris", "Paris", " **Paris**.\n", "<think>Rome?</think>\nParis"):
        assert task.scorers[0].score(text, first.reference).value == 1, text
    assert task.scorers[0].score("Paris, or Rome", first.reference).value == 0


def test_several_right_answers() -> None:
    _, (first,) = loaded({"question": "Is it?", "answers": ["yes", "sure"]})
    assert first.reference.targets == ("yes", "sure")


def test_training_data_with_messages_and_nested_answers() -> None:
    row = {
        "data_source": "x",
        "prompt": [{"role": "user", "content": r"2+2? Put it in \boxed{}."}],
        "reward_model": {"style": "rule", "ground_truth": "4"},
    }
    task, (first,) = loaded(row)
    assert prompt(first) == r"2+2? Put it in \boxed{}."  # which says how to answer
    assert first.reference.targets == ("4",)
    assert "answer = reward_model.ground_truth" in task.notes[0]
    assert task.notes[1] == "prompt: prompt alone"


def test_choices_in_a_list() -> None:
    task, (first, second) = loaded(
        {"question": "First?", "options": ["ox", "yak", "zebu"], "answer": "B", "answer_index": 1},
        {"question": "Second?", "options": ["u", "v"], "answer": "A", "answer_index": 0},
    )
    assert prompt(first).startswith("First?\n\nA. ox\nB. yak\nC. zebu\n\nWork step by step")
    assert second.reference == Reference(("u",), ("u", "v"), second.reference.doc)
    for text, value in (
        ("Answer: B", 1),
        ("(B)", 1),
        ("I think B", 1),
        ("Yak", 1),
        ("Answer: C", 0),
    ):
        assert task.scorers[0].score(text, first.reference).value == value, text
    assert "choices = options; not used: answer_index" in task.notes[0]
    assert task.notes[1].startswith("prompt: question, choices with letters, then: Work")


def test_choices_with_labels_and_choices_in_columns() -> None:
    _, (first,) = loaded(
        {"question": "?a", "choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "2"}
    )
    assert first.reference.targets == ("y",)
    path = Path("test.csv")
    with path.open("w") as file:
        csv.writer(file).writerows([["question", "A", "B", "answer"], ["2+2?", "3", "4", "(B)"]])
    _, (first,) = both_ways(path)
    assert prompt(first).startswith("2+2?\n\nA. 3\nB. 4\n\nWork")
    assert first.reference.targets == ("4",)


@pytest.mark.parametrize(
    ("answers", "targets"),
    [([0, 2], ["a", "c"]), ([3, 2], ["c", "b"]), (["c", "a"], ["c", "a"])],
)
def test_positions_and_texts_of_choices(answers: list[Any], targets: list[str]) -> None:
    rows = [
        {"question": f"{place}?", "choices": ["a", "b", "c"], "answer": answer}
        for place, answer in enumerate(answers)
    ]
    _, problems = loaded(*rows)
    assert [problem.reference.targets[0] for problem in problems] == targets


@pytest.mark.parametrize("numbers", [["10", "20"], [10, 20]])
def test_choices_that_are_numbers(numbers: list[Any]) -> None:
    _, (first,) = loaded({"question": "?a", "choices": numbers, "answer": numbers[1]})
    assert first.reference.targets == ("20",)


def test_a_position_from_0_or_from_1_is_not_guessed() -> None:
    rows = [{"question": f"{n}?", "choices": ["a", "b", "c"], "answer": n} for n in (1, 2)]
    message = refused(*rows)
    assert "--answer '{{ answer - 1 }}'" in message
    _, (first, _) = loaded(*rows, answer="{{ answer - 1 }}")
    assert first.reference.targets == ("a",)
    _, (first, _) = loaded(*rows, answer="{{ answer }}")
    assert first.reference.targets == ("b",)


# -- other files ---------------------------------------------------------------------------


def test_every_format(tmp_path: Path) -> None:
    rows = [{"question": "What is it", "answer": "5"}, {"question": "And that", "answer": "6"}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    Path("a.ndjson").write_text(text)
    with gzip.open("b.jsonl.gz", "wt") as file:
        file.write(text)
    Path("c.json").write_text(json.dumps(rows))
    Path("d.json").write_text(json.dumps({"version": 1, "data": rows}))
    Path("e.csv").write_text("question;answer\nWhat is it;5\nAnd that;6\n")
    Path("f.TSV").write_text("\ufeffquestion\tanswer\nWhat is it\t5\nAnd that\t6\n")
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    parquet.write_table(arrow.Table.from_pylist(rows), "g.parquet")
    names = {}
    for path in sorted(tmp_path.iterdir()):
        task, problems = both_ways(path)
        names[path.name] = task.name
        assert [problem.reference.targets for problem in problems] == [("5",), ("6",)], path
    assert list(names.values()) == list("abcdefg")


def test_a_file_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "work").mkdir()
    target = tmp_path / "store" / "rows.jsonl"
    target.write_text('{"question": "a?", "answer": 1}\n')
    link = tmp_path / "work" / "problems.jsonl"
    link.symlink_to(target)
    assert len(load_data_task(link).load(None)) == 1  # the user has named it


def test_names_that_no_template_can_write() -> None:
    path = written({"question": "a?", "in": "3"})
    _, (first,) = both_ways(path, answer="in")
    assert first.reference.targets == ("3",)
    _, (first,) = loaded({"Frage": "Was?", "答案": "3"}, question="Frage", answer="答案")
    assert prompt(first).startswith("Was?\n\n")


def test_a_long_cell_that_is_not_asked_costs_nothing_but_its_reading() -> None:
    task = load_data_task(written({"question": "a?", "answer": 1, "page": "x" * 10_000_000}))
    assert prompt(task.load(None)[0]).startswith("a?\n")
    message = refused({"question": "x" * 10_000_000, "answer": 1})
    assert "--prompt of problem '0': the template failed: its text is longer than" in message
    assert len(message) < 300


# -- what the user says --------------------------------------------------------------------


def test_a_prompt_of_the_user() -> None:
    row = {"question": "Capital?", "country": "France", "answer": "Paris"}
    task, (first,) = loaded(row, prompt="{{ question }} ({{ country }})")
    assert prompt(first) == "Capital? (France)"
    assert task.notes[0] == "columns: answer = answer"
    _, (first,) = loaded(row, prompt="question")
    assert prompt(first) == "Capital?"


def test_columns_scorer_and_rules_of_the_user() -> None:
    rows = [{"prompt": "a?", "question": "b?", "answer": "1", "target": "x y"}]
    task, (first,) = loaded(
        *rows, question="question", answer="target", scorer="f1", extract=["whole"]
    )
    assert prompt(first).startswith("b?")
    assert task.scorers[0].score("x z", first.reference).value == 0.5
    assert task.notes[2] == "scorer: f1; answers are found by: whole"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"prompt": "{{ questin }}"}, "--prompt of problem '0': there is no column 'questin'. Did"),
        ({"prompt": "{{ question"}, "--prompt: the template cannot be read"),
        ({"prompt": "Hello"}, "--prompt 'Hello' names no column, so every problem would be asked"),
        ({"prompt": "{{ question }}", "question": "question"}, "--prompt is the whole prompt"),
        ({"question": "questin"}, "--question: there is no column 'questin'. Did you mean"),
        ({"answer": "anser"}, "--answer: there is no column 'anser'. Did you mean 'answer'?"),
        ({"answer": "{{ anser }}"}, "--answer in row 1: there is no column 'anser'."),
        ({"scorer": "numerc"}, "no scorer named 'numerc'. Did you mean 'numeric'?"),
        ({"extract": ["boxd"]}, "no extraction rule named 'boxd'. Did you mean 'boxed'?"),
    ],
)
def test_mistakes_in_options(options: dict[str, Any], told: str) -> None:
    assert told in refused({"question": "a?", "answer": "b"}, **options)


# -- what cannot be guessed ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"foo": "What?", "bar": "4"}], "no column looks like the question; found: foo ('What?')"),
        ([{"questn": "What?", "answer": 4}], "Did you mean 'questn'?"),
        ([{"question": "What?", "bar": "4"}], "no column looks like the answer; found: question"),
        ([{"question": 1, "answer": 4}], "no column holds text to ask"),
        (
            [{"question": "a?", "prompt": "b?", "answer": 1}],
            "2 columns could be the question: question and prompt. Choose one with --question",
        ),
        (
            [{"question": "a?", "answer": 1, "target": 2}],
            "2 columns could be the answer: answer and target",
        ),
        (
            [{"question": "a?", "answer": ""}],
            "column answer, taken for the answer, is empty in every row",
        ),
        (
            [{"question": "a?", "answer": 1}, {"question": "b?"}],
            "column answer, taken for the answer, is empty in 1 of 2 rows, the first of them row 2",
        ),
        (
            [{"question": "a?", "answer": 1}, {"question": None, "answer": 1}],
            "taken for the question",
        ),
        (
            [{"input": [{"role": "system"}, {"role": "user"}], "ideal": "x"}],
            "chats of several messages",
        ),
        ([{"question": "a?", "answer": "word " * 100}], "the answers are long texts, such as"),
        ([{"question": "a?", "answer": "3,5"}], "the answer '3,5' could be a decimal number or"),
        ([{"problem_id": 1, "trial": 1, "score": 0, "question": "a?"}], "looks like results"),
        ([{"passband_bank": 1, "name": "b"}], "is an item bank"),
        ([{"question": "a?", "choices": "x, y", "answer": "x"}], "must hold a list of choices"),
        (
            [{"question": "a?", "choices": ["x", "y"], "answer": "z"}],
            'column answer of row 1 is \'z\', which is neither one of the choices ["x", "y"]',
        ),
        (
            [{"question": f"{a}?", "choices": ["x", "y"], "answer": a} for a in ("B", "x")],
            "column answer names choices in several ways, such as 'B' and 'x'",
        ),
        ([{"question": "a?", "choices": ["x", "y"], "answer": 7}], "of row 1 is '7', which is"),
        (
            [{"question": "a?", "A": "x", "B": "", "answer": "A"}],
            "look like choices, but B is empty in row 1",
        ),
    ],
)
def test_what_is_refused(rows: list[dict[str, Any]], told: str) -> None:
    message = refused(*rows)
    assert told in message
    assert len(message) < 400


def test_columns_that_say_the_same_are_no_question() -> None:
    task, _ = loaded({"question": "a?", "prompt": "a?", "answer": 1})
    assert "question = question" in task.notes[0]


def test_files_that_cannot_be_read() -> None:
    for name, text, told in (
        ("bad.jsonl", '{"a": 1}\n{"a":\n', "bad.jsonl:2: is not JSON"),
        ("blank.jsonl", "\n\n", "blank.jsonl: there are no rows in it."),
        ("head.csv", "question,answer\n", "head.csv: there are no rows in it."),
        ("two.json", '{"a": [{"q": 1}], "b": [{"q": 1}]}', "holds several lists of rows: a, b"),
        ("empty.csv", "", "empty.csv: the file is empty."),
    ):
        Path(name).write_text(text)
        with pytest.raises(InvalidInput) as caught:
            load_data_task(name)
        assert told in str(caught.value)
    with pytest.raises(InvalidInput, match=r"tow.json: no such file. Did you mean 'two.json'"):
        load_data_task("tow.json")


def test_rows_beyond_those_that_were_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("columns", "load"):
        monkeypatch.setattr(f"passband.tasks.guess.{module}.LOOKED_AT", 2)
    rows = [{"question": f"{n}?", "answer": str(n)} for n in range(4)]
    assert len(load_data_task(written(*rows)).load(None)) == 4
    for column in ("question", "answer"):
        broken = [*rows[:3], {**rows[3], column: ""}]
        assert f"row 4 has no {column}; fill it in" in refused(*broken)


# -- warnings ------------------------------------------------------------------------------


def test_a_question_that_comes_again() -> None:
    (warning,) = load_data_task(
        written({"question": "a?", "answer": 1}, {"question": "a?", "answer": 2})
    ).warnings
    assert warning.startswith(
        "1 of 2 rows repeat an earlier question (row 2 that of row 1, with another answer)"
    )


def test_wrong_answers_beside_the_right_one_are_choices_in_any_order() -> None:
    rows = [
        {"Question": f"{n}?", "Correct Answer": "x", "Incorrect Answer 1": "y", "Distractor 2": "B"}
        for n in range(8)
    ]
    task, problems = loaded(*rows)
    assert {problem.reference.targets for problem in problems} == {("x",)}
    places = [problem.reference.choices.index("x") for problem in problems]
    assert set(places) == {0, 1, 2}
    for place, problem in zip(places, problems, strict=True):
        assert f"{'ABC'[place]}. x\n" in prompt(problem)
        assert task.scorers[0].score(f"Answer: {'ABC'[place]}", problem.reference).value == 1
        assert task.scorers[0].score(f"Answer: {'ABC'[place - 1]}", problem.reference).value == 0
    assert task.notes[1].startswith("prompt: Question, choices (shuffled) with letters, then")
    task, (first, *_) = loaded(*rows, prompt="{{ Question }}")
    assert first.reference.choices == ()  # an open question


# -- kinds, and the file -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "scorer"),
    [
        (["1", "-2.5", "1/2", "3%", "$4", "1e5", "1,000"], "numeric"),
        ([1, 2.5], "numeric"),
        (["A", "(B)", "C."], "choice"),
        (["2x+1", "3", "pi/4"], "math"),
        (["x^2"], "math"),
        (["(1, 2)", "3", "[0, 1)"], "math"),
        (["Paris", "3"], "exact_match"),
        (["a", "x"], "exact_match"),
        ([True, False], "exact_match"),
        (["2024-05-01"], "exact_match"),
        ([["1", "one"]], "exact_match"),
    ],
)
def test_the_kind_of_answers(answers: list[Any], scorer: str) -> None:
    assert kind_of(answers).scorer == scorer


@one_in(8)
@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=8))
def test_any_prompt_survives_the_file(tmp_path_factory: Any, text: str, name: str) -> None:
    folder = tmp_path_factory.mktemp("drafts")
    path = folder / "rows.jsonl"
    path.write_text(json.dumps({"question": "a?", "answer": 1, name: "x"}) + "\n")
    options = DataOptions(prompt="{{ question }}" + text.replace("{", "").replace("}", ""))
    try:
        draft = draft_task(path, options)
        file = write_task_file(draft, folder / "rows.yaml")
    except InvalidInput:
        return
    assert load_task(file).config == draft.values


def test_a_task_file_that_is_there_is_kept() -> None:
    draft = draft_task(written({"question": "a?", "answer": 1}))
    path = write_task_file(draft)
    assert "# The prompt: a template. Columns: question, answer.\n" in path.read_text()
    path.write_text("mine")
    with pytest.raises(
        InvalidInput, match=r"problems.yaml exists; give another name with --output"
    ):
        write_task_file(draft)
    assert path.read_text() == "mine"
    with pytest.raises(InvalidInput, match=r"the name of a task file ends with .yaml"):
        write_task_file(draft, Path("task.txt"))


def test_a_task_file_in_another_folder(tmp_path: Path) -> None:
    Path("data").mkdir()
    path = written({"question": "a?", "answer": 1}, name="data/rows.jsonl")
    file = write_task_file(draft_task(path), Path("rows.yml"))
    assert "dataset_path: data/rows.jsonl" in file.read_text()
    assert len(load_task(file).load(None)) == 1


def test_the_task_as_it_was_recorded() -> None:
    path = written({"question": "a?", "answer": 1})
    task = load_data_task(path)
    path.unlink()
    again = recorded_data_task(path, task.config)
    assert [scorer.identity for scorer in again.scorers] == [s.identity for s in task.scorers]


def test_numbers_that_a_few_other_answers_make_text_of_are_said():
    rows = [{"question": f"q{n}", "answer": text} for n, text in enumerate(["1,234", "5", "N/A"])]
    (warning,) = draft_task(written(*rows)).warnings
    assert "2 of 3 answers are numbers" in warning
    assert "row 3: 'N/A'" in warning
    assert not draft_task(written(*rows), DataOptions(scorer="exact_match")).warnings
    assert not draft_task(written(*rows[:2])).warnings


def test_lists_of_answers_are_said():
    notes = draft_task(written({"question": "q", "answer": ["1", "2"]})).notes
    assert any("any one of a list is right" in note for note in notes)


def test_a_column_is_not_question_and_answer_at_once():
    told = refused({"question": "q", "answer": "1"}, question="question", answer="question")
    assert "both the question and the answer" in told


def test_a_list_of_wrong_answers_is_no_choice():
    row = {"question": "q", "correct_answer": "Rome", "incorrect_answers": ["Bonn", "Lyon"]}
    assert "incorrect_answers holds lists of choices" in refused(row)


def test_a_choice_of_one_letter_beyond_those_of_the_choices_is_a_text():
    row = {"question": "q", "choices": ["x", "y", "z", "w"], "answer": "C"}
    task, problems = loaded(row)
    replies = ("Answer: z", "Answer: C", "Answer: w", "Answer: E")
    scores = [task.scorers[0].score(text, problems[0].reference)[0] for text in replies]
    assert scores == [1, 1, 0, 0]


@pytest.mark.parametrize(
    "answers",
    [
        ("get_item", "Paris", "tea"),
        ("between $5 and $6", "Paris", "tea"),
        ("C:\\temp", "Paris", "tea"),
        ("1_000", "tea"),
    ],
)
def test_words_are_no_formulas_because_one_answer_has_a_sign_of_latex(answers):
    assert kind_of(answers).scorer == "exact_match"


@pytest.mark.parametrize(
    "answers", [("x_1", "3"), ("1011_2", "7"), ("$x$", "2"), (r"\frac{1}{2}", "3", "Evelyn")]
)
def test_formulas_with_few_words_are_formulas(answers):
    assert kind_of(answers).scorer == "math"


def test_lists_written_as_text_are_refused():
    told = refused({"question": "q", "answer": "['Paris', 'paris']"})
    assert "lists that are written as text" in told
    loaded({"question": "q", "answer": "['Paris']"}, scorer="contains")
