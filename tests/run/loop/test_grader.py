"""Scoring many trials together gives the scores of scoring each."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from passband.run.loop.grader import Grader
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference, Score, Scorer
from passband.trials.rows import STATUSES, TrialRow
from support.samples.stores import any_text

REFERENCES = [Reference(("4",)), Reference(("4", "four")), Reference(()), Reference((" ",))]
TEXTS = ["The answer is 4.", r"\boxed{four}", r"\boxed{", "", " ", "[invalid]", "####  ", "4", None]


@dataclass
class Odd(Scorer):
    """A scorer of somebody's own, which looks at the whole trial or fails."""

    takes_trial: bool = False
    name: str = "odd"
    identity: str = "odd"
    slow: bool = False

    def score(self, text: str | None, reference: Reference, trial: Any = None) -> Score:
        if text == "4":
            raise ValueError("no fours")
        if text == "":
            return Score(float("nan"))
        return Score(float(trial.completion_tokens or 0) if self.takes_trial else 0.5)

    def close(self) -> None:
        """Hold nothing."""


SCORERS = [
    make_scorer("exact_match", steps=["extract"]),
    make_scorer("exact_match", steps=[{"function": "regex", "regex_pattern": "(4|four)"}]),
    make_scorer("exact_match"),
    make_scorer("exact_match", steps=["extract", "lowercase"]),
    Odd(),
    Odd(takes_trial=True),
]
trials = st.builds(
    TrialRow,
    problem=st.integers(0, len(REFERENCES) - 1),
    trial=st.integers(0, 9),
    status=st.sampled_from(STATUSES),
    text=st.sampled_from(TEXTS) | any_text,
    completion_tokens=st.none() | st.integers(0, 9),
)


@given(
    rows=st.lists(trials, max_size=6),
    chosen=st.lists(st.sampled_from(SCORERS), max_size=3),
    truncated=st.sampled_from(["leave", "score"]),
)
def test_together_as_one_by_one(rows: list[TrialRow], chosen: list[Any], truncated: Any) -> None:
    grader = Grader(list(enumerate(chosen, 1)), REFERENCES, truncated)
    together = deepcopy(rows)
    grader.grade_all(together)
    assert [row.scores for row in together] == [grader.grade(row) for row in rows]
