"""Answers as models write them, and the program that is to be found in each."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.score.code.program import find_program, find_program_here
from passband.score.code.source import PythonSource, read_source

PROMPT = 'from typing import List\n\n\ndef total(xs: List[int]) -> int:\n    """Add them up."""\n'
BODY = "    return sum(xs)\n"
WHOLE = PROMPT + BODY
PLAIN = "def total(xs):\n    return sum(xs)\n"
SOLUTION = "class Solution:\n    def total(self, xs):\n        "


def fenced(code: str, mark: str = "```", tag: str = "python") -> str:
    return f"{mark}{tag}\n{code}{mark}"


WRONG = fenced("def total(xs):\n    return xs[0]\n")
USE = fenced("total([1, 2])\n")
INPUT, OUTPUT = fenced("3\n", tag=""), fenced("6\n", tag="")
SHELL = fenced("pip install x\n", tag="bash")
HELPER = fenced("def add(a, b):\n    return a + b\n")
WITH_HELPER = fenced("def total(xs):\n    s = 0\n    for x in xs: s = add(s, x)\n    return s\n")

ANSWERS = {
    "a block": (f"Here it is:\n{fenced(PLAIN)}\nDone.", "block"),
    "a block without a tag": (fenced(PLAIN, tag=""), "block"),
    "a block of tildes": (fenced(PLAIN, "~~~"), "block"),
    "a longer fence around shorter ones": (fenced(f"# ```\n{PLAIN}", "````"), "block"),
    "py3 and attributes": (fenced(PLAIN, tag="py3 title=x"), "block"),
    "below an item of a list": (
        "1. So:\n" + textwrap.indent(fenced(PLAIN), "   ") + "\n2. Done.",
        "block",
    ),
    "the prompt again": (fenced(WHOLE), "block"),
    "reasoning with a wrong block": (
        f"<think>{WRONG}</think>{fenced(PLAIN)}",
        "block",
    ),
    "wrong first, then corrected": (
        f"{WRONG}\nNo:\n{fenced(PLAIN)}",
        "block",
    ),
    "then an example of its use": (f"{fenced(PLAIN)}\nUse:\n{USE}", "block"),
    "then its output": (f"{fenced(PLAIN)}\nIt prints\n{INPUT}", "block"),
    "a shell before it": (f"{SHELL}\n{fenced(PLAIN)}", "block"),
    "a helper in a block of its own": (
        f"{HELPER}\n{WITH_HELPER}",
        "block",
    ),
    "a lambda": (fenced("total = lambda xs: sum(xs)\n"), "block"),
    "the body alone, indented": (fenced(BODY), "body"),
    "the body alone, at the margin": (fenced("return sum(xs)\n"), "body-indented"),
    "a body of several lines, at the margin": (
        fenced("s = 0\nfor x in xs:\n    s += x\nreturn s\n"),
        "body-indented",
    ),
    "a block that is never closed": (f"So:\n```python\n{PLAIN}", "block"),
    "a block that is cut off": (f"```python\n{PLAIN}\nprint(total([1, 2,", "block-cut"),
    "cut off in a string": (f'```python\n{PLAIN}\nx = """never\nends', "block-cut"),
    "the code alone": (PLAIN, "module"),
    "the prompt and the body": (WHOLE, "module"),
    "a continuation": (BODY, "completion"),
    "a continuation and a new function": (f"{BODY}\n\ndef other():\n    pass\n", "completion"),
    "a continuation that lost its first blanks": (
        "s = 0\n    for x in xs:\n        s += x\n    return s\n",
        "completion-indented",
    ),
    "one line that lost its blanks": ("return sum(xs)", "completion-indented"),
    "a continuation that is cut off": (f"{BODY}\n\ndef other(x", "completion-cut"),
    "a continuation and a closing fence": (f"{BODY}```\nThis adds them up.", "completion"),
    "code between sentences": (f"Sure, this works:\n\n{PLAIN}\nI hope it helps!", "prose"),
    "imports between sentences": (
        f"Use math.\n\nimport math\n\n{PLAIN}\nThat is all there is.",
        "prose",
    ),
    "a future import": (fenced(f"from __future__ import annotations\n{PLAIN}"), "block"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_program_is_found_and_works(name: str) -> None:
    text, rule = ANSWERS[name]
    found = find_program_here(text, PROMPT, "total")
    assert found.rule == rule
    names: dict[str, object] = {}
    exec(compile(found.answer or "", "answer", "exec"), names)
    assert names["total"]([1, 2, 3]) == 6  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", None),
        ("I cannot help with that.", None),
        ("Sorry", None),
        ("<think>def total(xs): ...", "reasoning-unclosed"),
        ("x" * 600_000, "too-long"),
        (fenced("", tag="python"), None),
    ],
)
def test_answers_without_a_program(text: str, rule: str | None) -> None:
    assert find_program_here(text, PROMPT, "total") == (None, rule)


@pytest.mark.parametrize(
    "text",
    [fenced("def total(xs:\n    return 1\n"), "def total(xs:\n    return 1\n", "    return (1\n"],
)
def test_what_looks_like_a_program_and_does_not_compile_is_one(text: str) -> None:
    found = find_program_here(text, "def total(xs):\n" if text[0] == " " else "", "total")
    assert found.rule == "broken"
    assert found.answer
    assert not isinstance(read_source(found.answer), PythonSource)


def test_the_header_of_the_prompt_comes_first() -> None:
    prompt = "import math\n\ndef helper(x):\n    return x\n\n@helper\ndef total(xs):\n    pass\n"
    found = find_program_here(fenced(PLAIN), prompt, "total")
    assert found.answer == "import math\n\ndef helper(x):\n    return x\n\n" + PLAIN


def test_programs_that_read_input() -> None:
    program = "n = int(input())\nprint(2 * n)\n"
    text = f"{fenced(program)}\nFor the input\n{INPUT}\nit prints\n{OUTPUT}"
    assert find_program_here(text) == (program, "block")
    shorter = fenced("print(2)\n")
    usage = f"{fenced(program)}\nor shorter\n{shorter}"
    assert find_program_here(usage) == (program, "block")
    assert find_program_here("You should read the number, then double it.") == (None, None)


def test_a_class_that_the_prompt_begins() -> None:
    code = "class Solution:\n    def total(self, xs):\n        return sum(xs)\n"
    assert find_program_here(fenced(code), SOLUTION, "total") == (code, "block")
    assert find_program_here("return sum(xs)", SOLUTION, "total").rule == "completion-indented"
    assert find_program_here(fenced(PLAIN), SOLUTION, "total").rule == "broken"  # no class


HOSTILE = {
    "parentheses": "x = " + "(" * 5000,
    "signs": "x = " + "-" * 100_000 + "1",
    "attributes": "x = a" + ".a" * 100_000,
    "powers": "x = 9**9**9**9",
    "a NUL": "x\0y",
    "half a character": "x = '\ud800'",
    "sums": "1+" * 100_000 + "1",
    "lambdas": "lambda:" * 50_000 + "1",
    "open brackets on every line": "\n".join(f"x{i} = (" for i in range(3000)),
    "blocks without a body": "while 1:\n" * 3000,
}


@pytest.mark.process
@pytest.mark.parametrize("name", HOSTILE)
def test_source_that_is_too_much_for_the_compiler(name: str) -> None:
    text = f"```python\n{HOSTILE[name]}"
    assert find_program(text, "", "total").answer in (HOSTILE[name], text)
    good = find_program(fenced(PLAIN), "", "total")  # the worker lives, or another one took over
    assert good == (PLAIN, "block")


@given(st.text(alphabet="`~ \n\tdefx():1#\"'\\return import\0", max_size=200))
def test_any_text_has_a_program_or_none(text: str) -> None:
    found = find_program_here(text, PROMPT, "total")
    assert found.answer is None or found.rule is not None
    if found.rule not in (None, "broken", "reasoning-unclosed"):
        assert isinstance(read_source(found.answer or ""), PythonSource)
