"""Options for reading a source: the role of each column, and the names to split by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from passband.errors import InvalidInput, UnknownName, nearest
from passband.stats import as_whole
from passband.stats.data import ROLES, Scale


@dataclass(frozen=True)
class Options:
    """Columns by role (problem, score, answer and so on), names to split by, what to read."""

    columns: Mapping[str, str] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()  #: only these; all if none is named
    models: tuple[str, ...] = ()
    texts: bool = False  #: completions and transcripts are wanted too
    skip_bad: bool = False  #: leave out, and count, records that cannot be read
    targets: bool = False  #: the targets of the problems are wanted too
    answers: bool = False  #: the answers of the trials are wanted too, for votes
    threshold: float | None = None  #: the least score of a success
    scales: Mapping[str, Scale] = field(default_factory=dict)  #: by name of the score
    first: int | None = None  #: only so many first trials of each problem

    @staticmethod
    def of(
        columns: Mapping[str, str | None] | None,
        by: str | Sequence[str],
        tasks: Sequence[str] = (),
        models: Sequence[str] = (),
        *,
        texts: bool = False,
        skip_bad: bool = False,
        targets: bool = False,
        answers: bool = False,
        threshold: float | None = None,
        scales: Mapping[str, Scale] | None = None,
        first: int | None = None,
    ) -> Options:
        """Check the names of roles, and leave out roles without a column."""
        for role, name in (columns or {}).items():
            if role not in ROLES:
                raise UnknownName(f"no column role named {role!r}.{nearest(role, ROLES)}")
            if name == "":
                raise InvalidInput(f"{role}= (in the shell, --{role}) is empty; give a name.")
        chosen = {role: name for role, name in (columns or {}).items() if name is not None}
        names = (by,) if isinstance(by, str) else tuple(by)
        wanted = answers or "answer" in chosen
        return Options(
            chosen, names, tuple(tasks), tuple(models), texts, skip_bad, targets, wanted, threshold,
            scales or {}, None if first is None else as_whole("first", first),
        )  # fmt: skip

    @property
    def score(self) -> str | None:
        """The scorer, or column, whose scores are measured: the judge, where one is named."""
        judge, score = self.columns.get("judge"), self.columns.get("score")
        if judge is not None and score not in (None, judge):
            raise InvalidInput(
                f"judge ({judge}) and score ({score}) name two scorers; the judge's scores are the "
                "scores."
            )
        return judge or score

    @property
    def opens_samples(self) -> bool:
        """Whether logs that keep answers and texts apart from scores must be read whole."""
        return self.texts or self.answers

    def require_scores(self, source: object, known: Iterable[str]) -> None:
        """Raise `UnknownName` for a scale of scores that a source does not have."""
        names = dict.fromkeys(known)
        for name in self.scales:
            if name not in names:
                hint = nearest(name, names) or f" It has {', '.join(names) or 'none'}."
                raise UnknownName(f"{source} has no score named {name!r}.{hint}")

    def choosing(self, role: str, name: str) -> Options:
        """Return the options with a column for a role."""
        return replace(self, columns={**self.columns, role: name})

    def names(self) -> list[str]:
        """Return every name that the caller used."""
        return [*self.columns.values(), *self.by]

    def refuse(self, roles: Sequence[str], kind: str) -> None:
        """Raise `InvalidInput` if a column was chosen for one of the roles."""
        for role in roles:
            if role in self.columns:
                raise InvalidInput(
                    f"{role}= (in the shell, --{role}) does not apply to {kind}; leave it out."
                )
