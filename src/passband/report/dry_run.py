"""Render a dry run."""

from __future__ import annotations

from dataclasses import replace

from passband.report.words import counted, duration, money, pace
from passband.run import CHARACTERS_PER_TOKEN, DryRun, JudgePlan, TaskPlan

_HEAD, _TAIL = 8, 12  # lines of a long prompt that are shown; the problem itself is at its end


def dry_run_lines(plan: DryRun) -> list[str]:
    """Format a dry run as text lines."""
    answer = f"{plan.answer_seconds:.3g} s an answer"
    assumed = f"at {answer}, {plan.concurrency} at a time"
    basis = assumed if plan.rate is None else f"at {pace(plan.rate)}, as so far"
    most = "at most " if plan.may_stop_early else ""
    return [
        *(line for task in plan.tasks for line in _task_lines(task)),
        f"model     {plan.model}",
        f"trials    {most}{plan.missing} to request, into {plan.directory}",
        f"time      {most}about {duration(plan.seconds)} ({basis})",
        *(f"judge     {_judge(judge)}" for judge in plan.judges),
        f"cost      {_cost(plan)}",
        *(f"note      {text}" for text in plan.notes),
        *(f"warning   {text}" for text in plan.warnings),
        "No request was sent.",
    ]


def _judge(plan: JudgePlan) -> str:
    canaries = f" and {counted(plan.canaries, 'canary call')}" if plan.canaries else ""
    out = "no limit" if plan.completion_tokens is None else f"at most {plan.completion_tokens}"
    cost = "of unknown price" if plan.cost is None else f"at most about {money(plan.cost)}"
    calls = f"{counted(plan.calls, 'call')}{canaries}"
    return (
        f"{plan.model} ({plan.task}, {plan.scorer}): {calls}, about "
        f"{plan.prompt_tokens} tokens in, {out} out, {cost}"
    )


def _cost(plan: DryRun) -> str:
    if plan.price is None:
        return f"unknown: no price file has this model{_suggestion(plan)}"
    if any(judge.price is None for judge in plan.judges):
        return "unknown: no price file has the judge"
    if plan.cost is None:
        return "unknown: nothing limits the length of an answer (--max-tokens)"
    measured = all(task.is_measured for task in plan.tasks)
    most = "at most " if plan.may_stop_early or not measured else ""
    return f"{most}about {money(plan.cost)}"


def _suggestion(plan: DryRun) -> str:
    if plan.suggested is None:
        return ""
    priced = replace(plan, price=plan.suggested)
    cost = "" if priced.cost is None else f"about {money(priced.cost)}, at "
    return f"; {cost}{plan.suggested.proposal}"


def _task_lines(task: TaskPlan) -> list[str]:
    most = "" if task.is_measured else "at most "
    out = f"{most}{task.completion_tokens}" if task.completion_tokens is not None else "no limit"
    basis = "measured" if task.is_measured else f"{CHARACTERS_PER_TOKEN} characters a token"
    settings = [f"{name} {value}" for name, value in task.sampling.items() if value or value == 0]
    problems = counted(task.problems, "problem")
    prompt = _shortened(task.first_prompt.splitlines() or [""])
    return [
        f"task      {task.task}: {problems} x {task.n}, {task.missing} missing",
        f"tokens    about {task.prompt_tokens} in, {out} out ({basis})",
        f"sampling  {', '.join(settings) or 'the defaults of the model'}",
        f"prompt    {prompt[0]}",
        *(f"          {line}" for line in prompt[1:]),
    ]


def _shortened(lines: list[str]) -> list[str]:
    """Return the lines of a prompt; in the middle of a long one, how many are left out."""
    left_out = len(lines) - _HEAD - _TAIL
    if left_out <= 1:
        return lines
    return [*lines[:_HEAD], f"[... {left_out} lines ...]", *lines[-_TAIL:]]
