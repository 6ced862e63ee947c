"""Grading: the score of a client's answer to an item."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

from passband.adaptive.item import BankItem
from passband.adaptive.server.body import Fields
from passband.adaptive.server.catalogue import Split
from passband.adaptive.server.refusal import invalid
from passband.errors import InvalidInput, nearest
from passband.score import NeedsWorker, Score, quickly
from passband.stats.irt import ItemEvidence, check_evidence

MOST_TEXT = 1_000_000  # characters in an answer
_SHORT = 20_000  # characters of an answer that is scored between two requests
_SCORING = ThreadPoolExecutor(4, "scoring")  # for scorers that may take long; starts when used


class Graded(NamedTuple):
    """A score in [0, 1]; None where the scorer failed, and the detail says why."""

    score: float | None
    detail: str | None = None


def given_answer(item: BankItem, fields: Fields) -> str:
    """Return the choice or the text that answers an item; refuse what cannot be its answer."""
    wanted, other = ("itemChoiceId", "textResponse")[:: 1 if item.choices else -1]
    answer = fields.optional_text(wanted, MOST_TEXT)
    if answer is None or fields.value(other) is not None:
        kind = "has choices" if item.choices else "has no choices"
        raise invalid(f"Item {item.key!r} {kind}: answer it with {wanted}, and nothing else.")
    ids = [choice.id for choice in item.choices or ()]
    if ids and answer not in ids:
        raise invalid(
            f"Item {item.key!r} has no choice {answer!r:.100}.{nearest(answer[:100], ids)} "
            f"It has {', '.join(ids)}."
        )
    return answer


async def grade(split: Split, item: BankItem, answer: str) -> Graded:
    """Score an answer: a choice by its id, a text by the scorer of the bank."""
    if item.choices is not None:
        return Graded(1.0 if answer in item.targets else 0.0)
    score = await _scored(split, item, answer)
    if score.value is None:
        return Graded(None, f"{score.status}: {score.detail}"[:500])
    try:
        check_evidence(
            split.bank.parameters, ItemEvidence(split.bank.position[item.key], score.value)
        )
    except InvalidInput as error:  # it would be refused by every test that is rebuilt from it
        return Graded(None, f"error: {error}"[:500])
    return Graded(score.value)


async def _scored(split: Split, item: BankItem, answer: str) -> Score:
    scorer, reference = split.scorer, item.problem({}).reference
    assert scorer is not None  # the catalogue has made it for items without choices
    if scorer.is_async:
        return await scorer.score_async(answer, reference)
    if not scorer.slow and len(answer) <= _SHORT:
        with suppress(NeedsWorker):
            return quickly(scorer.score, answer, reference)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_SCORING, scorer.score, answer, reference)
