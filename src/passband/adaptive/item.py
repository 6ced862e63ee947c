"""An item of a bank: its question and targets, its split and its content area."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import NamedTuple

from passband.generate import JsonMapping, Message, Problem
from passband.score import Reference

_LETTERS = [*ascii_uppercase, *(a + b for a in ascii_uppercase for b in ascii_uppercase)]


class Option(NamedTuple):
    """One of the answers that a multiple-choice item offers."""

    id: str
    text: str


@dataclass(frozen=True)
class BankItem:
    """One item; its parameters are in `Bank.parameters`, at the same position."""

    key: str
    split: str
    question: str
    targets: tuple[str, ...]  # any of them is right; ids of choices, where there are choices
    choices: tuple[Option, ...] | None = None
    content: str | None = None  # the area that content balancing counts it in
    messages: tuple[tuple[str, str], ...] = ()  # role and text, where it is not one question
    doc: JsonMapping = field(default_factory=dict)  # its row of the data set
    quality: Mapping[str, float] = field(default_factory=dict)  # standard errors, fit, trials

    @property
    def prompt(self) -> str:
        """The question, followed by its choices under letters.

        >>> rivers = (Option("x", "Elbe"), Option("y", "Po"))
        >>> print(BankItem("1", "test", "The longer one?", ("x",), rivers).prompt)
        The longer one?
        A. Elbe
        B. Po
        Answer with the letter only.
        """
        if self.choices is None:
            return self.question
        options = [f"{self.letter(choice.id)}. {choice.text}" for choice in self.choices]
        return "\n".join([self.question, *options, "Answer with the letter only."])

    def problem(self, parameters: JsonMapping) -> Problem:
        """Return the item as a run asks it; `parameters` are stored with it."""
        messages = self.messages or (("user", self.prompt),)
        return Problem(
            self.key,
            tuple(Message(role, text) for role, text in messages),  # type: ignore[arg-type]
            Reference(
                tuple(self.letter(target) or target for target in self.targets),
                tuple(c.text for c in self.choices or ()),
                {**self.doc, **parameters},
            ),
        )

    def letter(self, choice: str) -> str | None:
        """Return the letter under which a choice is shown, by its id; None if there is none."""
        ids = [option.id for option in self.choices or ()]
        return _LETTERS[ids.index(choice)] if choice in ids else None
