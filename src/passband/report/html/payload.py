"""Embed problems and trials as data that the script of a page shows on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from passband.report.html.document import clean
from passband.report.html.run_text import RunText
from passband.report.html.transcript import pieces_of
from passband.report.show.excerpt import Amount
from passband.report.show.problem_page import TrialPage, lay_out_problem, lay_out_trial
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
    ShownTrial,
)

Write = Callable[[float], str]  #: how a score is written
_TEXT = Amount(LONGEST // 3, LONGEST // 2, 12, 20)
_ASIDE = Amount(ASIDE // 2, ASIDE // 2, 6, 6)
_SHORT = 60  # characters of an answer on a chip
_KINDS = {WRONG: 0, RIGHT: 1}


def run_payload(run: RunText) -> dict[str, object]:
    """Return the sampled problems of a run, as `page.js` reads them."""
    score = None if run.findings.group.is_binary else run.prose
    return {"problems": [_problem(sample, score) for sample in run.findings.transcripts.problems]}


def sides_payload(changes: Changes, models: Sequence[str]) -> dict[str, object]:
    """Return problems with the trials of two models each, as `page.js` reads them."""
    return {"problems": [_sides(change, models) for change in changes.most]}


def _sides(change: ProblemChange, models: Sequence[str]) -> dict[str, object] | None:
    """Return a problem once, and each model's trials under its name."""
    score = None if change.a.right is not None else _number
    sides = [
        {"name": clean(model), **{key: panel[key] for key in ("solved", "trials", "more")}}
        for model, side in zip(models, change.asked, strict=True)
        if side is not None and (panel := _problem(side, score))
    ]
    first = next((side for side in change.asked if side is not None), None)
    return None if first is None else {**_problem(first, score), "sides": sides, "trials": []}


def _number(value: float) -> str:
    return f"{value:.3g}"


def _problem(sample: SampledProblem, score: Write | None) -> dict[str, object]:
    """Return a problem and its trials; `score` writes scores that are neither right nor wrong."""
    page = lay_out_problem(sample.problem)
    trials = _trials(sample, is_graded=score is not None)
    without_text = sum(trial is not None for trial in trials) - len(sample.texts)
    more = "" if without_text <= 0 else (
        f"{without_text:,} of the trials are here with their answers alone; "
        "passband show has every text."
    )  # fmt: skip
    choices = [(f"choice {letter}", text) for letter, text in page.choices]
    return {
        "key": clean(sample.problem.key),
        "column": sample.place,
        "solved": page.outcome if score is None else _mean(sample, score, page.outcome),
        "asked": [[label, _cut(text)] for label, text in (*page.question, *choices)],
        "targets": [_cut(target) for target in page.targets],
        "trials": trials,
        "more": more,
    }


def _mean(sample: SampledProblem, score: Write, otherwise: str) -> str:
    if sample.mean_score is None:
        return otherwise
    return f"mean score {score(sample.mean_score)} over {counted(sample.problem.scored, 'trial')}"


def _trials(one: SampledProblem, *, is_graded: bool) -> list[list[object] | None]:
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


def _graded(trial: list[object] | None, answer: MarkedAnswer) -> list[object] | None:
    """Return a trial with its score for a verdict; a graded one is neither right nor wrong."""
    if trial is None or answer.value is None:
        return trial
    _, label, about, *texts = [*trial, ""][: max(len(trial), 3)]
    score = f"score {answer.value:.4g}"
    name = score if label in ("right", "wrong", score) else f"{label} ({score})"
    return [2, name, about if score in str(about) else f"{score} {about}".strip(), *texts]


def _chip(answer: MarkedAnswer) -> list[object]:
    kind = _KINDS.get(answer.mark, 2)
    if answer.status == "no_answer":
        return [kind, "no answer"]
    if answer.answer is None:
        return [kind, ("wrong", "right", "no score")[kind]]
    return [kind, _label(answer.answer)]


def _with_text(trial: ShownTrial) -> list[object]:
    """Return a trial with its text, split around the answer."""
    page = lay_out_trial(trial)
    scored = page.verdict
    kind = {"wrong": 0, "right": 1}.get(scored.kind, 2)
    text = trial.text or ""
    label = scored.word if scored.answer is None else _label(scored.answer)
    about = ", ".join([*([f"by {scored.rule}"] if scored.rule else []), *_unusual(page, trial)])
    aside = _aside(page, trial)
    if not aside and (scored.answer == text.strip() or not text) and len(text) <= _SHORT:
        return [kind, label, clean(about)]
    before, answer, after = _parts(trial, text)
    return [kind, label, clean(about), before, answer, after, *([aside] if aside else [])]


def _unusual(page: TrialPage, trial: ShownTrial) -> Iterator[str]:
    """Yield the verdict and the ending of a trial, where they are unusual."""
    if page.verdict.word not in ("right", "wrong"):
        yield page.verdict.word
    yield from (*page.labels, *page.ending)
    if trial.attempts > 1:
        yield f"{trial.attempts} attempts"


def _aside(page: TrialPage, trial: ShownTrial) -> list[list[str]]:
    """Return the texts beside the completion: the reason of its score, reasoning, steps."""
    texts = [("why", page.verdict.reason)] if page.verdict.reason else []
    texts += [("failed", failure) for failure in trial.failures[-3:]]
    if page.reasoning:
        texts.append(("reasoning", page.reasoning))
    texts += page.steps[:MOST_STEPS]
    if len(page.steps) > MOST_STEPS:
        texts.append(("steps", f"{len(page.steps) - MOST_STEPS:,} more are left out"))
    return [[clean(label), _cut(text)] for label, text in texts]


def _parts(trial: ShownTrial, text: str) -> tuple[str, str, str]:
    """Return the text before the answer, the answer, and the text after it."""
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
