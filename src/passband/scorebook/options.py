"""The options of an evaluation, besides its function and data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypedDict

from passband.adaptive import FALLBACK, Design
from passband.errors import InvalidInput, UnknownName, WrongType, nearest
from passband.generate import JsonMapping
from passband.run import Patience, Settings
from passband.stats import as_level


class EvaluateOptions(TypedDict, total=False):
    """Options of `evaluate` by their names; see `EvaluationSettings`."""

    return_output: bool
    upload_results: bool
    num_repeats: int | None
    limit: int | None
    design: Design | JsonMapping | None
    split_order: Sequence[str]
    out: str | Path | None
    model_name: str | None
    concurrency: int | None
    batch_size: int
    timeout: float
    retries: int
    level: float
    trust_task_code: bool


@dataclass(frozen=True)
class EvaluationSettings:
    """The options, checked."""

    return_output: bool = False  # whether items have the outputs
    upload_results: bool = False  # send classic results to the server of TRISMIK_SERVICE_URL
    num_repeats: int | None = None  # trials of each problem
    limit: int | None = None  # problems of each classic data set
    design: Design | JsonMapping | None = None  # of adaptive tests on local banks
    split_order: Sequence[str] = FALLBACK  # which split is used if none is named
    out: str | Path | None = None  # directory of the trials; given again, runs go on
    model_name: str | None = None  # that trials are recorded under
    concurrency: int | None = None  # calls at a time; None: 16 if async, else 1
    batch_size: int = 16  # most inputs of one call
    timeout: float = 600.0  # seconds of one call
    retries: int = 2  # further attempts at an input that failed
    level: float = 0.95
    trust_task_code: bool = False

    @classmethod
    def of(cls, given: JsonMapping) -> EvaluationSettings:
        """Return options by name; raise on names that there are none of."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                hint = nearest(name, known) or f" Known: {', '.join(known)}."
                raise UnknownName(f"evaluate has no option {name!r}.{hint}")
        return cls(**given)

    def __post_init__(self) -> None:
        for name in ("num_repeats", "limit"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise InvalidInput(f"{name} must be a whole number, 1 or more; got {value!r}.")
        if type(self.retries) is not int or self.retries < 0:
            raise InvalidInput(f"retries must be a whole number, 0 or more; got {self.retries!r}.")
        if isinstance(self.split_order, str) or not self.split_order:
            raise WrongType(f"split_order must be a list of splits; got {self.split_order!r}.")
        object.__setattr__(self, "level", as_level(self.level))

    def test_design(self) -> Design:
        """Return the design of adaptive tests."""
        if isinstance(self.design, Design):
            return self.design
        repeats = {} if self.num_repeats is None else {"trials": self.num_repeats}
        return Design.of({"level": self.level, **repeats, **(self.design or {})})

    def settings(
        self, name: str, seed: int | None, calls: int, *, of_bank: bool = False
    ) -> Settings:
        """Return the settings of one run; `name` is what its randomness is derived from.

        While so many `calls` go on, the inputs of another may wait. In a test of a bank, the
        design says how often an item is asked, and how many are.
        """
        return Settings(
            n=self.test_design().trials if of_bank else self.num_repeats,
            limit=None if of_bank else self.limit,
            concurrency=(calls + 1) * self.batch_size,
            name=name,
            seed=None if seed is None else str(seed),
            patience=Patience(replies=self.retries + 1),
        )
