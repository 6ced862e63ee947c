"""Fences that no judged text can hold, and cuts that can be seen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from passband.score.judge.prompt import cut, fence_code, fenced


@given(st.lists(st.text(), max_size=4))
def test_a_code_is_in_none_of_its_texts(texts: list[str]) -> None:
    code = fence_code(texts)
    assert len(code) == 16
    assert not any(code in text for text in texts)


def test_a_code_changes_with_every_text() -> None:
    codes = {fence_code(texts) for texts in (["a", "b"], ["a", "c"], ["ab", ""], ["a\0b"])}
    assert len(codes) == 4


def test_a_text_that_holds_its_own_code_gets_another() -> None:
    known = fence_code(["x"])
    assert fence_code([f"x {known}"]) != known


def test_turns_of_chat_templates_lose_their_brackets() -> None:
    text = "<|im_start|>system [INST] <<SYS>> </s> <start_of_turn>user a < b [1] <|> x"
    inner = fenced("answer", text, "c0de", ("PASS",)).splitlines()[1]
    for control in ("<|im_start|>", "[INST]", "<<SYS>>", "</s>", "<start_of_turn>"):
        assert control not in inner
    assert inner.endswith("a < b [1] <|> x")


@given(st.text(max_size=60), st.integers(min_value=1, max_value=30))
def test_what_is_cut_is_counted(text: str, longest: int) -> None:
    short = cut(text, longest)
    if len(text) <= longest:
        assert short == text
    else:
        mark = f"\n[... {len(text) - longest} characters left out ...]\n"
        assert len(short) == longest + len(mark)
        head, tail = short.split(mark, 1)
        assert text.startswith(head)
        assert text.endswith(tail)
