"""Top two runs up in complete rounds until a gate is decided: `passband gate --settle`.

The looks, the errors and the budget are laid down in a plan before the first look. At each look the
gate is made of the first rounds of both runs, so that a process that was killed goes on as if it
had not been. A comparison that is decided stays so. Tasks are topped up while a required comparison
of theirs is open, and nothing is after a regression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from passband.errors import ExitCode, InvalidInput, PassbandError
from passband.notes import Note
from passband.run.loop.loop import Ending
from passband.run.progress import Watcher
from passband.run.settle.plan import (
    PlanEnd,
    SettleForecast,
    SettlePlan,
    likely_ends,
    plan_path,
    read_end,
    write_end,
)
from passband.run.settle.side import RecordedTask, SettleSide
from passband.run.task_run import fits
from passband.stats.metric import parse_name
from passband.stats.sequential import looks_from
from passband.summary import (
    End,
    GateLine,
    GateLook,
    GatePolicy,
    GateReading,
    GateResult,
    Pair,
    Settled,
    gate_lines,
    gate_sources,
    verdict_of,
)
from passband.types import Ints

OnLook = Callable[[GateLook, SettlePlan], None]
_FARTHEST = 10_000  # rounds
_MEASURED = ("pass@", "pass^")
_OPEN = ("undecided", "not-certified")  # what another look may change


class Interrupted(PassbandError):
    """The runs were interrupted between two looks."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(f"{ending}; every trial so far is recorded, and the same command goes on.")
        is_term = ending == "terminated"
        self.exit_code = ExitCode.TERMINATED if is_term else ExitCode.INTERRUPTED


@dataclass(frozen=True)
class SettleRequest:
    """What the command asks for."""

    base: Path
    new: Path
    policy: GatePolicy
    reading: GateReading
    max_cost: float | None = None
    max_rounds: int | None = None
    prices: Path | None = None
    concurrency: int = 64

    def prepare(self) -> Settling:
        """Read both sides, and find the plan or make it; nothing is asked or written yet."""
        _check(self)
        first = gate_sources(self.base, self.new, self.policy, self.reading)
        _refuse_hopeless(first)
        tasks = tuple(dict.fromkeys(line.task for line in first.lines if any(line.trials)))
        if not tasks:
            raise InvalidInput(
                f"{self.base} and {self.new} share no task that could be compared, so more trials "
                "would settle nothing."
            )
        base, new = (
            SettleSide(path, label, tasks, self.prices, self.concurrency)
            for path, label in (
                (self.base, self.reading.base_model),
                (self.new, self.reading.new_model),
            )
        )
        base.check()
        new.check()
        _check_metrics(first)
        return Settling(self, first, base, new)


class Settling:
    """A gate that is being settled: its plan, and the looks so far."""

    def __init__(
        self, request: SettleRequest, first: GateResult, base: SettleSide, new: SettleSide
    ) -> None:
        self._request, self._first, self._sides = request, first, (base, new)
        identities = base.identity(), new.identity()
        self.path = plan_path(new.directory, *identities)
        fresh = self._planned(*identities)
        if self.path.is_file():
            self.plan = SettlePlan.load(self.path)
            self.plan.require_goal(fresh, self.path)
        else:
            _refuse_idle(fresh)
            self.plan = fresh
        self._lines = {(line.task, line.metric): line for line in first.lines}
        self._decided: set[tuple[str, str]] = set()  # tasks and metrics
        self._looks: list[GateLook] = []

    # -- the plan --------------------------------------------------------------------------

    def _planned(self, base: Mapping[str, object], new: Mapping[str, object]) -> SettlePlan:
        held = self.held()
        there = min(one.rounds for side in held for one in side.values())
        rounds = self._most_rounds(held, there)
        costs = [one.cost for side in held for one in side.values()]
        deciding = [line for line in self._first.lines if line.tier != "advisory"]
        return SettlePlan(
            looks=looks_from(there, rounds, self._least()),
            alpha=self._request.policy.alpha,
            comparisons=max(1, sum(any(line.trials) for line in deciding)),
            policy=self._request.policy.as_json(),
            base=base,
            new=new,
            max_cost=self._request.max_cost,
            max_rounds=self._request.max_rounds,
            before=there,
            trials_before=sum(one.trials for side in held for one in side.values()),
            cost_before=None if None in costs else sum(cost or 0.0 for cost in costs),
        )

    def held(self) -> tuple[dict[str, RecordedTask], dict[str, RecordedTask]]:
        """Return what both sides hold of each task."""
        base, new = self._sides
        return base.held(), new.held()

    def _least(self) -> int:
        """Return the rounds before which there is nothing to look at."""
        most = max(max(parse_name(line.metric).ks or (1,)) for line in self._first.lines)
        return 2 if most == 1 else most + 1

    def _most_rounds(self, held: tuple[dict[str, RecordedTask], ...], there: int) -> int:
        """Return how many rounds the budget allows, those that are there included."""
        most = self._request.max_rounds or _FARTHEST
        if self._request.max_cost is not None:
            for side in self._sides:
                side.require_price()
            tasks = [one for side in held for one in side.values()]
            most = min(most, _affordable(tasks, self._request.max_cost))
        if most >= _FARTHEST:
            raise InvalidInput(
                "these models cost nothing, so --max-cost sets no limit; give --max-rounds."
            )
        if most < max(there, self._least()):
            raise InvalidInput(
                f"the first look is after {max(there, self._least())} rounds, and the budget ends "
                f"after {most}; allow more with --max-cost or --max-rounds."
            )
        return most

    def forecast(self) -> SettleForecast:
        """Return what the plan will probably take, by the noise of the trials that are there."""
        held = self.held()
        tasks = [one for side in held for one in side.values()]
        costs = [one.round_cost for one in tasks]
        known = [cost for cost in costs if cost is not None]
        return SettleForecast(
            self.plan,
            self.path,
            self.path.is_file(),
            sum(known) if len(known) == len(costs) else None,
            tuple(one for one in tasks),
            tuple(likely_ends(self.plan, self._first.lines)),
        )

    # -- the looks -------------------------------------------------------------------------

    def settle(self, watcher: Watcher, on_look: OnLook) -> GateResult:
        """Look, top up, and look again, until there is a verdict or the budget ends."""
        if not self.path.is_file():
            self.plan.save(self.path)
        ended = read_end(self.path)
        for rounds in self.plan.looks:
            if ended is None and not self._reach(rounds, watcher):
                ended = PlanEnd(self._complete(), self._paid())
                write_end(self.path, ended)
            if ended is not None and rounds > ended.rounds:
                end = self._look(ended.rounds, is_last=True, on=on_look, paid=ended.trials)
                return self._result("budget" if end == "last-look" else end)
            end = self._look(rounds, is_last=rounds == self.plan.looks[-1], on=on_look)
            if end is not None:
                return self._result(end)
        raise AssertionError("the last look ends it")

    def _reach(self, rounds: int, watcher: Watcher) -> bool:
        """Bring the open tasks to these rounds, or to as many as the money allows."""
        money = self._money_left()
        goal = rounds if money is None else min(rounds, self._affordable(money))
        for side in self._sides:
            if min(side.held()[task].rounds for task in self._open()) >= goal:
                continue
            ending = side.top_up(self._open(), goal, self._money_left(), watcher)
            if ending not in ("finished", "max_cost"):
                raise Interrupted(ending)
        return self._complete() >= rounds

    def _open(self) -> tuple[str, ...]:
        """Return the tasks that have a required comparison without a verdict; at first all."""
        tasks = self._sides[0].tasks
        if not self._looks:
            return tasks
        lines = [line for line in self._lines.values() if line.tier == "required"]
        return tuple(
            task
            for task in tasks
            if any(line.task == task and line.verdict == "undecided" for line in lines)
        )

    def _complete(self) -> int:
        """Return the rounds that both sides have of every open task."""
        return min(side.held()[task].rounds for side in self._sides for task in self._open())

    def _paid(self) -> int:
        """Return how many trials there are of the open tasks."""
        return sum(side[task].trials for side in self.held() for task in self._open())

    def _look(
        self, rounds: int, *, is_last: bool, on: OnLook, paid: int | None = None
    ) -> End | None:
        """Take a look after some rounds; return why it is the last, or None.

        Where the money has ended, it is a look at all trials that were `paid`, complete rounds or
        not: the information of so many rounds, between those of the plan, decides its level.
        """
        taken = self._looks[-1].rounds if self._looks else 0
        if rounds < self._least() - 1 or rounds < taken:
            raise InvalidInput(
                f"the budget ended after {rounds} complete rounds, before the first look; nothing "
                "can be said yet."
            )
        tasks = self._open()
        if paid not in (None, self._paid()):
            raise InvalidInput(
                f"the budget ended with {paid} trials, which were looked at; there are "
                f"{self._paid()} now. A plan ends there: gate them without --settle."
            )
        pairs = dict(self._pairs(tasks, rounds if paid is None else None))
        worth = float(rounds) if paid is None else max(map(_worth, pairs.values()))
        if worth == taken:  # the same data once more, with what is left to spend
            self._looks.pop()
        errors = self.plan.errors_at(worth, is_last=is_last, taken=taken)
        number = len(self._looks) + 1
        lines = tuple(
            line
            for line in gate_lines(pairs, self._request.policy, errors)
            if (line.task, line.metric) not in self._decided
        )
        if not is_last:
            lines = tuple(_marked(line, number, self.plan.looks, rounds) for line in lines)
        self._lines |= {(line.task, line.metric): line for line in lines}
        self._decided |= {(one.task, one.metric) for one in lines if one.verdict not in _OPEN}
        verdict = verdict_of(tuple(self._lines.values()))
        trials = sum(int(_asked(pair).sum()) for pair in pairs.values())
        look = GateLook(number, rounds, trials, is_last, verdict, lines)
        self._looks.append(look)
        on(look, self.plan)
        if verdict == "undecided":
            return "last-look" if is_last else None
        return "not-certified" if verdict == "not-certified" else "decided"

    def _pairs(self, tasks: tuple[str, ...], rounds: int | None) -> Iterator[tuple[str, Pair]]:
        base, new = (side.outcomes(tasks, rounds) for side in self._sides)
        for task in tasks:
            for outcomes in (base[task], new[task]):
                if not outcomes.is_binary:
                    raise InvalidInput(
                        f"{task}: --settle needs scores of 0 or 1; for other scores the errors of "
                        "repeated looks have not been measured. Gate a fixed number of trials."
                    )
            yield task, Pair(base[task], new[task])

    # -- money -----------------------------------------------------------------------------

    def _money_left(self) -> float | None:
        """Return what is left of --max-cost; None where there is no such limit."""
        if self.plan.max_cost is None or self.plan.cost_before is None:
            return None
        return self.plan.max_cost - (self._cost() - self.plan.cost_before)

    def _cost(self) -> float:
        return sum(one.cost or 0.0 for side in self.held() for one in side.values())

    def _affordable(self, money: float) -> int:
        tasks = self._open()
        return _affordable([side[task] for side in self.held() for task in tasks], money)

    # -- the end ---------------------------------------------------------------------------

    def _result(self, end: End | None) -> GateResult:
        held = self.held()
        trials = sum(one.trials for side in held for one in side.values())
        cost = None if self.plan.cost_before is None else self._cost() - self.plan.cost_before
        settled = Settled(
            planned=self.plan.looks,
            looks=tuple(self._looks),
            end=end or "last-look",
            before=self.plan.before,
            asked=trials - self.plan.trials_before,
            cost=cost,
            plan=str(self.path),
            sha256=self.plan.sha256,
        )
        lines: tuple[GateLine, ...] = tuple(self._lines.values())
        return replace(self._first, verdict=verdict_of(lines), lines=lines, settled=settled)


def _asked(pair: Pair) -> Ints:
    """Return how many trials there are of each problem, of one model and then of the other."""
    sides = [side for side in (pair.base, pair.new) if side is not None]
    return np.concatenate([sum(side.unscored.values(), side.trials) for side in sides])


def _worth(pair: Pair) -> float:
    """Return how many complete rounds have the information of these trials.

    The variance of a difference of means is a sum of 1 / n over problems and models.
    """
    asked = np.maximum(_asked(pair), 1)
    return float(asked[0] if np.ptp(asked) == 0 else len(asked) / (1.0 / asked).sum())


def _affordable(tasks: Sequence[RecordedTask], money: float) -> int:
    """Return to how many rounds the money brings these tasks, at what rounds cost so far."""
    rounds = min(one.rounds for one in tasks)
    while rounds < _FARTHEST:
        cost = sum(max(rounds + 1 - one.rounds, 0) * (one.round_cost or 0.0) for one in tasks)
        if not fits(cost, money):
            break
        rounds += 1
    return rounds


def _marked(line: GateLine, number: int, looks: Sequence[int], rounds: int) -> GateLine:
    """Return a line that is decided before the last look with a note that says so."""
    if line.verdict in _OPEN:
        return line
    return replace(line, notes=(*line.notes, decided_early(number, len(looks), rounds)))


def _refuse_hopeless(result: GateResult) -> None:
    """Refuse a gate that stays shut whatever more trials show."""
    for line in result.lines:
        is_final = not any(line.trials) or line.base is not None  # else trials are too few for k
        if line.tier == "required" and line.verdict == "not-certified" and is_final:
            raise InvalidInput(
                f"{line.task} {line.metric}: {line.reason}. More trials would not change that, so "
                "nothing was asked."
            )


def _refuse_idle(plan: SettlePlan) -> None:
    """Refuse a new plan whose budget allows no further round: it could never be extended."""
    if plan.looks[-1] <= plan.before:
        raise InvalidInput(
            f"{plan.before} rounds are there, and the budget does not allow one more: raise "
            "--max-cost or --max-rounds, or gate what is there without --settle."
        )


def _check(request: SettleRequest) -> None:
    if request.max_cost is None and request.max_rounds is None:
        raise InvalidInput(
            "--settle needs a budget: --max-cost X, in the currency of your prices, or "
            "--max-rounds N, the most trials of a problem by each model."
        )
    if request.max_cost is not None and not request.max_cost > 0:
        raise InvalidInput(f"--max-cost must be more than 0; got {request.max_cost:g}.")
    if request.max_rounds is not None and not 2 <= request.max_rounds < _FARTHEST:
        raise InvalidInput(
            f"--max-rounds must be at least 2, and below {_FARTHEST}; got {request.max_rounds}."
        )
    if request.policy.over != "trials":
        raise InvalidInput(
            "--settle adds trials of the same problems. That can settle a difference on these very "
            "problems (--over trials), but not on problems like them, which takes more problems."
        )


def _check_metrics(result: GateResult) -> None:
    """Refuse metrics whose errors under repeated looks are not known."""
    for line in result.lines:
        name = parse_name(line.metric)
        if line.metric != "avg" and (name.key not in _MEASURED or len(name.ks or ()) != 1):
            raise InvalidInput(
                f"--settle is for metrics whose errors under repeated looks are known, pass@k and "
                f"pass^k; got {line.metric!r}."
            )


def decided_early(look: int, looks: int, rounds: int) -> Note:
    """Note that a difference was decided before the last planned look, and so looks too large.

    >>> print(decided_early(3, 9, 4))
    decided at look 3 of 9, after 4 rounds: stopped early, the value tends to overstate
    """
    return Note(
        "decided-early",
        f"decided at look {look} of {looks}, after {rounds} rounds: stopped early, the value tends "
        "to overstate",
        "weak",
    )
