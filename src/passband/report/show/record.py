"""Write trials as JSON: one object each, complete and on one line."""

from __future__ import annotations

import json
from typing import Any

from passband.report.show.reason import call_record, verdict, verdict_of_score
from passband.summary import Damaged, ShownProblem, ShownScore, ShownTrial


def json_line(shown: ShownTrial | Damaged) -> str:
    """Return a trial as a line of JSON in ASCII, which no terminal obeys."""
    return json.dumps(_damaged(shown) if isinstance(shown, Damaged) else _trial(shown))


def _damaged(damage: Damaged) -> dict[str, Any]:
    return {
        "task": damage.task,
        "model": damage.model,
        "problem_id": damage.problem,
        "trial": damage.trial,
        "damaged": damage.why,
    }


def _trial(trial: ShownTrial) -> dict[str, Any]:
    problem, of = trial.problem, verdict(trial)
    return {
        "task": problem.task,
        "model": problem.model,
        "problem_id": problem.key,
        "trial": trial.trial,
        "status": trial.status,
        **(_score(trial.score, trial) if trial.score is not None else _NO_SCORE),
        "verdict": of.word,
        "why": of.reason or None,
        "span": None if trial.span is None else list(trial.span),
        **_asked(problem),
        "completion": trial.text,
        "reasoning": trial.reasoning,
        "transcript": [message._asdict() for message in trial.transcript] or None,
        "finish_reason": trial.finish_reason,
        "failures": list(trial.failures),
        "seed": trial.seed,
        "prompt_tokens": trial.prompt_tokens,
        "completion_tokens": trial.completion_tokens,
        **{name: count for name, count in _parts(trial).items() if count is not None},
        "latency_ms": trial.latency_ms,
        "attempts": trial.attempts,
        "scores": {score.scorer: _score(score, trial) for score in trial.scores},
        **({"calls": list(map(call_record, trial.calls))} if trial.calls else {}),
    }


def _parts(trial: ShownTrial) -> dict[str, int | None]:
    return {"reasoning_tokens": trial.reasoning_tokens, "cached_tokens": trial.cached_tokens}


def _asked(problem: ShownProblem) -> dict[str, Any]:
    return {
        "messages": [message._asdict() for message in problem.messages],
        "targets": list(problem.targets),
        "choices": list(problem.choices),
    }


_NO_SCORE = {
    "scorer": None, "score": None, "score_status": None, "right": None, "answer": None,
    "rule": None, "detail": None,
}  # fmt: skip


def _score(score: ShownScore, trial: ShownTrial) -> dict[str, Any]:
    return {
        "scorer": score.scorer,
        "score": score.value,
        "score_status": score.status,
        "right": score.is_right,
        "answer": verdict_of_score(score, trial.text).answer,
        "rule": score.rule,
        "detail": score.detail,
    }
