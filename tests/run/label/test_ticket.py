"""Tickets: nothing is lost, and what is damaged is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband import InvalidInput
from passband.files.spreadsheet import guarded
from passband.run.label.sheet import Ticket, digest_of

TICKET = Ticket("p1", 2, "abc", "quality", "spread", 7, 100, 200, 800, 0.125, "d" * 16)


@given(problem=st.text(max_size=20), judge=st.text(max_size=20), seed=st.integers(0, 2**63))
def test_any_name_survives(problem: str, judge: str, seed: int) -> None:
    ticket = Ticket(problem, 0, "abc", judge, "trial", seed, 1, 1, 1, 1.0, "x")
    assert Ticket.parse(ticket.text()) == ticket
    assert Ticket.parse(f" {ticket.text()}\n") == ticket


def test_no_spreadsheet_computes_it() -> None:
    assert guarded(TICKET.text()) == TICKET.text()


@given(st.text(max_size=40))
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="ticket is damaged"):
        Ticket.parse(text)


@given(st.integers(0, len(TICKET.text()) - 1))
def test_a_changed_letter_is_noticed(at: int) -> None:
    text = TICKET.text()
    other = "A" if text[at] != "A" else "B"
    with pytest.raises(InvalidInput, match="ticket is damaged"):
        Ticket.parse(text[:at] + other + text[at + 1 :])


def test_answers_are_told_apart() -> None:
    assert digest_of("42") != digest_of("42 ")
    assert digest_of(None) == digest_of("")
    assert len(digest_of("\ud800")) == 16
