from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.tasks.data.rows import digest_of
from passband.tasks.file.loader import load_task


def keys(path, limit=None):
    return [problem.key for problem in load_task(path).load(limit)]


def rows(*names, column="id"):
    return [{column: name, "question": f"q{i}", "answer": "x"} for i, name in enumerate(names)]


def test_problems_are_named_by_a_usual_column(task):
    assert keys(task(rows=rows("x", "y"))) == ["x", "y"]
    assert keys(task(rows=rows(7, 8, column="task_id"))) == ["7", "8"]


def test_or_by_their_position(task):
    assert keys(task(rows=rows("x", "y", column="other"))) == ["0", "1"]


def test_names_do_not_depend_on_rows_further_down(task):
    path = task(rows=rows("x", "y", "x", None, "x#2", "x", 3))
    assert keys(path) == ["x", "y", "x#2", "3", "x#2#2", "x#3", "3#2"]
    for limit in range(1, 7):
        assert keys(path, limit) == keys(path)[:limit]


def test_a_named_column_must_name_every_problem(task):
    text = "problem_id: name"
    assert keys(task(text, rows=rows("x", "y", column="name"))) == ["x", "y"]
    with pytest.raises(InvalidInput, match=r"sums.yaml:1: two problems have the name 'x'"):
        keys(task(text, rows=rows("x", "x", column="name")))
    with pytest.raises(InvalidInput, match=r"sums.yaml:1: row 2 has no name"):
        keys(task(text, rows=rows("x", None, column="name")))
    with pytest.raises(InvalidInput, match=r"no column 'name'. Did you mean 'names'"):
        keys(task(text, rows=rows("x", column="names")))


def test_clusters(task):
    text = "cluster: topic"
    data = [{"question": "q", "answer": "a", "topic": t} for t in ("x", 5)]
    assert [p.cluster for p in load_task(task(text, rows=data)).load(None)] == ["x", "5"]
    with pytest.raises(InvalidInput, match=r"sums.yaml:1: problem '2' has no topic"):
        load_task(task(text, rows=[*data, {"question": "q", "answer": "a"}])).load(None)
    with pytest.raises(InvalidInput, match="cluster: no column 'topic'"):
        load_task(task(text)).load(None)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_at_least_one(task, limit):
    with pytest.raises(InvalidInput, match="limit must be at least 1"):
        load_task(task()).load(limit)


# -- splits and examples -------------------------------------------------------------------

SPLITS = """
dataset_path: json
dataset_kwargs:
  data_files: {train: train.jsonl, validation: validation.jsonl, test: test.jsonl}
doc_to_text: q
doc_to_target: a
fewshot_delimiter: "|"
"""


@pytest.fixture
def prompts(write):
    for name in ("train", "validation", "test"):
        lines = [f'{{"q": "{name}{i}", "a": "{i}"}}' for i in range(3)]
        write(f"{name}.jsonl", "\n".join(lines))

    def first(text):
        path = write("t.yaml", text + SPLITS)
        return load_task(path).load(1)[0].messages[0].content

    return first


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "test0"),
        ("training_split: train\n", "train0"),
        ("training_split: train\nvalidation_split: validation\n", "validation0"),
        ("training_split: train\nvalidation_split: validation\ntest_split: test\n", "test0"),
        ("test_split: validation\n", "validation0"),
    ],
)
def test_which_split_is_asked(prompts, text, expected):
    assert prompts(text) == expected


FIRST = "num_fewshot: 1\nfewshot_config: {sampler: first_n%s}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("test_split: test\nfewshot_split: train\n" + FIRST % "", "train0 0|test0"),
        (FIRST % ", split: validation", "validation0 0|test0"),
        ("test_split: test\ntraining_split: train\n" + FIRST % "", "train0 0|test0"),
        ("test_split: test\nvalidation_split: validation\n" + FIRST % "", "validation0 0|test0"),
        ("test_split: test\n" + FIRST % "", "test1 1|test0"),
        ("" + FIRST % ", fewshot_indices: [2, 1]", "test2 2|test0"),
        (FIRST % ", samples: [{q: s, a: t}]", "s t|test0"),
        ("training_split: train\n" + FIRST % ", samples: [{q: s, a: t}]", "s t|train0"),
        (FIRST % ", split: train, samples: [{q: s, a: t}]", "train0 0|test0"),
        (FIRST % ", split: train, doc_to_text: 'Q {{ q }}'", "Q train0 0|test0"),
        (FIRST % ", split: train, doc_to_target: q, target_delimiter: '='", "train0=train0|test0"),
        (FIRST % ", split: train, fewshot_delimiter: '##'", "train0 0##test0"),
        (FIRST % ", split: train, gen_prefix: So", "train0 So 0|test0"),
        ("gen_prefix: So\n" + FIRST % ", split: train", "train0 So 0|test0 So"),
    ],
)
def test_where_examples_come_from(prompts, text, expected):
    assert prompts(text) == expected


def test_positions_beyond_the_examples(prompts):
    with pytest.raises(InvalidInput, match=r"t.yaml:2: fewshot_indices go up to 9; there are 3"):
        prompts(FIRST % ", fewshot_indices: [9]")


def test_the_name_of_a_data_file_counts(tmp_path: Path) -> None:
    """It says how the file is read: the same bytes may be other rows."""
    for name in ("d.csv", "d.tsv"):
        (tmp_path / name).write_text("a\tb,c\n")
    one, other = (digest_of("task", [tmp_path / name]) for name in ("d.csv", "d.tsv"))
    assert None not in (one, other)
    assert one != other
