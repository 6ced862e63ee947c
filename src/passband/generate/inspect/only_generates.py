"""Find reasons why the light engine cannot run an Inspect task: it runs those that only generate.

The light engine calls a task's own solvers and scorers, and has no sandboxes, tools, limits,
approvals or further models. Solvers must be of those that come with Inspect and do nothing but
write messages and generate. Other scorers than Inspect's simple ones are admitted, but guarded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from passband.generate.provider import JsonMapping, JsonObject

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.model import ChatMessage
    from inspect_ai.scorer import Scorer

_GENERATING = frozenset({"inspect_ai/generate", "inspect_ai/multiple_choice"})
_SOLVERS = _GENERATING | {
    f"inspect_ai/{name}"
    for name in (
        "assistant_message",
        "chain_of_thought",
        "prompt_template",
        "system_message",
        "user_message",
    )
}
_SIMPLE_SCORERS = frozenset(
    f"inspect_ai/{name}"
    for name in ("answer", "choice", "exact", "f1", "includes", "match", "pattern")
)
_HEAVY_SCORERS = frozenset(
    f"inspect_ai/{name}"
    for name in ("model_graded_fact", "model_graded_qa", "perplexity", "target_perplexity")
)
_OF_TASKS = {
    "sample_source": "its samples are generated",
    "cleanup": "it cleans up after samples",
    "model": "it names its model",
    "model_roles": "it has model roles",
    "sandbox": "it has a sandbox",
    "approval": "it has approval policies",
    "review": "it has review policies",
    "sentinel": "it has a sentinel",
    "checkpoint": "it has checkpoints",
    "on_checkpoint": "it has checkpoints",
    "on_resume": "it has checkpoints",
    "early_stopping": "it stops early",
    "score_on_error": "it scores samples that fail",
}
_LIMITS = ("message", "token", "turn", "time", "working", "cost")
_OF_SAMPLES = {
    "sandbox": "a sample has a sandbox",
    "files": "a sample has files",
    "setup": "a sample has a setup script",
    "checkpoint": "a sample has checkpoints",
}
#: Settings that neither change what is sent to the server nor what is done with the answer here.
#: Retries and connections are passband's own, and so are seeds.
_WITHOUT_EFFECT = frozenset(
    {
        "adaptive_connections",
        "cache_prompt",
        "internal_tools",
        "max_connections",
        "max_retries",
        "max_tool_output",
        "parallel_tool_calls",
        "seed",
    }
)
_CARRIED = frozenset(
    {
        "extra_body",
        "frequency_penalty",
        "logit_bias",
        "max_tokens",
        "presence_penalty",
        "reasoning_effort",
        "stop_seqs",
        "system_message",
        "temperature",
        "top_k",
        "top_p",
    }
)


def reasons_against(task: Task) -> list[str]:
    """Return why a task cannot be run by the light engine; empty if it can.

    Whether a scorer of the task's own can is only known once it has scored: see `Guard`.
    """
    reasons = [reason for name, reason in _OF_TASKS.items() if getattr(task, name, None)]
    reasons += [
        f"it limits {name}s" if name in ("message", "token", "turn") else f"it limits {name}"
        for name in _LIMITS
        if getattr(task, f"{name}_limit", None) is not None
    ]
    reasons += unsupported(task.config.model_dump(exclude_none=True))
    reasons += _of_solvers(task)
    reasons += _of_scorers(task)
    reasons += _of_samples(task)
    return list(dict.fromkeys(reasons))


def unsupported(settings: JsonMapping) -> list[str]:
    """Return the settings of a generation that passband's client cannot carry.

    >>> unsupported({"temperature": 0.6, "num_choices": 1, "logprobs": True})
    ['it sets logprobs']
    """
    return [
        f"it sets {name}"
        for name, value in settings.items()
        if value not in (None, False)
        and name not in _CARRIED | _WITHOUT_EFFECT
        and not (name == "num_choices" and value == 1)
    ]


def is_simple(scorer: Scorer) -> bool:
    """Return whether a scorer is known to look at the answer and the target alone."""
    return _name(scorer) in _SIMPLE_SCORERS


def steps_of(task: Task) -> list[Any]:
    """Return the solvers of a task in order, its setup first."""
    from inspect_ai.solver._chain import unroll

    return [*(unroll(task.setup) if task.setup else ()), *unroll(task.solver)]


def _of_solvers(task: Task) -> Iterator[str]:
    from inspect_ai.solver import Plan

    if isinstance(task.solver, Plan):
        yield "it has a plan"
        return
    steps = steps_of(task)
    for step in steps:
        name = _name(step)
        if name not in _SOLVERS:
            yield f"the solver {name.removeprefix('inspect_ai/')} may do anything"
        elif name in _GENERATING:
            yield from unsupported(_arguments(step))
    if not any(_name(step) in _GENERATING for step in steps):
        yield "no solver generates"


def _of_scorers(task: Task) -> Iterator[str]:
    for scorer in task.scorer or ():
        name = _name(scorer)
        if name in _HEAVY_SCORERS:
            yield f"the scorer {name.removeprefix('inspect_ai/')} asks a model"


def _of_samples(task: Task) -> Iterator[str]:
    for sample in task.dataset:
        for name, reason in _OF_SAMPLES.items():
            if getattr(sample, name, None):
                yield reason
        if not isinstance(sample.input, str) and not all(map(_is_plain, sample.input)):
            yield "a sample has media, tool calls or parts"


def _is_plain(message: ChatMessage) -> bool:
    return (
        message.role in ("system", "user", "assistant")
        and isinstance(message.content, str)
        and not getattr(message, "tool_calls", None)
    )


def _arguments(step: Any) -> JsonObject:
    """Return the settings of a generation among a solver's arguments."""
    from inspect_ai._util.registry import registry_params
    from inspect_ai.model import GenerateConfig

    return {k: v for k, v in registry_params(step).items() if k in GenerateConfig.model_fields}


def _name(thing: Any) -> str:
    """Return the name that a solver or scorer is registered under, its package first."""
    from inspect_ai._util.registry import is_registry_object, registry_info

    if is_registry_object(thing):
        return str(registry_info(thing).name)
    return getattr(thing, "__qualname__", type(thing).__qualname__)
