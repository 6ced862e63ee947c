"""Read and check the options of the judge scorer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from passband.errors import InvalidInput, nearest
from passband.score.judge.prompt import LONGEST
from passband.score.judge.rubric import Rubric, read_rubric
from passband.score.scorer import Options

Aggregate = Literal["mean", "majority"]
MAX_TOKENS = 4096  # of a reply
_MOST_VOTES = 99
_SHORTEST = 100


@dataclass(frozen=True)
class JudgeOptions:
    """Which judge, by which rubric, how often, and how its votes become a score."""

    model: str | None = None  # None: to be given by --judge
    rubric: Rubric = field(default_factory=lambda: read_rubric(None))
    votes: int = 1
    aggregate: Aggregate = "mean"
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = MAX_TOKENS
    longest: int = LONGEST  # characters of a text that it is shown
    against: str | None = None  # the run directory that pairs are made with

    @classmethod
    def of(cls, values: Options) -> JudgeOptions:
        """Return options from plain values, all checked."""
        for name in values:
            if name not in cls.__dataclass_fields__:
                known = tuple(cls.__dataclass_fields__)
                hint = nearest(str(name), known) or f" Known: {', '.join(known)}."
                raise InvalidInput(f"scorer 'judge' has no option {name!r}.{hint}")
        options = cls(**{**values, "rubric": read_rubric(values.get("rubric"))})
        options._check()
        return options

    def as_json(self) -> dict[str, object]:
        """Return plain values, from which `of` makes the same again; defaults are left out."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        changed = {
            name: value
            for name, value in plain.items()
            if name != "rubric" and value != self.__dataclass_fields__[name].default
        }
        return {**changed, "rubric": self.rubric.as_json(), "votes": self.votes}

    @property
    def calls(self) -> int:
        """Calls for one trial, if all of them are answered with a verdict."""
        return self.votes * (2 if self.rubric.form == "pairwise" else 1)

    def _check(self) -> None:
        for name, least, most in (
            ("votes", 1, _MOST_VOTES),
            ("max_tokens", 1, None),
            ("longest", _SHORTEST, None),
        ):
            _check_whole(name, getattr(self, name), least, most)
        for name, top in (("temperature", None), ("top_p", 1.0)):
            _check_number(name, getattr(self, name), top)
        for name in ("model", "against"):
            text = getattr(self, name)
            if text is not None and (not isinstance(text, str) or not text.strip()):
                raise InvalidInput(f"{name} of a judge is a text; got {text!r:.60}.")
        if self.aggregate not in ("mean", "majority"):
            raise InvalidInput(
                f"aggregate of a judge is mean or majority; got {self.aggregate!r:.60}."
            )
        if (self.rubric.form, self.rubric.against) == ("pairwise", "run") and not self.against:
            raise InvalidInput(
                "the rubric compares with the answers of another run; name its directory with "
                "--against RUN."
            )
        if self.against and self.rubric.form != "pairwise":
            raise InvalidInput("--against is for a pairwise rubric (form: pairwise).")


def _check_whole(name: str, value: object, least: int, most: int | None) -> None:
    if name == "max_tokens" and value is None:
        return
    if type(value) is not int or value < least or (most is not None and value > most):
        ends = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidInput(f"{name} of a judge is a whole number {ends}; got {value!r:.60}.")


def _check_number(name: str, value: object, top: float | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not (
        isinstance(value, (int, float)) and 0 <= value <= (top or 100.0)
    ):
        raise InvalidInput(f"{name} of a judge is a number of at least 0; got {value!r:.60}.")
