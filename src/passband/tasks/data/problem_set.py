"""The problems of a task: rows of its data, with names and rendered prompts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from itertools import islice
from typing import Any

from passband.errors import InvalidInput, Place, nearest
from passband.generate import Message, Problem
from passband.score import Reference
from passband.tasks.data.disk_list import spooled
from passband.tasks.data.local_data import LocalData
from passband.tasks.data.rows import Condition, DataSource, data_files, digest_of, read_rows
from passband.tasks.file.schema import TaskKeys
from passband.tasks.file.task_code import made_rows, made_split, process_rows
from passband.tasks.file.yaml_file import FunctionReference
from passband.tasks.known_bad import BadProblem, KnownBad
from passband.tasks.prompt.fewshot import ExamplePool, Prompt
from passband.version import __version__

USUAL_NAMES = (
    "problem_id",
    "question_id",
    "task_id",
    "doc_id",
    "item_id",
    "sample_id",
    "example_id",
    "instance_id",
    "prompt_id",
    "record_id",
    "unique_id",
    "id",
    "idx",
)
"""Columns that name problems if the task does not set problem_id."""

Rows = Sequence[Mapping[str, Any]]
Named = tuple[str, Mapping[str, Any]]  # the key of a problem, and its row

_CHUNK = 256  # rows that are rendered together, where another process renders them


@dataclass(frozen=True)
class Conditions:
    """What rows have to fulfil to be asked, and to be worked examples."""

    problems: Condition | None = None
    examples: Condition | None = None


@dataclass(frozen=True)
class ProblemSet:
    """Reads the data of a task and turns rows into problems."""

    name: str
    keys: TaskKeys
    source: DataSource
    prompt: Prompt  # without its examples, which are read with the data
    places: Mapping[str, Place]
    text: str | None = None  # the task file, all of it; None if code of the task's own is part
    conditions: Conditions = Conditions()
    data: LocalData | None = None  # that the user gives in place of the task's own

    def __call__(self, limit: int | None = None) -> Sequence[Problem]:
        return self.load(limit)

    def load(self, limit: int | None = None) -> Sequence[Problem]:
        """Return the first `limit` problems, or all; of many only some are in memory."""
        if limit is not None and limit < 1:
            raise InvalidInput(f"limit must be at least 1; got {limit}.")
        made = self._made(limit, stop=True)
        return spooled((each for each in made if isinstance(each, Problem)), _plain, _problem)

    def digest(self, limit: int | None) -> str | None:
        """Return a hash of everything that the problems are made of, without making them.

        Where it is what it was, so are the problems. There is none for data of the hub, and for
        tasks with code of their own.
        """
        files = data_files(self.source, self._test_split) if self.text is not None else None
        if files is not None and self.keys.num_fewshot and not self._has_samples:
            more = data_files(self.source, self._example_split)
            files = None if more is None else [*files, *more]
        if files is None or self.text is None:
            return None
        made_by = f"{__version__} {version('jinja2')} {self.name} {limit}\n{self.text}"
        return digest_of(made_by, files)

    def errors(self, limit: int | None) -> list[InvalidInput]:
        """Return the errors of the first `limit` problems, or of all."""
        try:
            made = self._made(limit, stop=False)
            return [each for each in made if isinstance(each, InvalidInput)]
        except InvalidInput as error:
            return [error]

    def _made(self, limit: int | None, *, stop: bool) -> Iterator[Problem | InvalidInput]:
        """Yield each problem, or its error; with `stop` the first error is raised."""
        rows = self.rows(limit)
        columns = tuple(dict.fromkeys(name for row in rows for name in row))
        self._check_columns(columns)
        prompt = replace(self.prompt, pool=self._pool(), _written={}, _exchanges={})
        named = self._kept(zip(self._names(rows, columns), rows, strict=True), len(rows))
        for key, row in _expected(prompt, islice(named, limit), columns):
            try:
                yield self._problem(key, row, columns, prompt)
            except InvalidInput as error:
                if stop:
                    raise
                yield error

    def _problem(self, key: str, row: Mapping[str, Any], columns: Any, prompt: Prompt) -> Problem:
        self._label("by", row, key)
        choices, targets = prompt.asked.references(row, columns, key)
        return Problem(
            key=key,
            messages=prompt.messages(row, columns, key),
            reference=Reference(targets, choices, dict(row)),
            cluster=self._label("cluster", row, key),
        )

    def known_bad(self, limit: int | None) -> list[BadProblem]:
        """Return those of the first `limit` problems whose key or text is known to be wrong."""
        if not self.keys.known_bad:
            return []
        entries = [entry.model_dump() for entry in self.keys.known_bad]
        problems = ((problem.key, problem.reference.doc) for problem in self.load(limit))
        return KnownBad(entries).among(problems)

    # -- rows ------------------------------------------------------------------------------

    def rows(self, limit: int | None) -> Rows:
        """Return the rows of the data; with a condition, all that it has to choose from."""
        chosen = None if self.conditions.problems else limit
        return self._split(self._test_split, self.keys.process_docs, chosen)

    def _kept(self, named: Iterator[Named], count: int) -> Iterator[Named]:
        """Yield the problems that `where` keeps, under the names that they have among all."""
        condition = self.conditions.problems
        if condition is None:
            yield from named
            return
        kept = condition.kept(named)
        first = next(kept, None)
        if first is None:
            message = f"where: {self.keys.where} holds for none of the {count:,} rows."
            raise InvalidInput(message, place=self.places["where"])
        yield first
        yield from kept

    @cached_property
    def _test_split(self) -> str | None:
        return self.keys.test_split or self.keys.validation_split or self.keys.training_split

    def _split(
        self, split: str | None, process: FunctionReference | None, limit: int | None
    ) -> Rows:
        if self.keys.custom_dataset is not None:
            options = {**self.keys.metadata, **self.keys.dataset_kwargs}
            rows: Rows = made_split(self.keys.custom_dataset, options, split)
        else:
            # A function may drop and reorder rows, so it has to see all of them.
            rows = self._read(split, None if process else limit)
        return (process_rows(process, rows) if process else rows)[:limit]

    def _read(self, split: str | None, limit: int | None) -> Rows:
        try:
            return read_rows(self.source, split, limit)
        except InvalidInput:
            raise
        except (OSError, ValueError, RuntimeError) as error:
            # A name or a pattern that no system takes: too long, "**x", "~nobody/x".
            reason = getattr(error, "strerror", None) or error
            raise self.source.error(
                f"the data cannot be read: {str(reason).rstrip('.')}."
            ) from None

    # -- examples --------------------------------------------------------------------------

    def _pool(self) -> ExamplePool | None:
        number = self.keys.num_fewshot
        if not number:
            return None
        config = self.keys.fewshot_config
        # Each stays one object, by which its text is known.
        examples: Rows = list(self._examples())
        if config.fewshot_indices is not None:
            examples = self._picked(examples, config.fewshot_indices)
        place = self.places["num_fewshot"]
        is_random = config.sampler == "default"
        return ExamplePool(examples, number, is_random, self.name, place, config.match)

    def _examples(self) -> Rows:
        """Return the rows that examples come from, by the order of precedence of lm-eval."""
        config = self.keys.fewshot_config
        if self._has_samples:
            return self._samples(config.samples)
        process = config.process_docs or self.keys.process_docs
        if self.data is not None and self._example_split != self._test_split:
            self.data.check_split(self.name, self._example_split, "worked examples")
        rows = self._split(self._example_split, process, None)
        condition = self.conditions.examples
        return rows if condition is None else [r for _, r in condition.kept((0, r) for r in rows)]

    @property
    def _has_samples(self) -> bool:
        """Whether examples are part of the task file."""
        config = self.keys.fewshot_config
        return (config.split or self.keys.fewshot_split) is None and config.samples is not None

    @property
    def _example_split(self) -> str | None:
        named = self.keys.fewshot_config.split or self.keys.fewshot_split
        others = self.keys.training_split or self.keys.validation_split or self._test_split
        return others if named is None else named

    def _samples(self, samples: Any) -> Rows:
        return made_rows(samples) if isinstance(samples, FunctionReference) else samples

    def _picked(self, examples: Rows, indices: list[int]) -> Rows:
        if max(indices, default=0) >= len(examples):
            raise InvalidInput(
                f"fewshot_indices go up to {max(indices)}; there are {len(examples)} examples, "
                "and the first is 0.",
                place=self.places["fewshot_config"],
            )
        return [examples[index] for index in indices]

    # -- names -----------------------------------------------------------------------------

    def _names(self, rows: Rows, columns: Collection[str]) -> Iterator[str]:
        """Yield a name for every problem.

        A name never depends on later rows, so that a problem has the same name in a limited run
        and in a full one: the second "a" is "a#2".
        """
        column = self._id_column(columns) or next((n for n in USUAL_NAMES if n in rows[0]), None)
        seen: dict[str, int] = {}
        for index, row in enumerate(rows):
            value = None if column is None else row.get(column)
            usable = isinstance(value, str | int | float) and str(value).strip()
            name = str(value) if usable else str(index)
            if self.keys.problem_id is not None:
                self._check_name(column, name if usable else None, seen, index)
            seen[name] = seen.get(name, 0) + 1
            while seen[name] > 1 and f"{name}#{seen[name]}" in seen:
                seen[name] += 1
            unique = name if seen[name] == 1 else f"{name}#{seen[name]}"
            seen.setdefault(unique, 1)
            yield unique

    def _id_column(self, columns: Collection[str]) -> str | None:
        """Return the column that problem_id names: of several, the first that the data have."""
        names = _several(self.keys.problem_id)
        return next((name for name in names if name in columns), None)

    def _check_name(
        self, column: str | None, name: str | None, seen: Mapping[str, int], index: int
    ) -> None:
        place = self.places["problem_id"]
        if name is None:
            raise InvalidInput(f"row {index + 1} has no {column}.", place=place)
        if name in seen:
            raise InvalidInput(
                f"two problems have the {column} {name!r}; problem_id must be unique.", place=place
            )

    def _label(self, setting: str, row: Mapping[str, Any], key: str) -> str | None:
        """Return the value of the column that a setting names, which every problem must have."""
        column = getattr(self.keys, setting)
        if column is None:
            return None
        value = row.get(column)
        if not isinstance(value, str | int | float):
            raise InvalidInput(f"problem {key!r} has no {column}.", place=self.places[setting])
        return str(value)

    def _check_columns(self, columns: Collection[str]) -> None:
        self._check_required(columns)
        for key in ("problem_id", "cluster", "by"):
            names = _several(getattr(self.keys, key))
            if names and not any(name in columns for name in names):
                hint = nearest(names[0], columns) or f" The columns are {', '.join(columns)}."
                message = f"{key}: no column {' or '.join(map(repr, names))}.{hint}"
                raise InvalidInput(message, place=self.places[key])
        turn = self.prompt.asked
        turn.text.check_column(columns, constant=False)
        if turn.answers.target is not None:
            turn.answers.target.check_column(columns, constant=True)

    def _check_required(self, columns: Collection[str]) -> None:
        """Raise with all columns of the task that the data lack."""
        required = [_several(names) for names in self.keys.columns or ()]
        missing = [" or ".join(n) for n in required if not any(name in columns for name in n)]
        if missing:
            raise self.source.error(
                f"{self.name} needs the column{'s' * (len(missing) > 1)} {', '.join(missing)}; "
                f"the data have {', '.join(columns)}."
            )


def _several(names: str | list[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else names or []


def _plain(problem: Problem) -> tuple[Any, ...]:
    """Return a problem as built-in values."""
    reference = problem.reference
    messages = [(message.role, message.content) for message in problem.messages]
    return (
        problem.key, messages, reference.targets, reference.choices, reference.doc, problem.cluster,
    )  # fmt: skip


def _problem(values: tuple[Any, ...]) -> Problem:
    """Return the problem of such values."""
    key, messages, targets, choices, doc, cluster = values
    asked = tuple(Message(role, content) for role, content in messages)
    return Problem(key, asked, Reference(targets, choices, doc), cluster)


def _expected(
    prompt: Prompt, problems: Iterator[Named], columns: Collection[str]
) -> Iterator[Named]:
    """Yield the problems; announce each chunk of them to the prompt first."""
    while chunk := list(islice(problems, _CHUNK)):
        prompt.expect(chunk, columns)
        yield from chunk
