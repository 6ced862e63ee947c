"""Change settings of tasks for one command, without touching their files.

A system prompt, the number of worked examples, whether these are turns of a conversation, and the
fields of requests. All of it changes what is asked, so all of it is part of the recorded spec.

`--gen key=value`: fields of requests as they are written in a shell.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from passband.errors import InvalidInput, nearest
from passband.generate import Message, Problem
from passband.tasks.data.disk_list import spooled
from passband.tasks.data.problem_set import ProblemSet
from passband.tasks.sampling import LENGTH_NAMES, STOP_NAMES, changed_sampling
from passband.tasks.task import Task

_OF_SAMPLING = ("temperature", "top_p", "do_sample", *LENGTH_NAMES, *STOP_NAMES)


@dataclass(frozen=True)
class Overrides:
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
        >>> from passband.tasks.file.loader import load_task
        >>> task = load_task(find_tasks("arithmetic")[0])
        >>> changed = Overrides(system="Be brief.", gen={"top_k": 20}).apply(task)
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


def override_tasks(tasks: Sequence[Task], changes: Overrides) -> list[Task]:
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


_NUMBERS = (
    "temperature", "top_p", *LENGTH_NAMES, "min_tokens", "min_new_tokens", "top_k",
    "min_p", "typical_p", "top_a",
    "frequency_penalty", "presence_penalty", "repetition_penalty", "repeat_penalty",
    "length_penalty", "top_logprobs", "thinking_token_budget", "num_ctx",
)  # fmt: skip
_FLAGS = (
    "do_sample", "logprobs", "include_reasoning", "separate_reasoning", "ignore_eos", "store",
    "skip_special_tokens", "add_generation_prompt", "continue_final_message", "parallel_tool_calls",
)  # fmt: skip
_OBJECTS = (
    "chat_template_kwargs", "thinking", "reasoning", "provider", "logit_bias", "response_format",
    "metadata", "output_config", "thinkingConfig", "generationConfig", "structured_outputs",
    "stop_token_ids", "safetySettings",
)  # fmt: skip
_WORDS = (
    "reasoning_effort",
    "reasoning_format",
    "service_tier",
    "verbosity",
    "prompt_mode",
    "user",
)
_KNOWN = (*_NUMBERS, *_FLAGS, *_OBJECTS, *_WORDS, *STOP_NAMES)
_REFUSED = {
    "seed": "every trial has a seed of its own; --seed changes what they derive from, and "
    "--no-seed sends none",
    "random_seed": "every trial has a seed of its own; --seed changes what they derive from",
    "n": "-n is how often a problem is asked, --batch how many completions a request asks for",
    "stream": "give --stream",
    "model": "give --model",
    "messages": "prompts are the task's; --system and --num-fewshot change them",
    "prompt": "prompts are the task's; --system and --num-fewshot change them",
    "system": "give --system",
    "extra_body": "it is an argument of the openai package; give its fields one by one, such as "
    "--gen top_k=20",
}
_LONGEST = 100_000  # characters of a value
_CLOSE = 0.88  # how alike two names are of which one is taken for a slip of the other


def read_gen(words: Iterable[str]) -> dict[str, Any]:
    """Return fields given as key=value; `key=` gives None, which leaves the field out.

    A value is read as JSON. What is no JSON is text, unless the field is known to be a number, a
    flag or an object, or the value begins like a list or an object.

    >>> read_gen(["top_k=20", "reasoning_effort=low", "temperature=", 'stop=["Q:"]'])
    {'top_k': 20, 'reasoning_effort': 'low', 'temperature': None, 'stop': ['Q:']}
    """
    fields: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InvalidInput(f"--gen takes key=value, such as --gen top_k=20; got {word!r}.")
        if name in _REFUSED:
            raise InvalidInput(f"--gen {name}: {_REFUSED[name]}.")
        if name in fields:
            raise InvalidInput(f"--gen {name} is given twice.")
        _refuse_slip(name)
        fields[name] = _value(name, text)
    return fields


def _refuse_slip(name: str) -> None:
    """Refuse what is nearly a known name: servers ignore fields that they do not know."""
    if name in _KNOWN:
        return
    plain = name.lower().replace("-", "_")
    close = difflib.get_close_matches(plain, [*_KNOWN, *_REFUSED], n=1, cutoff=_CLOSE)
    if close:
        raise InvalidInput(
            f"--gen {name}: most servers ignore a field that they do not know. Did you mean "
            f"{close[0]!r}? A field of this very name can be written into the task's "
            "generation_kwargs."
        )


def _value(name: str, text: str) -> Any:
    if not text.strip():
        return None
    if len(text) > _LONGEST:
        raise InvalidInput(f"--gen {name}: the value is longer than {_LONGEST} characters.")
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return _text(name, text, error)
    if name in STOP_NAMES and not isinstance(value, str | list):
        return text  # a number that ends the answer
    _check_kind(name, value, text)
    return value


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _text(name: str, text: str, error: Exception) -> str:
    """Return a value that is no JSON as text; raise `InvalidInput` where it must be JSON."""
    known = name in (*_NUMBERS, *_FLAGS, *_OBJECTS)
    if known or text.lstrip()[:1] in ("{", "[", '"') or text in ("True", "False", "None", "NaN"):
        example = {"True": "true", "False": "false", "None": "null"}.get(text)
        advice = f"Write {example}." if example else f"It must be {_kind(name)}."
        raise InvalidInput(f"--gen {name}: {text!r:.120} is not JSON ({error}). {advice}")
    return text


def _check_kind(name: str, value: Any, text: str) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    wrong = (
        (name in _NUMBERS and value is not None and not is_number)
        or (name in _FLAGS and name != "logprobs" and not isinstance(value, bool | None))
        or (name in _OBJECTS and not isinstance(value, dict | list | None))
        or (isinstance(value, float) and not math.isfinite(value))
    )
    if wrong:
        raise InvalidInput(f"--gen {name} must be {_kind(name)}; got {text!r:.120}.")


def _kind(name: str) -> str:
    if name in _NUMBERS:
        return "a number"
    if name in _FLAGS:
        return "true or false"
    return """an object or a list in JSON, such as '{"enable_thinking": false}', in single quotes"""
