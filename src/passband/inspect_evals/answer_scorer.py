r"""A scorer for tasks of Inspect that finds the final answer however it is marked.

    Task(dataset=..., solver=generate(), scorer=extracted_answer())

A box (``\boxed{42}``), a marker ("ANSWER: 42", "The answer is 42"), or else the last number of the
completion is compared with the target. A completion without any of them is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from passband.score import Reference, make_scorer

RULES = ("boxed", "marker", "last_number")


def extracted_answer(rules: Sequence[str] = RULES, compare: str = "exact_match") -> Any:
    """Return a scorer of Inspect.

    `rules` are those of `passband.score.extract.answer`, tried in order; `compare` is the scorer of
    passband that compares the answer with the target, such as exact_match, numeric or math.
    """
    from inspect_ai.scorer import accuracy, scorer, stderr

    @scorer(metrics=[accuracy(), stderr()], name="extracted_answer")  # type: ignore[untyped-decorator]
    def make(rules: Sequence[str], compare: str) -> Any:
        return _scored(rules, compare)

    return make(list(rules), compare)


def _scored(rules: Sequence[str], compare: str) -> Any:
    from inspect_ai.scorer import NOANSWER, Score

    own = make_scorer(compare, steps=[{"function": "extract", "rules": list(rules)}])

    async def score(state: Any, target: Any) -> Any:
        result = await own.score_async(state.output.completion, Reference(tuple(target)))
        if result.status == "no_answer":
            return Score(value=NOANSWER, explanation="no answer was found")
        if result.value is None:
            return Score(value=float("nan"), answer=result.answer, explanation=result.detail)
        return Score(value=result.value, answer=result.answer, explanation=f"rule: {result.rule}")

    return score
