"""The design of an adaptive test: how items are chosen, and when there are enough."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, NamedTuple, get_args

from passband.errors import InvalidInput, UnknownName, nearest
from passband.generate import JsonMapping, JsonObject

Selection = Literal["information", "kl", "randomesque", "random"]
Method = Literal["eap", "map", "mle", "wle"]


class Stability(NamedTuple):
    """Ability is stable once it has moved by at most `tolerance` over the last `window` items."""

    window: int
    tolerance: float


@dataclass(frozen=True)
class Design:
    """Everything that decides the path of a test, beside its bank, its seed and the answers.

    The random stratum, `random_share`, is a share of `max_items` (of the bank, if there is no
    maximum) that is drawn at random before the first answer and always asked, so that every item
    is in it with the same known probability.

    `exposure` is the share of tests that an item may be part of: each item is open to a test with
    that probability, drawn from the test's seed.

    >>> Design(se=0.3, max_items=20).selection
    'information'
    """

    selection: Selection = "information"
    randomesque: int = 5  # that `selection="randomesque"` draws one of
    start: Literal["prior", "random"] | float = "prior"  # or the ability to start from
    start_items: int = 1  # that the start rule chooses
    min_items: int = 1
    max_items: int | None = None
    se: float | None = 0.3  # standard error of ability that is enough
    stability: Stability | None = None
    max_trials: int | None = None
    batch: int = 1  # items that are chosen at a time
    trials: int = 1  # repeats of an item
    exposure: float | None = None
    content: Mapping[str, float] | None = None  # shares of the content areas
    random_share: float = 0.0
    method: Method = "eap"
    level: float = 0.95
    prior_mean: float = 0.0
    prior_sd: float = 1.0

    def __post_init__(self) -> None:
        self._check_names()
        self._check_numbers()
        if self.stability is not None:
            self._check_stability()
        if self.content is not None:
            self._check_content(self.content)

    @classmethod
    def of(cls, values: JsonMapping) -> Design:
        """Return the design that `as_json` gave; raise on a name that is no setting."""
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                hint = nearest(name, known) or f" Known: {', '.join(known)}."
                raise UnknownName(f"a design has no setting {name!r}.{hint}")
        return cls(**values)

    def as_json(self) -> JsonObject:
        """Return the settings as JSON holds them."""
        values = asdict(self)
        values["stability"] = None if self.stability is None else list(self.stability)
        return values

    def _check_names(self) -> None:
        for name, known in (("selection", get_args(Selection)), ("method", get_args(Method))):
            value = getattr(self, name)
            if value not in known:
                hint = nearest(str(value), known)
                raise UnknownName(f"no {name} {value!r}.{hint} Known: {', '.join(known)}.")
        if isinstance(self.start, str) and self.start not in ("prior", "random"):
            raise UnknownName(f"start is prior, random or an ability; got {self.start!r}.")

    def _check_numbers(self) -> None:
        for name in ("randomesque", "min_items", "start_items", "batch", "trials"):
            _check_count(name, getattr(self, name))
        for name in ("max_items", "max_trials"):
            if getattr(self, name) is not None:
                _check_count(name, getattr(self, name))
        if self.max_items is not None and self.max_items < self.min_items:
            raise InvalidInput(
                f"min_items ({self.min_items}) must not be above max_items ({self.max_items})."
            )
        for name in ("se", "prior_sd", "exposure", "random_share", "level", "prior_mean", "start"):
            value = getattr(self, name)
            is_named = name == "start" and isinstance(value, str)
            if not is_named and (value is not None or name not in ("se", "exposure")):
                _check_number(name, value)
        for name in ("se", "prior_sd", "exposure"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InvalidInput(f"{name} must be above 0; got {value!r}.")
        if self.exposure is not None and self.exposure > 1:
            raise InvalidInput(f"exposure is a share of tests, at most 1; got {self.exposure!r}.")
        if not 0 <= self.random_share <= 1:
            raise InvalidInput(f"random_share must be from 0 to 1; got {self.random_share!r}.")
        if not 0 < self.level < 1:
            raise InvalidInput(f"level must be between 0 and 1; got {self.level!r}.")
        for name in ("start", "prior_mean"):
            value = getattr(self, name)
            if not isinstance(value, str) and not math.isfinite(value):
                raise InvalidInput(f"{name} must be a finite number; got {value!r}.")

    def _check_stability(self) -> None:
        given: Any = self.stability
        is_pair = not isinstance(given, str) and isinstance(given, Sequence) and len(given) == 2
        if not is_pair or any(isinstance(one, str) for one in given):
            raise InvalidInput(f"stability is a window and a tolerance, [5, 0.1]; got {given!r}.")
        rule = Stability(*given)
        object.__setattr__(self, "stability", rule)
        _check_count("the window of stability", rule.window)
        _check_number("the tolerance of stability", rule.tolerance)
        if not (math.isfinite(rule.tolerance) and rule.tolerance > 0):
            raise InvalidInput(f"the tolerance of stability must be above 0; got {rule.tolerance}.")

    def _check_content(self, shares: Mapping[str, float]) -> None:
        if not isinstance(shares, Mapping):
            raise InvalidInput(f"content is shares by area, {{algebra: 0.5, ...}}; got {shares!r}.")
        for area, share in shares.items():
            _check_number(f"the share of content {area!r}", share)
        if not shares or any(not share > 0 for share in shares.values()):
            raise InvalidInput(f"content needs a share above 0 for each area; got {dict(shares)}.")
        if abs(sum(shares.values()) - 1) > 1e-6:
            raise InvalidInput(
                f"the shares of content must add up to 1; got {sum(shares.values()):g}."
            )


def _check_number(name: str, value: Any) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidInput(f"{name} must be a number; got {value!r}.")


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInput(f"{name} must be a whole number, at least 1; got {value!r}.")
