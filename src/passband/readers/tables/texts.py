"""The texts of a plain table: which columns hold completions, prompts, targets and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from passband.files import matching, normalized
from passband.readers.groups import Remark
from passband.stats.data import ROLES, Layout, answer_text, is_absent

if TYPE_CHECKING:
    from passband.readers.log_builder import ScoreValue

_NAMES = {
    "completion": (
        "completion", "response", "model_response", "model_output", "generation", "raw_output",
        "output", "resps",
    ),
    "reasoning": ("reasoning", "reasoning_content", "thinking"),
    "prompt": ("prompt", "question", "problem_text", "question_text", "input"),
    "target": ("target", "gold", "expected", "ground_truth", "reference", "answer_key"),
}  # fmt: skip
PROMPT_NAMES = _NAMES["prompt"]
_UNCLEAR = ("answer", "answers")  # of the model, or the right one


@dataclass(frozen=True)
class TableTexts:
    """The columns of a table that hold texts, by what they hold."""

    columns: dict[str, Sequence[Any]]
    names: dict[str, str]

    def fields(self, row: int) -> dict[str, Any]:
        """Return what a row says of its trial and of its problem."""
        prompt, target = self.text("prompt", row), self.text("target", row)
        return {
            "text": self.text("completion", row),
            "reasoning": self.text("reasoning", row),
            "messages": [] if prompt is None else [("user", prompt)],
            "targets": [] if target is None else [target],
        }

    def score(self, row: int, value: float | None) -> ScoreValue:
        """Return the score of a row, with its answer."""
        answer = self.text("answer", row)
        if value is None or answer is None or answer_text(answer) is None:
            return value
        from passband.score import Score

        return Score(value, "ok", answer)

    def remarks(self) -> list[Remark]:
        """Return which columns were taken for texts."""
        named = ", ".join(f"{what} = {name}" for what, name in self.names.items())
        return [Remark(f"texts: {named}", important=True)] if named else []

    def text(self, what: str, row: int) -> str | None:
        """Return what a row holds of a kind of text, if anything."""
        cell = self.columns[what][row] if what in self.columns else None
        while isinstance(cell, list) and len(cell) == 1:
            cell = cell[0]
        return (
            None if cell is None or (not isinstance(cell, str) and is_absent(cell)) else str(cell)
        )


def texts_of(layout: Layout) -> TableTexts:
    """Find the columns with texts by their names; none that plays another role."""
    roles = layout.roles
    taken = {roles.problem, roles.trial, roles.score, roles.status, roles.cluster, *layout.by}
    free = [name for name in layout.columns if name not in taken]
    names = {}
    for what, known in _NAMES.items():
        if found := matching(free, known):
            names[what] = found[0]
    answers = [name for name in matching(free, ROLES["answer"]) if name not in names.values()]
    if "target" not in names:
        answers = [name for name in answers if normalized(name) not in _UNCLEAR]
    if answers:
        names["answer"] = answers[0]
    return TableTexts({what: layout.columns[name] for what, name in names.items()}, names)
