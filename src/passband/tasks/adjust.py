"""Adjustments: what a command changes of the tasks that it asks, without touching their files.

A system prompt, the number of worked examples, whether these are turns of a conversation, and the
fields of requests. All of it changes what is asked, so all of it is part of the recorded spec.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from passband.errors import InvalidInput, nearest
from passband.generate.problem import Problem
from passband.generate.provider import Message
from passband.tasks.problem_set import ProblemSet
from passband.tasks.sampling import LENGTH_NAMES, STOP_NAMES, changed_sampling
from passband.tasks.spool import spooled
from passband.tasks.task import Task

__all__ = ["Adjustments", "adjusted_tasks"]

_OF_SAMPLING = ("temperature", "top_p", "do_sample", *LENGTH_NAMES, *STOP_NAMES)


@dataclass(frozen=True)
class Adjustments:
    """Changes to tasks; None leaves a task as it is."""

    system: str | None = None  # the system prompt, in place of the task's; "" for none
    num_fewshot: int | None = None
    fewshot_as_turns: bool = False
    gen: Mapping[str, Any] = field(default_factory=dict)  # None as a value leaves a field out

    def __post_init__(self) -> None:
        number: object = self.num_fewshot
        if number is not None and (not isinstance(number, int) or number < 0):
            raise InvalidInput(f"--num-fewshot must be a whole number, 0 or more; got {number!r}.")

    def apply(self, task: Task) -> Task:
        """Return a task with these changes.

        >>> from passband.tasks.find import find_tasks
        >>> from passband.tasks.loader import load_task
        >>> task = load_task(find_tasks("arithmetic")[0])
        >>> changed = Adjustments(system="Be brief.", gen={"top_k": 20}).apply(task)
        >>> changed.spec, changed.sampling.extra
        ({'system': 'Be brief.'}, {'top_k': 20})
        >>> changed.load(1)[0].messages[0].content
        'Be brief.'
        """
        if self.gen:
            if task.subject is not None:
                self._refuse_leaving_out(task)
            task = replace(task, sampling=changed_sampling(task.sampling, self.gen))
        if isinstance(task.load, ProblemSet):
            return self._with_prompts(task, task.load)
        return self._without_templates(task)

    def _with_prompts(self, task: Task, problems: ProblemSet) -> Task:
        """Return a task whose prompts are written from templates, written in another way."""
        spec, prompt = dict(task.spec), problems.prompt
        number = task.num_fewshot if self.num_fewshot is None else self.num_fewshot
        if number != task.num_fewshot:
            spec["num_fewshot"] = number
        if self.fewshot_as_turns and number:
            spec["fewshot_as_turns"] = True
            prompt = replace(prompt, as_turns=True)
        if self.system is not None:
            spec = _with_system(spec, self.system)
            prompt = replace(prompt, system=self.system)
        if spec == task.spec:
            return task
        keys = problems.keys.model_copy(update={"num_fewshot": number})
        text = None if problems.text is None else problems.text + json.dumps(spec, sort_keys=True)
        changed = replace(problems, keys=keys, prompt=prompt, text=text)
        return replace(task, load=changed, spec=spec, num_fewshot=number)

    def _without_templates(self, task: Task) -> Task:
        """Return a task that brings its prompts ready-made, with another system prompt."""
        for option, is_given in (
            ("--num-fewshot", self.num_fewshot not in (None, task.num_fewshot)),
            ("--fewshot-as-turns", self.fewshot_as_turns),
            ("--system", self.system is not None and _writes_its_own(task)),
        ):
            if is_given:
                raise InvalidInput(
                    f"{option}: {task.name} brings its prompts ready-made; only those of task "
                    "files are written anew."
                )
        if self.system is None:
            return task
        load = _SystemFirst(task.load, self.system)
        return replace(task, load=load, spec=_with_system(task.spec, self.system))

    def _refuse_leaving_out(self, task: Task) -> None:
        empty = next((name for name, value in self.gen.items() if value is None), None)
        if empty is not None:
            raise InvalidInput(
                f"--gen {empty}=: {task.name} sets the fields of its requests itself; a field can "
                "be given another value, not left out."
            )


def adjusted_tasks(tasks: Sequence[Task], changes: Adjustments) -> list[Task]:
    """Return tasks with the same changes; refuse changes that would change none of them."""
    if changes.fewshot_as_turns and not any(changes.num_fewshot or t.num_fewshot for t in tasks):
        raise InvalidInput("--fewshot-as-turns: no task has worked examples. Add --num-fewshot N.")
    sent = {name for task in tasks for name in task.sampling.extra}
    for name, value in changes.gen.items():
        if value is None and name not in sent and name not in _OF_SAMPLING:
            hint = nearest(name, [*sent, *_OF_SAMPLING])
            raise InvalidInput(f"--gen {name}=: no task here sends {name}.{hint}")
    return [changes.apply(task) for task in tasks]


@dataclass(frozen=True)
class _SystemFirst:
    """Loads problems and puts a system prompt in front, in place of one that is there."""

    inner: Callable[[int | None], Sequence[Problem]]
    system: str

    def __call__(self, limit: int | None = None) -> Sequence[Problem]:
        return spooled(self._changed(problem) for problem in self.inner(limit))

    def _changed(self, problem: Problem) -> Problem:
        asked = tuple(message for message in problem.messages if message.role != "system")
        first = (Message("system", self.system),) if self.system else ()
        return replace(problem, messages=(*first, *asked))


def _writes_its_own(task: Task) -> bool:
    """Return whether its prompts are a matter of its code, or of its calibration."""
    return task.subject is not None or "adaptive" in task.config


def _with_system(spec: Mapping[str, Any], system: str) -> dict[str, Any]:
    others = {name: value for name, value in spec.items() if name != "system"}
    return {**others, "system": system} if system else others
