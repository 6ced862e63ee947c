import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.score.code.source import PythonSource, SourceFault, longest_prefix, read_source


def source(text: str) -> PythonSource:
    read = read_source(text)
    assert isinstance(read, PythonSource)
    return read


def test_what_is_defined() -> None:
    text = "import os.path as p, re\nfrom a import b\nx: int = 1\ny = z = 2\nclass C: ...\n"
    assert source(text).names == {"p", "re", "b", "x", "y", "z", "C"}
    assert source("async def f(): ...").defines("f")
    assert not source("if 1:\n    def f(): ...").defines("f")


@pytest.mark.parametrize(
    ("text", "is_definitions"),
    [
        ('"""Text."""\nimport re\nX = [1, 2]\ndef f(): print(1)\n', True),
        ("X = f()", False),
        ("print(1)", False),
        ("", False),
    ],
)
def test_definitions_alone(text: str, is_definitions: bool) -> None:
    assert source(text).is_definitions is is_definitions


@pytest.mark.parametrize("text", ["input()", "import sys\nsys.stdin.read()", "open(0)", "f(input)"])
def test_reading_input(text: str) -> None:
    assert source(text).reads_input
    assert not source("open('x')\nprint(1)").reads_input


@pytest.mark.parametrize(
    ("text", "line"), [("return 1", 1), ("x = (\n1", 1), ("a\0", None), ("x\nif 1:\n", 2)]
)
def test_faults(text: str, line: int | None) -> None:
    fault = read_source(text)
    assert isinstance(fault, SourceFault)
    assert fault.line in (line, 1 if line is None else line)  # newer versions say where a NUL is
    assert fault.message


def lines_that_compile(lines: list[str]) -> int:
    """Return the longest run by trying all of them."""
    runs = range(len(lines), 0, -1)
    return next((n for n in runs if isinstance(read_source("".join(lines[:n])), PythonSource)), 0)


@given(
    st.lists(
        st.sampled_from(
            ["x = 1\n", "def f():\n", "    return (\n", "    1\n", ")\n", '"""\n', "if x:\n",
             "    y = 2\n", "else:\n", "@d\n", "x = [1,\n", "]\n", "return\n", "    yield\n"]
        ),
        max_size=12,
    )
)  # fmt: skip
def test_the_longest_prefix_is_that_of_trying_all(lines: list[str]) -> None:
    prefix = longest_prefix("".join(lines))
    best = lines_that_compile(lines)
    found = 0 if prefix is None else prefix.text.count("\n")
    assert found == best
