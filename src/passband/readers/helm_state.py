"""Answers in `scenario_state.json` of HELM: prompts, completions, and requests that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from passband.errors import InvalidInput
from passband.generate.finish import Verdict, verdict_of
from passband.readers.fields import kept_text
from passband.readers.groups import Remark
from passband.readers.names import label
from passband.records import read_json
from passband.trials.rows import Status

__all__ = ["Answer", "Answers", "Key", "read_answers", "variant"]

_STATUSES: Mapping[Verdict, Status] = {"length": "truncated", "content_filter": "refused"}

Key = tuple[str, str, int]  # instance, perturbation, train trial


@dataclass(frozen=True)
class Answer:
    """What came back for an instance; texts are empty where they are not wanted."""

    completions: list[tuple[Status, str | None]] = field(default_factory=list)
    error: str | None = None
    targets: tuple[str, ...] = ()
    messages: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Answers:
    """The answers of a run, by instance; None where there is no such file."""

    by_key: Mapping[Key, Answer] | None

    def get(self, key: Key) -> Answer | None:
        return (self.by_key or {}).get(key)

    def remarks(self) -> Iterator[Remark]:
        """Yield what was recovered, or cannot be."""
        if self.by_key is None:
            yield Remark(
                "no scenario_state.json beside it: an answer that failed to come cannot be told "
                "from a wrong one",
                important=True,
            )
            return
        failed = sum(answer.error is not None for answer in self.by_key.values())
        if failed:
            yield Remark(
                f"no score: {failed} {'instance' if failed == 1 else 'instances'} in the file, "
                "whose request failed; HELM counts an empty answer",
                important=True,
            )
        most = max((len(answer.completions) for answer in self.by_key.values()), default=0)
        if most > 1:
            yield Remark(
                f"up to {most} completions of an instance, but HELM scores the first of them, or "
                "all of them together",
                important=True,
            )


def variant(perturbation: Any) -> str:
    """Return the name of a perturbation; an empty one for the original question."""
    if not isinstance(perturbation, dict) or not perturbation:
        return ""
    name, seed = label(perturbation.get("name"), "unnamed"), perturbation.get("seed")
    return name if seed is None else f"{name} {seed!r:.20}"


def read_answers(path: Path, *, texts: bool) -> Answers:
    """Return the answers that a file holds, without texts unless they are wanted."""
    if not path.is_file():
        return Answers(None)
    content = read_json(path, "json")
    states = content.get("request_states") if isinstance(content, dict) else None
    if not isinstance(states, list):
        raise InvalidInput(f"{path}: has no list request_states; remove it, or get it again.")
    answers: dict[Key, Answer] = {}
    for state in states:
        instance = state.get("instance") if isinstance(state, dict) else None
        if isinstance(instance, dict) and isinstance(instance.get("id"), str):
            trial = state.get("train_trial_index")
            if type(trial) is not int:
                continue
            key = (instance["id"], variant(instance.get("perturbation")), trial)
            answers[key] = _joined(answers.get(key), _answer(state, instance, texts=texts))
    return Answers(answers)


def _joined(before: Answer | None, answer: Answer) -> Answer:
    """Return the answer to all requests on an instance: one that failed, if any has."""
    if before is None or answer.error is not None:
        return answer
    return before  # a request for each reference: their completions are no answers of their own


def _answer(state: Mapping[str, Any], instance: Mapping[str, Any], *, texts: bool) -> Answer:
    result = state.get("result")
    if not isinstance(result, dict):
        return Answer(error="no result was recorded")
    error = None
    if result.get("success") is False:
        error = kept_text(result.get("error")) or "the request failed"
    found = result.get("completions")
    completions = (
        [_completion(one, texts=texts) for one in found] if isinstance(found, list) else []
    )
    if not texts:
        return Answer(completions, error)
    request = state.get("request")
    prompt = kept_text(request.get("prompt")) if isinstance(request, dict) else None
    messages = (("user", prompt),) if prompt else ()
    return Answer(completions, error, tuple(_targets(instance)), messages)


def _completion(completion: Any, *, texts: bool) -> tuple[Status, str | None]:
    if not isinstance(completion, dict):
        return "ok", None
    finish = completion.get("finish_reason")
    reason = finish.get("reason") if isinstance(finish, dict) else None
    status = _STATUSES.get(verdict_of(reason), "ok")
    return status, kept_text(completion.get("text")) if texts else None


def _targets(instance: Mapping[str, Any]) -> Iterator[str]:
    references = instance.get("references")
    for reference in references if isinstance(references, list) else []:
        tags = reference.get("tags") if isinstance(reference, dict) else None
        if not isinstance(tags, list) or "correct" not in tags:
            continue
        output = reference.get("output")
        if isinstance(output, dict) and isinstance(output.get("text"), str):
            yield output["text"]
