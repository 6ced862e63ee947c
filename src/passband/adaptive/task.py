"""The task of a bank: the items of one split as problems, asked as a design chooses them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from passband.adaptive.bank import Bank, row_parameters
from passband.adaptive.banks import required_bank
from passband.adaptive.dataset import ADAPTIVE, parse_dataset
from passband.adaptive.design import Design
from passband.adaptive.splits import FALLBACK, resolve_splits
from passband.errors import InvalidInput, UnknownName, nearest
from passband.generate import Problem, Sampling
from passband.score import Scorer, make_scorer
from passband.tasks import Task


@dataclass(frozen=True, kw_only=True)
class AdaptiveTask(Task):
    """A task whose problems are the items of one split of a bank."""

    bank: Bank
    design: Design


def adaptive_tasks(
    name: str, design: Design | None = None, order: Sequence[str] = FALLBACK
) -> list[AdaptiveTask]:
    """Return the tasks of `BANK:adaptive[:SPLIT]`: one, or with `*` one for each split."""
    dataset = parse_dataset(name)
    bank = required_bank(dataset.id)
    splits = resolve_splits(dataset.dataset, dataset.split, bank.splits, order)
    return [task_of_bank(bank.of_split(split), design) for split in splits]


def task_of_bank(bank: Bank, design: Design | None = None) -> AdaptiveTask:
    """Return the items of one split as a task, scored as the bank says.

    A problem is stored with the parameters of its item, so that ability can be computed again
    without the bank.
    """
    design = design or Design()
    if len(bank.splits) > 1:
        raise InvalidInput(
            f"a test is of one split; {bank.name!r} has {', '.join(bank.splits)}. Choose one "
            "with of_split."
        )
    (split,) = bank.splits
    problems = [item.problem(_stored(bank, place)) for place, item in enumerate(bank.items)]

    def load(limit: int | None) -> Sequence[Problem]:
        if limit is not None:
            raise InvalidInput(
                "--limit would change the bank; --max-items limits how many of its items are asked."
            )
        return problems

    of_bank = {"bank": bank.name, "hash": bank.hash, "split": split}
    return AdaptiveTask(
        name=f"{bank.name}:{ADAPTIVE}:{split}",
        path=None,
        sampling=_sampling(bank),
        repeats=design.trials,
        scorers=(_scorer(bank),),
        metrics=(),
        load=load,
        config={ADAPTIVE: {**of_bank, "model": bank.model, "rho": float(bank.rho)}},
        spec={**of_bank, "design": design.as_json()},
        bank=bank,
        design=design,
    )


def _stored(bank: Bank, place: int) -> dict[str, Any]:
    """Return what is stored with an item beyond its data."""
    content = bank.items[place].content
    stored: dict[str, Any] = {"irt": row_parameters(bank.parameters, place)}
    return stored if content is None else {**stored, "content": content}


def _sampling(bank: Bank) -> Sampling:
    known = [field.name for field in fields(Sampling)]
    for name in bank.sampling:
        if name not in known:
            hint = nearest(name, known) or f" Known: {', '.join(known)}."
            raise UnknownName(f"bank {bank.name!r}: sampling has no {name!r}.{hint}")
    return Sampling(**{**bank.sampling, "stop": tuple(bank.sampling.get("stop", ()))})


def _scorer(bank: Bank) -> Scorer:
    try:
        scorer = make_scorer(**bank.scorer_spec)
    except TypeError as error:  # an argument that no scorer has, or none of the needed
        raise InvalidInput(f"bank {bank.name!r}: its scorer cannot be made: {error}.") from None
    low, high = (scorer.spec or {}).get("bounds") or (0.0, 1.0)
    if low is None or high is None or low < 0 or high > 1:
        raise InvalidInput(
            f"bank {bank.name!r}: {scorer.name} gives scores outside 0 to 1, which no model of "
            "items allows."
        )
    return scorer
