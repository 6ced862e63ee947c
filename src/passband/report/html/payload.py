"""The data of a page: problems and trials that its script shows when a reader asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from passband.report.html.document import clean
from passband.report.html.run_text import RunText
from passband.report.html.transcript import pieces_of
from passband.report.show.excerpt import Amount
from passband.report.show.reason import label_text, verdict
from passband.report.words import counted
from passband.summary import (
    ASIDE,
    LONGEST,
    MOST_STEPS,
    RIGHT,
    WRONG,
    Changes,
    MarkedAnswer,
    ProblemChange,
    SampledProblem,
    ShownProblem,
    ShownTrial,
)

Write = Callable[[float], str]  #: how a score is written
_TEXT = Amount(LONGEST // 3, LONGEST // 2, 12, 20)
_ASIDE = Amount(ASIDE // 2, ASIDE // 2, 6, 6)
_SHORT = 60  # characters of an answer on a chip
_KINDS = {WRONG: 0, RIGHT: 1}


def run_payload(run: RunText) -> dict[str, Any]:
    """Return the sampled problems of a run, as `page.js` reads them."""
    score = None if run.findings.group.is_binary else run.prose
    return {"problems": [_problem(one, score) for one in run.findings.transcripts.problems]}


def sides_payload(changes: Changes, models: Sequence[str]) -> dict[str, Any]:
    """Return problems with the trials of two models each, as `page.js` reads them."""
    return {"problems": [_sides(one, models) for one in changes.most]}


def _sides(change: ProblemChange, models: Sequence[str]) -> dict[str, Any] | None:
    """Return a problem once, and each model's trials under its name."""
    score = None if change.a.right is not None else _number
    sides = [
        {"name": clean(model), **{name: own[name] for name in ("solved", "trials", "more")}}
        for model, side in zip(models, change.asked, strict=True)
        if side is not None and (own := _problem(side, score))
    ]
    first = next((side for side in change.asked if side is not None), None)
    return None if first is None else {**_problem(first, score), "sides": sides, "trials": []}


def _number(value: float) -> str:
    return f"{value:.3g}"


def _problem(one: SampledProblem, score: Write | None) -> dict[str, Any]:
    """Return a problem and its trials; `score` writes scores that are neither right nor wrong."""
    problem = one.problem
    trials = _trials(one, is_graded=score is not None)
    left_out = sum(trial is not None for trial in trials) - len(one.texts)
    more = "" if left_out <= 0 else (
        f"{left_out:,} of the trials are here with their answers alone; "
        "passband show has every text."
    )  # fmt: skip
    return {
        "key": clean(problem.key),
        "column": one.place,
        "solved": _solved(problem) if score is None else _mean(one, score),
        "asked": [[message.role or "asked", _cut(message.text)] for message in problem.messages]
        + [[f"choice {at + 1}", _cut(choice)] for at, choice in enumerate(problem.choices)],
        "targets": [_cut(target) for target in problem.targets],
        "trials": trials,
        "more": more,
    }


def _mean(one: SampledProblem, score: Write) -> str:
    if one.mean_score is None:
        return _solved(one.problem)
    return f"mean score {score(one.mean_score)} over {counted(one.problem.scored, 'trial')}"


def _solved(problem: ShownProblem) -> str:
    if not problem.scored:
        return f"{counted(problem.trials, 'trial')}, none scored"
    trials = "trial" if problem.scored == 1 else "trials"
    return f"{problem.right} of {problem.scored} scored {trials} right"


def _trials(one: SampledProblem, *, is_graded: bool) -> list[list[Any] | None]:
    """Return the trials by number: with a text, as an answer alone, or None where there is none."""
    answers = {answer.trial: answer for answer in one.answers}
    numbers = {*answers, *one.texts}
    trials = [
        _with_text(one.texts[number])
        if number in one.texts
        else _chip(answers[number])
        if number in answers
        else None
        for number in range(max(numbers, default=-1) + 1)
    ]
    if is_graded:
        for number, answer in answers.items():
            trials[number] = _graded(trials[number], answer)
    return trials


def _graded(trial: list[Any] | None, answer: MarkedAnswer) -> list[Any] | None:
    """Return a trial with its score for a verdict; a graded one is neither right nor wrong."""
    if trial is None or answer.value is None:
        return trial
    _, label, about, *texts = [*trial, ""][: max(len(trial), 3)]
    score = f"score {answer.value:.4g}"
    name = score if label in ("right", "wrong", score) else f"{label} ({score})"
    return [2, name, about if score in about else f"{score} {about}".strip(), *texts]


def _chip(answer: MarkedAnswer) -> list[Any]:
    kind = _KINDS.get(answer.mark, 2)
    if answer.status == "no_answer":
        return [kind, "no answer"]
    if answer.answer is None:
        return [kind, ("wrong", "right", "no score")[kind]]
    return [kind, _label(answer.answer)]


def _with_text(trial: ShownTrial) -> list[Any]:
    """Return a trial with its text, the answer set apart from what is before and after it."""
    own = verdict(trial)
    kind = {"wrong": 0, "right": 1}.get(own.kind, 2)
    text = trial.text or ""
    label = own.word if own.answer is None else _label(own.answer)
    about = ", ".join([*([f"by {own.rule}"] if own.rule else []), *_unusual(own.word, trial)])
    further = _further(trial, own.reason)
    if not further and (own.answer == text.strip() or not text) and len(text) <= _SHORT:
        return [kind, label, clean(about)]
    before, answer, after = _parts(trial, text)
    return [kind, label, clean(about), before, answer, after, *([further] if further else [])]


def _unusual(word: str, trial: ShownTrial) -> Iterator[str]:
    """Yield what was made of a trial and how it ended, where that is unusual."""
    if word not in ("right", "wrong"):
        yield word
    yield from (label_text(score) for score in trial.scores[1:] if score.is_label)
    if trial.status != "ok":
        yield f"status {trial.status}"
    if trial.finish_reason is not None:
        yield f"finish reason {trial.finish_reason}"
    if trial.attempts > 1:
        yield f"{trial.attempts} attempts"


def _further(trial: ShownTrial, reason: str) -> list[list[str]]:
    """Return the texts beside the completion: why it was scored so, reasoning, steps."""
    texts = [("why", reason)] if reason else []
    texts += [("failed", failure) for failure in trial.failures[-3:]]
    if trial.reasoning:
        texts.append(("reasoning", trial.reasoning))
    texts += [(step.role, step.text) for step in trial.transcript[:MOST_STEPS]]
    if len(trial.transcript) > MOST_STEPS:
        texts.append(("steps", f"{len(trial.transcript) - MOST_STEPS:,} more are left out"))
    return [[clean(label), _cut(text)] for label, text in texts]


def _parts(trial: ShownTrial, text: str) -> tuple[str, str, str]:
    """Return what is before the answer, the answer, and what is after it."""
    parts = {"before": "", "answer": "", "after": ""}
    place = "before"
    span = trial.span if trial.span != (0, len(text)) else None
    for kind, piece in pieces_of(text, span, _TEXT):
        if kind == "answer":
            parts["answer"] += piece
            place = "after"
        else:
            parts[place] += piece
    return clean(parts["before"]), clean(parts["answer"]), clean(parts["after"])


def _cut(text: str) -> str:
    return clean("".join(piece for _, piece in pieces_of(text, None, _ASIDE)))


def _label(text: str) -> str:
    line = " ".join(text[: 4 * _SHORT].split())
    return clean(line if len(line) <= _SHORT else line[: _SHORT - 1] + "…") or "(empty)"
