"""Prompts: a description, worked examples, and the problem itself, as one text.

The layout is that of lm-evaluation-harness:

    description  example  fewshot_delimiter  example  fewshot_delimiter ...  doc_to_text

where an example is doc_to_text, target_delimiter and its first target. A gen_prefix, with which
the answer is to begin, ends the prompt.

Random examples are drawn for each problem separately, by a generator seeded with the names of the
task and of the problem: the prompt of a problem is the same in every run, whichever other problems
are asked. No row is drawn twice, and never the problem itself.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from passband.errors import InvalidInput, Place, nearest
from passband.generate import Message
from passband.tasks.prompt.field import ChoiceOrder, ProblemField, Row, RowTargets, example_key

CHOICES = "choices"  # the variable of doc_to_text that holds them


class ExampleAnswer(NamedTuple):
    """The choices and the targets of a problem."""

    choices: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Turn:
    """The fields that write a question, and the answer of a worked example."""

    text: ProblemField
    answers: RowTargets
    prefix: ProblemField | None
    target_delimiter: str
    order: ChoiceOrder | None = None
    _choices: dict[int, tuple[Row, tuple[str, ...]]] = field(default_factory=dict)
    _filled: dict[int, tuple[Row, Row]] = field(default_factory=dict)  # rows with their choices

    @property
    def fields(self) -> tuple[ProblemField, ...]:
        prefix = () if self.prefix is None else (self.prefix,)
        return (self.text, *self.answers.fields, *prefix)

    def expect(self, named: Sequence[tuple[str, Row]], columns: Collection[str]) -> None:
        """Note the rows that will be written next, each with the key that orders its choices."""
        self._choices.clear()
        self._filled.clear()
        rows = [row for _, row in named]
        for asked in self.fields:
            asked.expect(rows)
        if self._offers_choices and not self.text.is_rendered_here:
            with suppress(InvalidInput):  # a row that has none: the problem itself will say so
                self.text.expect([self._with_choices(row, columns, key) for key, row in named])

    def references(self, row: Row, columns: Collection[str], key: str) -> ExampleAnswer:
        """Return the choices of a problem, in the order in which they are shown, and its targets.

        A target that is a position is one among the choices as the data have them.
        """
        choices = self._read_choices(row, columns, key)
        targets = self.answers.targets(row, columns, choices, key)
        return ExampleAnswer(self._ordered(choices, key), targets)

    def question(self, row: Row, columns: Collection[str], problem: str) -> str:
        """Return the text of the problem that is asked, up to where the answer begins."""
        question = self._question(row, columns, problem)
        prefix = self.prefix.text(row, columns, problem) if self.prefix else ""
        return self._led(question, prefix)

    def example(self, row: Row, columns: Collection[str], problem: str) -> str:
        """Return the text of a worked example: the question and its first target."""
        key = problem if self.order is None else example_key(row)
        question = self._question(row, columns, key)
        targets = self.references(row, columns, key).targets
        target = targets[0] if targets else ""
        if not target:
            return question
        prefix = self.prefix.text(row, columns, problem) if self.prefix else ""
        if not prefix:
            return question + self.target_delimiter + target
        return self._led(question, prefix) + _delimited(prefix, " ", target)

    def exchange(self, row: Row, columns: Collection[str], problem: str) -> tuple[str, str]:
        """Return the question of a worked example and its answer, each a turn of its own."""
        key = problem if self.order is None else example_key(row)
        question = self._question(row, columns, key)
        targets = self.references(row, columns, key).targets
        if not targets or not targets[0]:
            told = "an example of it has no target, and so is no turn (--fewshot-as-turns)."
            raise self.text.wrong(told, problem)
        prefix = self.prefix.text(row, columns, problem) if self.prefix else ""
        return question, prefix + _delimited(prefix, " ", targets[0])

    # -- choices ---------------------------------------------------------------------------

    def _question(self, row: Row, columns: Collection[str], key: str) -> str:
        asked = self._with_choices(row, columns, key) if self._offers_choices else row
        return self.text.text(asked, columns, key)

    @property
    def _offers_choices(self) -> bool:
        """Whether doc_to_text reads the choices that doc_to_choice gives."""
        return self.answers.choice is not None and self.text.reads(CHOICES)

    def _with_choices(self, row: Row, columns: Collection[str], key: str) -> Row:
        """Return the row with its choices; a column of this name wins unless they are shuffled.

        White space around a choice can give the key away.
        """
        if self.order is None and CHOICES in row:
            return row
        if id(row) not in self._filled:
            choices = self._ordered(self._read_choices(row, columns, key), key)
            self._filled[id(row)] = (row, {**row, CHOICES: [text.strip() for text in choices]})
        return self._filled[id(row)][1]

    def _read_choices(self, row: Row, columns: Collection[str], key: str) -> tuple[str, ...]:
        if id(row) not in self._choices:
            self._choices[id(row)] = (row, self.answers.choices(row, columns, key))
        return self._choices[id(row)][1]

    def _ordered(self, choices: tuple[str, ...], key: str) -> tuple[str, ...]:
        return choices if self.order is None else self.order.permuted(choices, key)

    def _led(self, question: str, prefix: str) -> str:
        return question + _delimited(question, self.target_delimiter, prefix)


def _delimited(before: str, delimiter: str, after: str) -> str:
    """Return `after`, with the delimiter in front unless there is white space between already."""
    apart = not before or not after or before[-1].isspace() or after[0].isspace()
    return after if apart else delimiter + after


@dataclass(frozen=True)
class ExamplePool:
    """Rows that examples are taken from, and how."""

    rows: Sequence[Row]
    number: int
    at_random: bool
    task: str
    place: Place
    match: str | None = None  # column in which an example has to agree with the problem

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for row in self.rows for name in row))

    def choose(self, row: Row, problem: str) -> list[Row]:
        """Return the examples for a problem, never the problem itself."""
        order = self._drawn(problem) if self.at_random else iter(self.rows)
        chosen: list[Row] = []
        for example in order:
            if len(chosen) == self.number:
                break
            if example != row and self._agrees(example, row, problem):
                chosen.append(example)
        if len(chosen) < self.number:
            alike = f" with the same {self.match}" if self.match else ""
            raise InvalidInput(
                f"num_fewshot is {self.number}, and there are only {len(chosen)} examples{alike} "
                f"for problem {problem!r} besides itself.",
                place=self.place,
            )
        return chosen

    def _agrees(self, example: Row, row: Row, problem: str) -> bool:
        if self.match is None:
            return True
        for name, columns in ((f"problem {problem!r}", row), ("an example", example)):
            if self.match not in columns:
                hint = nearest(self.match, columns) or f" Its columns are {', '.join(columns)}."
                message = f"fewshot_config.match: {name} has no column {self.match!r}.{hint}"
                raise InvalidInput(message, place=self.place)
        return bool(example[self.match] == row[self.match])

    def _drawn(self, problem: str) -> Iterator[Row]:
        """Yield the rows in random order, each drawn only when it is needed."""
        name = f"{self.task}\0{problem}".encode("utf-8", "surrogatepass")
        generator = random.Random(int.from_bytes(hashlib.sha256(name).digest(), "big"))
        moved: dict[int, int] = {}  # a shuffle that keeps only the positions it has touched
        for left in range(len(self.rows), 0, -1):
            # random() alone is promised to give the same numbers in every version of Python.
            drawn = int(generator.random() * left)
            yield self.rows[moved.get(drawn, drawn)]
            moved[drawn] = moved.get(left - 1, left - 1)


@dataclass(frozen=True)
class Prompt:
    """The whole prompt of a task, without a problem."""

    description: ProblemField
    asked: Turn
    shown: Turn
    pool: ExamplePool | None
    fewshot_delimiter: str
    _written: dict[int, str] = field(default_factory=dict)  # examples come again and again
    system: str | None = None  # the system prompt
    as_turns: bool = False  # whether an example is two turns of the conversation
    _exchanges: dict[int, tuple[str, str]] = field(default_factory=dict)  # examples as turns

    def expect(self, problems: Sequence[tuple[str, Row]], columns: Collection[str] = ()) -> None:
        """Note the problems whose prompts and answers will be asked for next, by key."""
        self.description.expect([row for _, row in problems])
        self.asked.expect(problems, columns)
        if self.pool is not None and not all(s.is_rendered_here for s in self.shown.fields):
            examples = self._unwritten(self.pool, problems)
            keyed = [(example_key(row) if self.shown.order else "", row) for row in examples]
            self.shown.expect(keyed, self.pool.columns)

    def _unwritten(self, pool: ExamplePool, problems: Sequence[tuple[str, Row]]) -> list[Row]:
        """Return the examples of some problems that have not been written yet."""
        chosen: dict[int, Row] = {}
        for key, row in problems:
            with suppress(InvalidInput):  # too few of them: the problem itself will say so
                chosen.update((id(example), example) for example in pool.choose(row, key))
        written = self._exchanges if self.as_turns else self._written
        return [example for number, example in chosen.items() if number not in written]

    def messages(self, row: Row, columns: Collection[str], problem: str) -> tuple[Message, ...]:
        """Return the conversation that asks one problem."""
        if self.as_turns and self.pool is not None:
            return self._turns(self.pool, row, columns, problem)
        asked = Message("user", self.text(row, columns, problem))
        return (Message("system", self.system), asked) if self.system else (asked,)

    def _turns(
        self, pool: ExamplePool, row: Row, columns: Collection[str], problem: str
    ) -> tuple[Message, ...]:
        """Return the conversation with examples as turns; as in lm-eval, the description is
        part of the system prompt."""
        description = self.description.text(row, columns, problem)
        system = self.fewshot_delimiter.join(filter(None, (self.system, description)))
        turns = [Message("system", system)] if system else []
        for example in pool.choose(row, problem):
            question, answer = self._exchange(example, pool.columns, problem)
            turns += [Message("user", question), Message("assistant", answer)]
        return (*turns, Message("user", self.asked.question(row, columns, problem)))

    def _exchange(self, example: Row, columns: Collection[str], problem: str) -> tuple[str, str]:
        key = id(example)
        if key not in self._exchanges:
            self._exchanges[key] = self.shown.exchange(example, columns, problem)
        return self._exchanges[key]

    def text(self, row: Row, columns: Collection[str], problem: str) -> str:
        """Return the prompt of one problem."""
        pieces = [self.description.text(row, columns, problem)]
        if self.pool is not None:
            for example in self.pool.choose(row, problem):
                written = self._example(example, self.pool.columns, problem)
                pieces += [written, self.fewshot_delimiter]
        pieces.append(self.asked.question(row, columns, problem))
        return "".join(pieces)

    def _example(self, example: Row, columns: Collection[str], problem: str) -> str:
        # The pool keeps its rows for as long as this prompt is used, so that ids stay apart.
        key = id(example)
        if key not in self._written:
            self._written[key] = self.shown.example(example, columns, problem)
        return self._written[key]
