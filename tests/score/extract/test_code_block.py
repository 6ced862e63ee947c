import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.score.extract.answer import extract
from passband.score.extract.code_block import find_code_block
from passband.score.filtering import make_step
from passband.score.scorer import Reference

TEXT = """First:
```python
a = 1
```
Then, in another language:
~~~js
b
~~~
and
```
c
```
"""


def block(text=TEXT, **options):
    return make_step({"function": "code_block", **options}).apply(text, Reference(()))


def test_first_and_last_blocks():
    assert block().answer == "c\n"
    assert block(which="first").answer == "a = 1\n"
    assert extract(TEXT, ("code_block",)) == ("c\n", "code_block")


def test_blocks_of_a_language():
    assert block(language="py").answer == "a = 1\n"
    assert block(language="JavaScript").answer == "b\n"
    assert block(language="rust").answer == "c\n"  # no block says that it is
    assert block("```c\nx\n```", language="rust").answer is None


def test_a_block_that_is_cut_off_is_no_answer():
    assert block("```\nx\n```\n```python\ny = ") == (None, "code_block-unclosed")
    assert block("```\nx\n```\n```python\ny = ", which="first").answer == "x\n"
    assert block("no block").answer is None


def test_reasoning_is_left_out():
    assert block("<think>```\nx\n```</think>none").answer is None
    assert block("<think>```\nx\n```") == (None, "reasoning-unclosed")
    assert block("<think>\n```\nx\n```", strip_reasoning=False).answer == "x\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("````\n```\nx\n```\n````", "```\nx\n```\n"),
        ("  ```python title='a.py'\n  x\n  ```", "  x\n"),
        ("```python\r\nx\r\n```\r\n", "x\r\n"),
        ("```\n```", ""),
        ("~~~\n```\n~~~", "```\n"),
        ("inline ```x``` only", None),
        ("```x``` only", None),
    ],
)
def test_fences(text, code):
    found = find_code_block(text)
    assert (None if found is None else found.answer) == code


@pytest.mark.parametrize("options", [{"which": "second"}, {"language": ""}, {"language": 3}])
def test_options_are_checked(options):
    with pytest.raises(InvalidInput, match="must be"):
        block(**options)


@given(st.text(alphabet="ab\n `~", max_size=60).filter(lambda code: "```" not in code))
def test_any_code_comes_out_as_it_is(code):
    found = find_code_block(f"x\n```python\n{code}\n```\ny")
    assert found is not None
    assert found.answer == f"{code}\n"
