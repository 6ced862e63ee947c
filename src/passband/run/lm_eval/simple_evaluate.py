"""`simple_evaluate`: tasks in, results in the shape that lm-evaluation-harness gives them.

Its arguments are those of lm-eval where they mean the same here, and passband's own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from passband.errors import ConflictingArguments, InvalidInput, WrongType
from passband.generate import Model, Provider, Subject, adapted
from passband.run.lm_eval.arguments import (
    check_batch_size,
    gen_fields,
    is_plain_text,
    named_model,
    read_limit,
)
from passband.run.lm_eval.results import shaped_results
from passband.run.problems import first_share
from passband.run.progress import make_watcher
from passband.run.request import RunRequest, make_request
from passband.run.session import RunResult
from passband.stats import as_level
from passband.tasks import Overrides, ProblemSet, Task


def simple_evaluate(
    model: str | Provider | Callable[..., Any],
    tasks: Sequence[str | Path | Task] | str | Path | Task,
    num_repeats: int | None = None,
    log_samples: bool = True,
    *,
    model_args: str | Mapping[str, Any] | None = None,
    num_fewshot: int | None = None,
    batch_size: int | str | None = None,
    limit: int | float | None = None,
    system_instruction: str | None = None,
    apply_chat_template: bool | None = None,
    fewshot_as_multiturn: bool | None = None,
    gen_kwargs: str | Mapping[str, Any] | None = None,
    base_url: str | Sequence[str] | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    max_tokens: int | None = None,
    concurrency: int | None = None,
    batch: int = 16,
    seed: int | str | None = None,
    name: str | None = None,
    out: str | Path | None = None,
    level: float = 0.95,
    trust_task_code: bool = False,
    moved_server: bool = False,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Run tasks on a model and return results, samples and settings.

    `model` is a name as for ``passband run --model``, a `Provider`, a function of the prompt, or
    one of lm-eval's names for servers (``local-chat-completions``) with `model_args`.
    `num_repeats` overrides the tasks' own ``repeats``. Every metric comes with its standard error
    and its interval, which is for problems like these. With `out` the trials are kept there, and
    calling again goes on where it stopped; without, they are gone once this returns. Whatever is
    recorded there counts, also where it is more than is asked for now. `name` is the run's name,
    by default that of `out`: parts of one run, to be merged later, need the same. With
    `moved_server` a run goes on although the same model has another address.

    As in lm-eval: `model_args` and `gen_kwargs` are text (``key=value,key=value``) or mappings;
    a `limit` below 1 is a share of the problems; `system_instruction` is the system prompt;
    `num_fewshot` overrides that of every task; worked examples are turns of the conversation with
    `fewshot_as_multiturn`, and also if `apply_chat_template` is true and it is not given. Chat
    templates are applied by the server: `apply_chat_template` only says what is expected of the
    model. `batch_size` has no effect, since servers make batches by themselves. Progress is shown
    on terminals and in notebooks, or where `progress` is true.
    """
    _check_model(model)
    _check_whole("num_repeats", num_repeats)
    check_batch_size(batch_size)
    number, share = read_limit(limit)
    level = as_level(level)
    single: dict[str, Any] = {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens}
    chosen, options = named_model(model, model_args)
    _add(options, "base_url", base_url)
    _add(options, "concurrency", concurrency)
    prompts = _Prompts.of(chosen, apply_chat_template, fewshot_as_multiturn)
    changes = Overrides(
        system=_system(system_instruction),
        num_fewshot=_shots(num_fewshot),
        gen=gen_fields(gen_kwargs, single),
    )
    with _directory(out) as directory:
        request = make_request(
            tasks,
            chosen,
            out=directory,
            trust_task_code=trust_task_code,
            adjustments=changes,
            n=num_repeats,
            limit=number,
            seed=_seed(seed),
            name=name,
            batch=batch,
            moved_server=moved_server,
            **single,
            **options,
        )
        finished = _run(_prepared(request, prompts, share), progress)
        given = {name: value for name, value in single.items() if value is not None}
        config = {
            "gen_kwargs": {**changes.gen, **given},
            "model_args": model_args if isinstance(model_args, str) else dict(model_args or {}),
            "limit": limit,
            "batch_size": batch_size,
            "system_instruction": system_instruction,
            "fewshot_as_multiturn": prompts.as_turns,
        }
        return shaped_results(finished, config, log_samples=log_samples, level=level)


# -- arguments -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Prompts:
    """How worked examples are to be written."""

    as_turns: bool

    @classmethod
    def of(cls, model: Model, template: Any, turns: Any) -> _Prompts:
        """Check what is asked for against what the model takes: a text, or a conversation."""
        for name, value in (("apply_chat_template", template), ("fewshot_as_multiturn", turns)):
            if isinstance(value, str):
                raise InvalidInput(f"{name}: the server chooses the template; give True or False.")
            if value is not None and not isinstance(value, bool):
                raise InvalidInput(f"{name} must be True or False; got {value!r:.60}.")
            if value and is_plain_text(model):
                raise InvalidInput(
                    f"{name}: {model} completes plain text. Give the model as openai:NAME, whose "
                    "server applies the chat template."
                )
        if template is False and isinstance(model, str) and model.startswith("openai:"):
            raise InvalidInput(
                f"apply_chat_template=False: {model} is asked by chat completions, which apply it. "
                "Give the model as openai-completions:NAME to send plain text."
            )
        return cls(bool(template if turns is None else turns))


def _check_model(model: Model) -> None:
    if not isinstance(adapted(model), (str, Provider, Subject)) and not callable(model):
        raise WrongType(f"model must be a name, a Provider or a function; got {model!r}.")


def _check_whole(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInput(f"{name} must be a whole number, 1 or more; got {value!r}.")


def _seed(seed: Any) -> str | None:
    """Return a seed as runs record it, which is text."""
    if seed is not None and (not isinstance(seed, (int, str)) or isinstance(seed, bool)):
        raise InvalidInput(f"seed must be a whole number or text; got {seed!r:.60}.")
    return None if seed is None else str(seed)


def _shots(number: Any) -> int | None:
    if number is not None and (not isinstance(number, int) or number is True or number < 0):
        raise InvalidInput(f"num_fewshot must be a whole number, 0 or more; got {number!r}.")
    return None if number is None else int(number)


def _system(text: Any) -> str | None:
    if text is not None and not isinstance(text, str):
        raise InvalidInput(f"system_instruction must be text; got {text!r:.60}.")
    return text


def _add(options: dict[str, Any], name: str, value: Any) -> None:
    """Add an option that model_args may have given already."""
    if value is not None and name in options and options[name] != value:
        raise ConflictingArguments(f"{name} is given twice, by itself and in model_args.")
    if value is not None:
        options[name] = value


# -- the run -------------------------------------------------------------------------------


def _prepared(request: RunRequest, prompts: _Prompts, share: float | None) -> RunRequest:
    """Return a request whose tasks write examples as turns, and ask a share of their problems."""
    tasks = list(request.tasks)
    if prompts.as_turns:
        turns = Overrides(fewshot_as_turns=True)
        tasks = [turns.apply(t) if isinstance(t.load, ProblemSet) else t for t in tasks]
    if share is not None:
        tasks = [first_share(task, share) for task in tasks]
    return replace(request, tasks=tasks)


def _run(request: RunRequest, progress: bool | None) -> RunResult:
    """Run, and raise the signal that ended the run; its trials are recorded."""
    watcher = make_watcher(progress)
    try:
        finished = request.run(watcher)
    finally:
        watcher.close()
    if finished.ending == "interrupted":
        raise KeyboardInterrupt
    if finished.ending == "terminated":
        raise SystemExit(143)
    return finished


@contextmanager
def _directory(out: str | Path | None) -> Iterator[Path]:
    if out is not None:
        yield Path(out)
        return
    with tempfile.TemporaryDirectory(prefix="passband-") as folder:
        yield Path(folder) / "simple_evaluate"
