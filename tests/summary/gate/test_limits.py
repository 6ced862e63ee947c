"""Upper limits of a gate."""

from dataclasses import dataclass, replace

import pytest

from passband import Outcomes
from passband.errors import InvalidInput
from passband.stats.data.spending import SpentColumn, SpentTrials
from passband.summary.gate.gate import gate
from passband.summary.gate.limits import parse_limits
from passband.summary.gate.policy import GatePolicy

SCORES = Outcomes.from_counts([3, 0, 8, 5, 1, 7, 0, 2] * 5, 8)


@dataclass(frozen=True)
class Costs:
    """A cost of 1 to 4 for each trial, in turn."""

    def of(self, column: SpentColumn) -> SpentTrials:
        return {name: [1.0 + (place + t) % 4 for t in range(8)] for place, name in NAMED}


NAMED = list(enumerate(SCORES.problems))
PRICED = replace(SCORES, spending=Costs())


@pytest.mark.parametrize(
    ("limit", "verdict"), [(2.0, "regression"), (2.5, "undecided"), (3.0, "pass")]
)
def test_the_three_verdicts(limit: float, verdict: str) -> None:
    policy = GatePolicy(tolerance=0.1, limits={"cost": limit})
    result = gate({"a": SCORES}, {"a": PRICED}, policy)
    compared, limited = result.lines
    assert (compared.verdict, limited.verdict) == ("pass", verdict)
    assert result.verdict == verdict
    assert (limited.base, limited.new) == (limit, 2.5)
    assert limited.other is not None
    assert result.n_deciding == 1


def test_what_is_not_known_is_not_certified() -> None:
    result = gate({"a": SCORES}, {"a": SCORES}, GatePolicy(tolerance=0.1, limits={"cost": 1.0}))
    assert result.verdict == "not-certified"
    assert "not known" in result.lines[1].reason
    gone = gate({"a": SCORES}, {}, GatePolicy(limits={"cost": 1.0}))
    assert "missing in NEW" in gone.lines[-1].reason


@pytest.mark.parametrize("text", ["cost", "cost=", "cost=-1", "cost=inf", "pass@1=0.5", "cots=1"])
def test_what_is_no_limit(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_limits([text])
