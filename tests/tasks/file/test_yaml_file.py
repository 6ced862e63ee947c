from pathlib import Path

import pytest

from passband.tasks.file.yaml_file import (
    LARGEST_FILE,
    FunctionReference,
    plain_json,
    read_with_includes,
    read_yaml,
    references,
)


def messages(path: Path) -> list[str]:
    return [f"{problem.line}: {problem.message}" for problem in read_yaml(path).diagnostics]


def test_every_key_keeps_its_line(write):
    file = read_yaml(write("t.yaml", "a: 1\nb:\n  - c: x\n    d: y\n  - z\n"))
    assert file.diagnostics == []
    assert file.values == {"a": 1, "b": [{"c": "x", "d": "y"}, "z"]}
    assert [file.place(*keys).line for keys in (("a",), ("b",), ("b", 0, "d"), ("b", 1))] == [
        1,
        2,
        4,
        5,
    ]
    assert file.place("b", 0, "nowhere").line == 3  # the innermost thing around it
    assert str(file.place("a")).endswith("t.yaml:1")


def test_scalars_are_those_of_yaml(write):
    text = "a: 5\nb: 1.5\nc: true\nd: ~\ne: '5'\nf: 2024-01-31\ng: 1e-3\nh: !!str 7\n"
    values = read_yaml(write("t.yaml", text)).values
    assert values == {
        "a": 5,
        "b": 1.5,
        "c": True,
        "d": None,
        "e": "5",
        "f": "2024-01-31",
        "g": "1e-3",
        "h": "7",
    }


def test_functions_are_named_and_not_imported(write, tmp_path):
    write("utils.py", "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n")
    path = write("t.yaml", "a: 1\nb: [!function utils.score, {c: !function deep.utils.load}]\n")
    file = read_yaml(path)
    assert file.diagnostics == []
    assert [*references(file.values)] == [
        FunctionReference("utils", "score", path, 2),
        FunctionReference("deep.utils", "load", path, 2),
    ]
    assert plain_json(file.values)["b"] == [
        "!function utils.score",
        {"c": "!function deep.utils.load"},
    ]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ('a: 1\nb: !!python/object/apply:os.system ["touch PWNED"]\n', 2, "!!python/object/apply"),
        ("a: !!python/name:os.system ''\n", 1, "!!python/name"),
        ("a: !!binary aGk=\n", 1, "!!binary"),
        ("a: !!set {x, y}\n", 1, "!!set"),
        ("a: !other x\n", 1, "!other"),
        ("a: 1\nb: 2\na: 3\n", 3, "duplicate key 'a'; the first one is in line 1"),
        ("a:\n  b: 1\n  b: 2\n", 3, "duplicate key"),
        ("a: &x [1]\nb: *x\n", 2, "aliases"),
        ("a: {<<: {b: 1}}\n", 1, "merge keys"),
        ("a: 1\n\tb: 2\n", 2, "tab"),
        ("a: [1, 2\nb: 3\n", 2, "is not YAML"),
        ("a: 1\n---\nb: 2\n", 2, "is not YAML"),
        ("- a\n- b\n", 1, "a mapping"),
        ("just text\n", 1, "a mapping"),
        ("", 1, "empty"),
        ("# nothing\n", 1, "empty"),
        ("1: a\n", 1, "a key must be text"),
        ("? [a]\n: b\n", 1, "a key must be text"),
        ("a: .nan\n", 1, "not a finite number"),
        ("a: .inf\n", 1, "not a finite number"),
        ("a: !function nodots\n", 1, "module.name"),
        ("a: !function os.system('x')\n", 1, "module.name"),
        ("a: !function ../utils.f\n", 1, "module.name"),
        ("a: !function [x]\n", 1, "module.name"),
        ("a: " + "[" * 60 + "]" * 60 + "\n", 1, "nested deeper"),
        ("a: " + "[" * 100_000, 1, "nested deeper"),
        ("a: '\x00'\n", 1, "is not YAML"),
    ],
)
def test_hostile_and_broken_files_are_reported(write, text, line, told):
    found = messages(write("t.yaml", text))
    assert found
    assert found[0].startswith(f"{line}: ")
    assert told in found[0]


def test_a_bomb_of_aliases_is_refused_at_once(write):
    levels = [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 10)]
    text = "\n".join(["l0: &l0 [x, x, x, x, x, x, x, x, x]", *levels])
    assert messages(write("t.yaml", text)) == [
        "2: aliases (*name) are not accepted; write the value out."
    ]


def test_a_large_file_is_refused(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_bytes(b"a: " + b"x" * (2 * LARGEST_FILE))
    assert "larger than" in messages(path)[0]


def test_files_that_cannot_be_read(tmp_path):
    assert "cannot be read" in messages(tmp_path / "none.yaml")[0]
    path = tmp_path / "t.yaml"
    path.write_bytes(b"a: 1\nb: \xff\n")
    assert messages(path) == ["2: is not UTF-8 text."]


def test_all_problems_are_told(write):
    text = "a: !x 1\nb: !y 2\nb: 3\n"
    assert [told.split(":")[0] for told in messages(write("t.yaml", text))] == ["1", "2", "3"]


# -- includes ------------------------------------------------------------------------------


def test_the_including_file_wins_whole_keys(write):
    write("deep/base.yaml", "a: 1\nb: {x: 1, y: 2}\nc: 3\n")
    write("middle.yaml", "include: deep/base.yaml\nc: 4\nd: 5\n")
    path = write("t.yaml", "include: middle.yaml\nb: {x: 9}\n")
    file = read_with_includes(path)
    assert file.diagnostics == []
    assert file.values == {"a": 1, "b": {"x": 9}, "c": 4, "d": 5}
    assert (file.place("a").file.name, file.place("a").line) == ("base.yaml", 1)
    assert (file.place("c").file.name, file.place("c").line) == ("middle.yaml", 2)
    assert (file.place("b", "x").file.name, file.place("b", "x").line) == ("t.yaml", 2)
    assert file.place("b", "y").file.name == "t.yaml"  # the included y is gone with its place


def test_several_includes_and_the_same_twice(write):
    write("base", "a: 1\nb: 1\n")
    write("one.yaml", "include: base\nb: 2\n")
    write("two.yaml", "include: base\nc: 3\n")
    file = read_with_includes(write("t.yaml", "include: [one.yaml, two.yaml]\n"))
    assert file.diagnostics == []
    assert file.values == {"a": 1, "b": 1, "c": 3}  # later ones win, as in lm-eval


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\ninclude: t.yaml\n", "t.yaml:2: t.yaml includes itself"),
        ("include: other.yaml\n", "other.yaml:1: t.yaml includes itself"),
        ("include: none.yaml\n", "t.yaml:1: include: no file"),
        ("include: 5\n", "t.yaml:1: include must be"),
        ("include: [other.yaml, {a: 1}]\n", "include must be"),
        ("include: broken.yaml\n", "broken.yaml:2: the tag !x"),
    ],
)
def test_wrong_includes(write, text, told):
    write("other.yaml", "include: t.yaml\n")
    write("broken.yaml", "a: 1\nb: !x y\n")
    file = read_with_includes(write("t.yaml", text))
    assert any(told in str(problem) for problem in file.diagnostics)


def test_a_function_of_an_included_file_stands_beside_that_file(write):
    base = write("deep/base.yaml", "a: !function utils.f\n")
    file = read_with_includes(write("t.yaml", "include: deep/base.yaml\n"))
    assert [reference.file for reference in references(file.values)] == [base]
