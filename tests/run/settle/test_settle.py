"""Settling a gate: looks by plan, money, resuming, and what is refused."""

import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.generate.problem import Problem
from passband.generate.provider import Completion, Message, Provider, Request, Sampling
from passband.generate.registry import Connection, register_provider
from passband.run.rescore.recorded_task import recorded_task
from passband.run.session import run_session
from passband.run.settings import Settings
from passband.run.settle.plan import SettlePlan
from passband.run.settle.settle import Interrupted, SettleRequest, Settling
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference
from passband.stats.interval.default.wilson import level_of
from passband.stats.sequential.spending import boundaries_spending
from passband.summary.gate.policy import GatePolicy, MetricRule, TaskRule
from passband.summary.gate.result import GateLook
from passband.summary.gate.sources import GateReading
from passband.tasks.task import Task
from passband.trials.reader import Trials
from support.runs.runs import Notes

TOKENS = 100_000  # of an answer: at 10 per million it costs 1
PRICES = "{good: {prompt: 0, completion: 10}, weak: {prompt: 0, completion: 10}}"
RATES = {"good": 0.9, "weak": 0.5}


class Dice(Provider):
    """A model that is right with a rate that its name says."""

    batch = 1
    answers = 0

    def __init__(self, name: str) -> None:
        self._rate = RATES[name]

    async def generate(self, request: Request) -> list[Completion]:
        Dice.answers += 1
        right = random.Random(request.seeds[0]).random() < self._rate
        return [Completion("yes" if right else "no", prompt_tokens=1, completion_tokens=TOKENS)]

    async def close(self) -> None: ...


class Copier(Dice):
    """A model behind a service that gives each answer to two requests of a problem."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._asked: dict[str, int] = {}

    async def generate(self, request: Request) -> list[Completion]:
        text = request.messages[0].content
        count = self._asked[text] = self._asked.get(text, -1) + 1
        right = random.Random(f"{text} {count // 2}").random() < 0.5
        return [Completion("yes" if right else "no", prompt_tokens=1, completion_tokens=TOKENS)]


@pytest.fixture(autouse=True, scope="module")
def _dice() -> None:
    register_provider("dice")(lambda model, connection: Dice(model))
    register_provider("varying")(lambda model, connection: Varying(model))
    register_provider("copier")(lambda model, connection: Copier(model))


def task(count: int = 40, name: str = "answers", **changes: Any) -> Task:
    problems = [
        Problem(f"p{at}", (Message("user", f"Problem {at}"),), Reference(("yes",)))
        for at in range(count)
    ]
    made = Task(
        name, None, Sampling(temperature=1.0), 2, (make_scorer("exact_match"),), (),
        lambda limit: problems[:limit],
    )  # fmt: skip
    return replace(made, **changes)


def ask(
    directory: Path, model: str, n: int = 2, tasks: list[Task] | None = None, kind: str = "dice"
) -> Path:
    run_session(
        tasks or [task()], f"{kind}:{model}", directory, settings=Settings(n=n),
        connection=Connection(), watcher=Notes(),
    )  # fmt: skip
    return directory


def request(base: Path, new: Path, **options: Any) -> SettleRequest:
    policy = options.pop("policy", GatePolicy(tolerance=0.08))
    return SettleRequest(base, new, policy, GateReading(), **{"max_rounds": 8, **options})


def settle(settling: Settling, looks: list[GateLook] | None = None) -> Any:
    taken = [] if looks is None else looks
    return settling.settle(Notes(), lambda look, plan: taken.append(look))


@pytest.fixture
def same(tmp_path: Path) -> tuple[Path, Path]:
    return ask(tmp_path / "base", "good"), ask(tmp_path / "fresh", "good")


@pytest.fixture
def worse(tmp_path: Path) -> tuple[Path, Path]:
    return ask(tmp_path / "base", "good"), ask(tmp_path / "new", "weak")


def test_a_regression_stops_at_the_first_look_that_shows_it(worse: tuple[Path, Path]) -> None:
    settling = request(*worse).prepare()
    assert settling.plan.looks == (2, 3, 4, 6, 8)
    result = settle(settling)
    assert result.verdict == "regression"
    assert result.settled.is_early
    assert result.settled.asked == 0  # two rounds were enough
    assert "decided-early" in [note.code for note in result.lines[0].notes]
    assert SettlePlan.load(settling.path) == settling.plan


def test_runs_are_topped_up_in_complete_rounds_until_it_is_decided(
    same: tuple[Path, Path],
) -> None:
    looks: list[GateLook] = []
    result = settle(request(*same).prepare(), looks)
    assert result.verdict == "pass"
    assert [look.rounds for look in looks] == [2, 3, 4, 6, 8][: len(looks)]
    assert len(looks) > 1
    rounds = looks[-1].rounds
    assert result.settled.asked == 2 * 40 * (rounds - 2)
    for directory in same:
        with Trials(directory) as trials:
            run = trials.run()
            assert trials.rounds_there(run) == rounds
            assert run.config["n"] == rounds


def test_the_same_command_goes_on_and_then_repeats_the_result(
    same: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = [shutil.copytree(path, tmp_path / f"copy-{path.name}") for path in same]
    whole = settle(request(*same).prepare())
    with monkeypatch.context() as patched:
        patched.setattr(
            "passband.run.settle.side.run_session",
            lambda *_, **__: type("Finished", (), {"ending": "interrupted"}),
        )
        with pytest.raises(Interrupted, match="the same command goes on") as caught:
            settle(request(*copies).prepare())
        assert caught.value.exit_code == 130
    resumed = settle(request(*copies).prepare())
    before = Dice.answers
    again = settle(request(*copies).prepare())
    assert Dice.answers == before
    for result in (resumed, again):
        assert result.lines == whole.lines
        assert result.settled.looks == whole.settled.looks
        assert result.settled.asked == whole.settled.asked


def test_a_plan_that_has_begun_cannot_be_changed(same: tuple[Path, Path]) -> None:
    settle(request(*same).prepare())
    with pytest.raises(InvalidInput, match=r"policy\.tolerance was 0\.08, is 0\.04"):
        request(*same, policy=GatePolicy(tolerance=0.04)).prepare()
    with pytest.raises(InvalidInput, match="max_rounds was 8, is 32"):
        request(*same, max_rounds=32).prepare()
    path = request(*same).prepare().path
    path.write_text(path.read_text().replace('"alpha": 0.05', '"alpha": 0.5'))
    with pytest.raises(InvalidInput, match="changed after it was saved"):
        request(*same).prepare()


def test_money_makes_the_plan_and_ends_it(same: tuple[Path, Path], tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES)
    budget: dict[str, Any] = {"max_rounds": None, "max_cost": 170.0, "prices": prices}
    policy = GatePolicy(tolerance=0.005)
    settling = request(*same, policy=policy, **budget).prepare()
    assert settling.plan.looks == (2, 3, 4)  # two more rounds of 40 problems by both: 160
    forecast = settling.forecast()
    assert forecast.cost_to(4) == pytest.approx(160.0)
    assert forecast.trials_to(4) == 160
    assert forecast.likely[0].rounds <= 4
    assert not settling.path.exists()
    result = settle(settling)
    assert (result.verdict, result.settled.end) == ("undecided", "last-look")
    assert result.settled.cost == pytest.approx(160.0)


@pytest.mark.parametrize(("batch", "money"), [(1, 4.8), (16, 5.0)])
def test_what_the_plan_promises_is_spent_and_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int, money: float
) -> None:
    """Two rounds of 60 problems by both at 0.02 cost 4.8: exactly enough, or little more."""
    monkeypatch.setitem(Dice.generate.__globals__, "TOKENS", 2_000)
    monkeypatch.setattr(Dice, "batch", batch)
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES)
    base, new = (ask(tmp_path / name, "good", tasks=[task(60)]) for name in ("base", "new"))
    budget: dict[str, Any] = {"max_rounds": None, "max_cost": money, "prices": prices}
    settling = request(base, new, policy=GatePolicy(tolerance=0.002), **budget).prepare()
    looks: list[GateLook] = []
    promised = settling.forecast().trials_to(settling.plan.looks[-1])
    result = settle(settling, looks)
    assert (promised, result.settled.asked) == (240, 240)
    assert result.settled.end == "last-look"
    assert looks[-1].rounds == settling.plan.looks[-1]
    assert result.settled.cost <= money + 1e-9


def test_a_budget_that_ends_early_makes_its_look_the_last(
    same: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers become dearer: the money for twelve rounds ends after five, between two looks."""
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES)
    budget: dict[str, Any] = {"max_rounds": None, "max_cost": 810.0, "prices": prices}
    policy = GatePolicy(tolerance=0.005)
    looks: list[GateLook] = []
    settling = request(*same, policy=policy, **budget).prepare()
    assert settling.plan.looks[-1] == 12
    monkeypatch.setitem(Dice.generate.__globals__, "TOKENS", 3 * TOKENS)
    result = settle(settling, looks)
    assert (result.verdict, result.settled.end) == ("undecided", "budget")
    assert looks[-1].is_last
    assert 2 < looks[-1].rounds < 12
    assert result.settled.cost <= 810.0
    again = settle(request(*same, policy=policy, **budget).prepare())
    assert again.lines == result.lines
    assert again.settled.looks == result.settled.looks


class Varying(Dice):
    """A model whose answers differ in length by a long-tailed law."""

    async def generate(self, request: Request) -> list[Completion]:
        (plain,) = await super().generate(request)
        tokens = int(TOKENS * random.Random(f"cost {request.seeds[0]}").lognormvariate(-0.72, 1.2))
        return [plain._replace(completion_tokens=tokens)]


@pytest.mark.parametrize("money", [150.0, 333.0, 810.0])
def test_every_trial_that_was_paid_for_is_looked_at(tmp_path: Path, money: float) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES)
    sides = [ask(tmp_path / name, "good", kind="varying") for name in ("base", "new")]
    budget: dict[str, Any] = {"max_rounds": None, "max_cost": money, "prices": prices}
    policy = GatePolicy(tolerance=0.0005)
    looks: list[GateLook] = []
    result = settle(request(*sides, policy=policy, **budget).prepare(), looks)
    recorded = 0
    for side in sides:
        with Trials(side) as trials:
            recorded += trials.trial_count(trials.run().number)
    assert looks[-1].is_last
    assert looks[-1].trials == recorded == 160 + result.settled.asked
    assert sum(result.lines[0].trials) == recorded
    assert result.settled.cost <= money + 1e-9
    answers = Dice.answers
    again = settle(request(*sides, policy=policy, **budget).prepare())
    assert (again.lines, again.settled.looks) == (result.lines, result.settled.looks)
    assert Dice.answers == answers
    if result.settled.end == "budget":
        ask(sides[0], "good", 30, kind="varying")
        with pytest.raises(InvalidInput, match="which were looked at; there are"):
            settle(request(*sides, policy=policy, **budget).prepare())


def test_a_last_look_has_the_error_that_its_information_leaves() -> None:
    """Looks at 2, 4 and 8; the money ends with the information of 6.5 after that at 4."""
    plan = SettlePlan((2, 4, 8), 0.05, 1, {}, {}, {}, 9.0, None, 2, 80, 0.0)
    level = 1.0 - 2.0 * plan.errors_at(6.5, is_last=True, taken=4).regression
    spent = [0.05 * (look / 8) ** 1.5 for look in (2, 4)]
    bounds = boundaries_spending([2, 4, 6.5], [*spent, 0.05])
    assert level == pytest.approx(level_of(bounds[-1]))
    skipped = plan.errors_at(8.5, is_last=True, taken=4)  # beyond a look that was not taken
    assert skipped.regression > plan.errors_at(8.5, is_last=True).regression


def test_a_decided_task_is_asked_no_more(tmp_path: Path) -> None:
    tasks = [task(40, "plain"), task(40, "fine")]
    base, new = (ask(tmp_path / name, "good", tasks=tasks) for name in ("base", "new"))
    rules = {"plain": TaskRule(tolerance=0.3), "fine": TaskRule(tolerance=0.004)}
    settling = request(base, new, policy=GatePolicy(tasks=rules), max_rounds=6).prepare()
    assert settling.plan.comparisons == 2
    result = settle(settling)
    assert result.verdict == "undecided"
    held = settling.held()[0]
    assert held["plain"].rounds < held["fine"].rounds == 6
    assert [line.verdict for line in result.lines] == ["pass", "undecided"]


def test_a_decided_metric_stays_so_while_another_of_its_task_is_open(
    same: tuple[Path, Path],
) -> None:
    metrics = {"pass@1": MetricRule(tolerance=0.3), "pass^2": MetricRule(tolerance=0.004)}
    looks: list[GateLook] = []
    result = settle(request(*same, policy=GatePolicy(metrics=metrics)).prepare(), looks)
    early, late = result.lines
    assert (early.verdict, late.verdict) == ("pass", "undecided")
    assert early.trials == (40 * 3, 40 * 3)  # of the look that decided it
    assert [len(look.lines) for look in looks] == [2] + [1] * (len(looks) - 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_rounds": None}, "needs a budget"),
        ({"max_rounds": 1}, "must be at least 2"),
        ({"max_rounds": 2}, "2 rounds are there, and the budget does not allow one more"),
        ({"max_cost": 0.0}, "must be more than 0"),
        ({"max_cost": 5.0}, "needs the price of dice:good"),
        ({"policy": GatePolicy(over="problems")}, "takes more problems"),
        ({"policy": GatePolicy(metrics={"maj@2": MetricRule()})}, "pass@k and pass"),
        (
            {"policy": GatePolicy(tasks={"other": TaskRule(tier="required")})},
            "would not change that",
        ),
    ],
)
def test_what_cannot_be_settled_is_refused_before_anything_is_asked(
    same: tuple[Path, Path], options: dict[str, Any], message: str
) -> None:
    before = Dice.answers
    with pytest.raises(InvalidInput, match=message):
        request(*same, **options).prepare()
    assert Dice.answers == before


def test_data_that_allow_no_claim_are_not_topped_up(tmp_path: Path) -> None:
    """More trials of a service that copies answers would settle nothing."""
    sides = ask(tmp_path / "base", "good", 8), ask(tmp_path / "new", "good", 8, kind="copier")
    before = Dice.answers
    with pytest.raises(InvalidInput, match=r"NEW: .*too narrow.* nothing was asked"):
        request(*sides, max_rounds=16).prepare()
    assert Dice.answers == before
    accepted = GatePolicy(tolerance=0.08, accept=("copied-trials",))
    assert request(*sides, max_rounds=16, policy=accepted).prepare().plan.before == 8


def test_a_table_or_a_changed_scorer_cannot_be_topped_up(
    same: tuple[Path, Path], tmp_path: Path
) -> None:
    table = tmp_path / "new.csv"
    table.write_text("problem,score\n" + "".join(f"p{i},{i % 2}\n" * 2 for i in range(40)))
    with pytest.raises(InvalidInput, match="is no run directory"):
        request(same[0], table).prepare()
    with Trials(same[0]) as trials:
        run = trials.run()
        assert recorded_task(trials, run).load(None) == list(task().load(None))
        record = replace(run.scorers[0], identity="older")
        with pytest.raises(InvalidInput, match="has changed since"):
            recorded_task(trials, replace(run, scorers=(record,)))
        with pytest.raises(InvalidInput, match="is code of the task"):
            recorded_task(trials, replace(run, scorers=(replace(record, spec=None),)))
        inspect = {**run.config, "task": {"inspect": {}}}
        with pytest.raises(InvalidInput, match="task of Inspect"):
            recorded_task(trials, replace(run, config=inspect))
