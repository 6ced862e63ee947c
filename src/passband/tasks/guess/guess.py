"""Guesses about plain data: which columns ask and answer, and how answers are scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from passband.errors import InvalidInput, nearest
from passband.score import check_rules
from passband.tasks.guess.answers import (
    CHOICE,
    MATH,
    AnswerKind,
    Choices,
    ShortAnswers,
    find_choices,
    kind_of,
    of_scorer,
    short_answers,
    target_of,
)
from passband.tasks.guess.columns import DataField, choose, named, refuse_empty, shown
from passband.tasks.prompt.rendering import Renderer
from passband.tasks.prompt.template import Template

Row = Mapping[str, Any]

QUESTIONS = (
    (
        "problem", "question", "prompt", "query", "instruction", "input", "problem_statement",
        "question_text", "problem_text", "prompt_text", "user_prompt", "puzzle", "exercise",
    ),
    ("text", "content", "task", "statement", "messages", "conversation"),
)  # fmt: skip
ANSWERS = (
    (
        "answer", "target", "final_answer", "correct_answer", "expected_answer", "ground_truth",
        "gold", "gold_answer", "reference_answer", "right_answer", "answer_key", "ideal",
        "answers", "targets",
    ),
    ("label", "expected", "expected_output", "solution", "reference", "output", "key", "response"),
)  # fmt: skip
_SHORT = (None, "acc", "exact_match", "math", "numeric")  # scorers of short answers


@dataclass(frozen=True)
class DataOptions:
    """What the user says about plain data; None is guessed."""

    question: str | None = None  # column
    answer: str | None = None  # column or template
    prompt: str | None = None  # template of the whole prompt
    scorer: str | None = None
    extract: Sequence[str] | None = None  # rules
    system: str | None = None  # system prompt, for a task file; a run gets it by `Overrides`
    ignore_columns: Sequence[str] | None = None  # of pictures and sounds that no prompt needs

    @classmethod
    def of(
        cls,
        question: str | None,
        answer: str | None,
        prompt: str | None,
        scorer: str | None,
        extract: str | None,
        system: str | None = None,
        ignore_columns: str | None = None,
    ) -> DataOptions:
        """Return options as the shell gives them: rules and columns with commas between."""
        rules, ignored = (
            None if names is None else [name.strip() for name in names.split(",")]
            for names in (extract, ignore_columns)
        )
        return cls(question, answer, prompt, scorer, rules, system, ignored)

    @property
    def given(self) -> list[str]:
        """The options that were given, as the shell knows them."""
        return [
            f"--{name.replace('_', '-')}" for name, value in vars(self).items() if value is not None
        ]


@dataclass(frozen=True)
class Guess:
    """What plain data were taken for."""

    question: DataField | None  # None: the user has written the prompt
    answer: DataField
    choices: Choices | None
    short: ShortAnswers | None  # where answers are at the end of solutions
    kind: AnswerKind
    rules: tuple[str, ...]  # of extraction
    prompt: str  # template
    target: str | int  # column, template, or position of a choice


def make_guess(fields: Sequence[DataField], rows: Sequence[Row], options: DataOptions) -> Guess:
    """Return what the columns mean, as the user says or as their names and values do."""
    question = _question(fields, options)
    answer = _answer(fields, rows, options)
    if question is not None and question.name == answer.name:
        raise InvalidInput(
            f"column {answer.name} is both the question and the answer; say which column holds "
            f"the right answer with --answer. Found: {shown(fields)}."
        )
    refuse_empty(question, answer, fields)
    choices = find_choices(rows, fields, question, answer)
    short = None
    if choices is None and options.scorer in _SHORT:
        short = short_answers(answer.expression, answer.values)
    kind = _kind(answer, choices, short, options)
    return Guess(
        question=question,
        answer=answer,
        choices=choices,
        short=short,
        kind=kind,
        rules=kind.rules if options.extract is None else check_rules(list(options.extract)),
        prompt=_prompt(question, choices, kind) if options.prompt is None else options.prompt,
        target=_target(answer, choices, short, options),
    )


def _target(
    answer: DataField, choices: Choices | None, short: ShortAnswers | None, options: DataOptions
) -> str | int:
    if choices is not None:
        is_template = options.answer is not None and "{{" in options.answer
        return target_of(answer, choices, is_template=is_template)
    return (short.template if short else None) or answer.setting


def _question(fields: Sequence[DataField], options: DataOptions) -> DataField | None:
    """Return the field of the question; None if the user has written the prompt."""
    if options.prompt is not None:
        if options.question is not None:
            raise InvalidInput("--prompt is the whole prompt; --question has no part in it.")
        _check_prompt(options.prompt, fields)
        return None
    if options.question is not None:
        return named(fields, options.question, "--question")
    _refuse_chats(fields)
    texts = [each for each in fields if each.is_text]
    if not texts:
        raise InvalidInput(
            f"no column holds text to ask; found: {shown(fields)}. Name one with --question, or "
            "write the prompt with --prompt."
        )
    example = texts[0].expression
    more = f", or write the prompt: --prompt '{{{{ {example} }}}}'"
    return choose(texts, QUESTIONS, "question", more, every=fields)


def _check_prompt(prompt: str, fields: Sequence[DataField]) -> None:
    """Raise `InvalidInput` for a prompt without anything of the problem in it."""
    if "{{" in prompt or "{%" in prompt or any(prompt == each.name for each in fields):
        return
    columns = [each.name for each in fields]
    hint = nearest(prompt, columns) or f" Found: {shown(fields)}."
    raise InvalidInput(
        f"--prompt {prompt[:60]!r} names no column, so every problem would be asked the same; "
        f"write columns as {{{{ {fields[0].expression} }}}}.{hint}"
    )


def _refuse_chats(fields: Sequence[DataField]) -> None:
    """Raise `InvalidInput` for a question that is a chat of several messages."""
    for each in fields:
        chats = [value for value in each.values if isinstance(value, list)]
        is_chat = chats and all(
            isinstance(message, dict) and "role" in message for chat in chats for message in chat
        )
        if is_chat:
            raise InvalidInput(
                f"column {each.name} holds chats of several messages, and a prompt is one text: "
                f"say which message with --prompt '{{{{ {each.expression}[-1].content }}}}'."
            )


def _answer(fields: Sequence[DataField], rows: Sequence[Row], options: DataOptions) -> DataField:
    if options.answer is None:
        fitting = [each for each in fields if each.is_answer]
        return choose(fitting, ANSWERS, "answer", every=fields)
    if "{{" not in options.answer:
        return named(fields, options.answer, "--answer")
    template = Template(options.answer)
    renderer = Renderer(template)
    renderer.expect(rows)
    values = [_rendered(renderer, row, number) for number, row in enumerate(rows, start=1)]
    expression = options.answer.strip().removeprefix("{{").removesuffix("}}").strip()
    return DataField(options.answer, expression, values, is_column=False)


def _rendered(renderer: Renderer, row: Row, number: int) -> str:
    try:
        return renderer.render(row)
    except InvalidInput as error:
        raise InvalidInput(f"--answer in row {number}: {error.message}") from None


def _kind(
    answer: DataField, choices: Choices | None, short: ShortAnswers | None, options: DataOptions
) -> AnswerKind:
    """Return how to ask and to score; a scorer of the user's leaves the prompt as it would be."""
    if options.scorer is None:
        return _kind_of_answers(answer, choices, short)
    chosen = of_scorer(_scorer_name(options.scorer))
    try:
        asked = _kind_of_answers(answer, choices, short)
    except InvalidInput:  # no scorer could be guessed, but one is given
        return chosen
    return replace(chosen, instruction=asked.instruction)


def _kind_of_answers(
    answer: DataField, choices: Choices | None, short: ShortAnswers | None
) -> AnswerKind:
    if choices is not None:
        return CHOICE
    if short is not None:
        return MATH if short.template is None else kind_of(short.values)
    return kind_of(answer.values)


def _scorer_name(name: str) -> str:
    from passband.score import scorers

    scorers.get(name)  # raises, with the nearest name
    return name


def _prompt(question: DataField | None, choices: Choices | None, kind: AnswerKind) -> str:
    assert question is not None  # without a prompt of the user's there is one
    text = f"{{{{ {question.expression} }}}}\n\n"
    if choices is not None and not _are_shown(question, choices):
        text += f"{choices.lines}\n"
    if not all("boxed" in asked for asked in question.values):  # else it says so itself
        text += kind.instruction
    return text.rstrip("\n")


def _are_shown(question: DataField, choices: Choices) -> bool:
    """Return whether every question has its choices in it."""
    return not choices.is_shuffled and all(
        all(str(text) in asked for text in texts)
        for asked, texts in zip(question.values, choices.texts, strict=True)
    )
