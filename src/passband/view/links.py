"""Build the addresses of pages: every state of the viewer has one."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from passband.errors import InvalidInput
from passband.trials import TrialId

NO_PAGE = "This address does not lead to a page of the viewer."
_DIGITS = 18  # of the largest number that an address may have


@dataclass(frozen=True)
class Links:
    """The addresses of a viewer, all below its token."""

    token: str

    @property
    def home(self) -> str:
        """The list of runs."""
        return f"/{self.token}/"

    def run(self, directory: str, number: int) -> RunLinks:
        """Return the addresses of a run: a directory by its name here, and a number in it."""
        return RunLinks(f"/{self.token}/runs/{directory}/{number}")

    def comparison(self, first: str | None = None, second: str | None = None) -> str:
        """Return the address of a comparison of two runs, each as directory/number."""
        return f"/{self.token}/compare{_query(a=first, b=second)}"

    def runs(self, start: int) -> str:
        """Return the list of runs from one on."""
        return f"{self.home}{_query(start=start or None)}"

    @property
    def runs_events(self) -> str:
        """The event stream of all runs."""
        return f"{self.home}events"


@dataclass(frozen=True)
class RunLinks:
    """The addresses of one run."""

    page: str

    @property
    def events(self) -> str:
        """The event stream of the run."""
        return f"{self.page}/events"

    def trials(
        self, show: str = "all", after: TrialId | None = None, before: TrialId | None = None
    ) -> str:
        """Return a page of trials: those after a place, or before one."""
        query = _query(
            show=None if show == "all" else show, after=_place(after), before=_place(before)
        )
        return f"{self.page}/trials{query}"

    def ranked(self, show: str, start: int) -> str:
        """Return a page of the slowest or longest trials, from one on."""
        return f"{self.page}/trials{_query(show=show, start=start or None)}"

    @property
    def search(self) -> str:
        """The page that a text is searched by."""
        return f"{self.page}/search"

    def problems(self, start: int = 0) -> str:
        """Return a page of problems, the easiest first, from a rank on."""
        return f"{self.page}/problems{_query(start=start or None)}"

    def problem(self, number: int, after: int | None = None) -> str:
        """Return the page of a problem, its trials from one on."""
        return f"{self.page}/problem/{number}{_query(after=after)}"

    def trial(self, place: TrialId, show: str = "all") -> str:
        """Return the page of a trial, met on the way through such trials."""
        query = _query(show=None if show == "all" else show)
        return f"{self.page}/problem/{place.problem}/trial/{place.trial}{query}"

    def text(self, place: TrialId, part: int = 0) -> str:
        """Return a page with a part of the whole text of a trial."""
        return f"{self.page}/problem/{place.problem}/trial/{place.trial}/text{_query(part=part)}"

    def difference(self, problem: int, first: int, second: int) -> str:
        """Return the page of two trials side by side."""
        return f"{self.page}/problem/{problem}/diff/{first}/{second}"


def _query(**values: str | int | None) -> str:
    """Return the query of an address.

    >>> _query(show="wrong", after=None), _query()
    ('?show=wrong', '')
    """
    present = {key: value for key, value in values.items() if value is not None}
    return f"?{urlencode(present)}" if present else ""


def _place(place: TrialId | None) -> str | None:
    return None if place is None else f"{place.problem}.{place.trial}"


def parse_place(text: str | None) -> TrialId | None:
    """Return the place that an address names; raise `InvalidInput` if it names none.

    >>> parse_place("17.3"), parse_place(None)
    (TrialId(problem=17, trial=3), None)
    """
    if text is None:
        return None
    problem, _, trial = text.partition(".")
    return TrialId(parse_number(problem), parse_number(trial))


def parse_number(text: str) -> int:
    """Return a number of an address; raise `InvalidInput` where there is none, or a huge one.

    >>> parse_number("17")
    17
    """
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise InvalidInput(NO_PAGE)
    return int(text)
