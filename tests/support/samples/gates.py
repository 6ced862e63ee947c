"""Gates with a line of every verdict, and lines under names that a format might obey."""

from dataclasses import replace
from functools import cache

from passband import Outcomes
from passband.summary.gate.gate import gate
from passband.summary.gate.policy import GatePolicy, TaskRule
from passband.summary.gate.result import GateResult, GateSide

BASE = Outcomes.from_counts([3, 0, 8, 5, 1, 7, 0, 2] * 25, 8)
SAME = Outcomes.from_counts([3, 0, 7, 5, 2, 7, 0, 2] * 25, 8)
WORSE = Outcomes.from_counts([2, 0, 7, 4, 0, 6, 0, 1] * 25, 8)
LARGE = Outcomes.from_counts([3, 0, 8, 5, 1, 7, 0, 2] * 200, 8)
SLIGHT = Outcomes.from_counts([2, 0, 8, 5, 1, 7, 0, 2] * 200, 8)
OPEN = Outcomes.from_counts([1, 1, 7, 5, 3, 6, 0, 2] * 25, 8)
HOLED = Outcomes.from_counts([3, 0, 7, 4, 1, 6, 0, 2] * 25, 7, unscored={"gave_up": [1] * 200})

LAX = GatePolicy(tolerance=0.03)
NASTY = [
    "</details><script>alert(1)</script>",
    "| `code` | [x](http://evil.example) **b**",
    "@octocat closes #12\n# heading\n- item",
    "red \x1b[31m \x00 \ud800 \ufffe ]]> & \"quoted\" <!-- -->",
    "```\nfence",
]  # fmt: skip


@cache
def every_verdict() -> GateResult:
    """Return a gate whose lines have every verdict; those of advisory tasks decide nothing."""
    news = {"lost": WORSE, "same": SAME, "slight": SLIGHT, "open": OPEN, "holed": HOLED}
    tasks = {name: TaskRule() for name in [*news, "absent"]} | {
        "advice": TaskRule(tier="advisory"), "support": TaskRule(tier="supporting"),
    }  # fmt: skip
    policy = GatePolicy(tolerance=0.03, tasks=tasks)
    bases = dict.fromkeys([*news, "advice", "support"], BASE) | {"slight": LARGE}
    return gate(bases, {**news, "advice": WORSE, "support": OPEN}, policy)


@cache
def _only(new: str) -> GateResult:
    return gate({"a": BASE}, {"a": {"same": SAME, "worse": WORSE, "open": OPEN}[new]}, LAX)


def named(names: list[str], new: str = "same") -> GateResult:
    """Return a gate over tasks of these names, which are also those of the models."""
    result = _only(new)
    return replace(
        result,
        base=GateSide(names[0], names[0]),
        new=GateSide(names[-1], names[-1]),
        lines=tuple(replace(result.lines[0], task=name) for name in names),
    )
