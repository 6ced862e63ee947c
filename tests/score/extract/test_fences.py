from hypothesis import given
from hypothesis import strategies as st

from passband.score.extract.code_block import fenced_blocks, language_name

MARKED = st.text(alphabet="`~ \n\tab", max_size=120)


def codes(text: str) -> list[str]:
    return [block.code for block in fenced_blocks(text)]


def test_fences_close_by_their_own_kind_and_length() -> None:
    assert codes("````\n```\na\n```\n````") == ["```\na\n```\n"]
    assert codes("~~~\n```\n~~~") == ["```\n"]
    assert codes("```\na\n`````") == ["a\n"]
    assert codes("``\na\n``") == []


def test_indentation_of_the_fence_is_taken_off() -> None:
    (block,) = fenced_blocks("  ```py\n  a\n    b\n c\n  ```")
    assert (block.code, block.text, block.language) == ("a\n  b\nc\n", "  a\n    b\n c\n", "python")


def test_a_block_that_is_never_closed_goes_on_to_the_end() -> None:
    (block,) = fenced_blocks("x\n```\na\nb")
    assert (block.code, block.is_closed, block.start) == ("a\nb", False, 1)


def test_a_line_with_more_backticks_opens_nothing() -> None:
    assert codes("``` a ``` b\nc") == []


def test_names_of_languages() -> None:
    assert [language_name(name) for name in ("PY3", "c++", "elixir")] == ["python", "cpp", "elixir"]


@given(MARKED)
def test_blocks_are_made_of_lines_of_the_text(text: str) -> None:
    blocks = list(fenced_blocks(text))
    assert sum(len(block.text) for block in blocks) <= len(text)
    assert all(block.text in text for block in blocks)
    assert all(block.is_closed for block in blocks[:-1])
