"""Summarise adaptive tests: ability, bank accuracy and path, or what a test server computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from passband.adaptive import AdaptiveTest, RecordedTest, Step, read_recorded
from passband.errors import InvalidInput
from passband.notes import Note, plural
from passband.stats.data import Evidence, Finding
from passband.stats.interval import Estimate, weighed
from passband.stats.irt import MODEL_ACCURACY, BankAccuracy
from passband.summary.summary import AdaptiveResult, Group, Line, Request
from passband.trials import RunRecord, ScorerRecord, Trials

ADAPTIVE_ITEMS = Note(
    "no-estimate-adaptive",
    "the items of an adaptive test are chosen for what they tell about ability, so averages over "
    "them estimate nothing; see theta and bank accuracy",
)
ADAPTIVE_RESCORED = Note(
    "adaptive-rescored",
    "these scores would have led to other items; theta is of the items that were asked",
)
ADAPTIVE_UNFINISHED = Note("adaptive-unfinished", "the test is unfinished: no stop rule is met yet")
_STOPS = {
    "se": "theta is known well enough",
    "stability": "theta is stable",
    "max_items": "the maximum number of items is reached",
    "budget": "the trial budget is spent",
    "bank is exhausted": "the bank is exhausted",
}


def remote_group(
    trials: Trials, run: RunRecord, scorer: ScorerRecord, request: Request, by: Mapping[str, str]
) -> Group:
    """Return the counts of a server's test and its final ability."""
    test: Mapping[str, Any] = run.adaptive or {}
    if "theta" not in test:
        raise InvalidInput(
            f"{run.task}: the test on {test.get('server')} broke off, and the server alone knows "
            "its ability. Evaluate again."
        )
    statuses = trials.statuses(run.number)
    count = len(test["responses"])
    named = [Line(name, scorer.name, None, ADAPTIVE_ITEMS) for name in request.metrics]
    return Group(
        task=run.task,
        model=run.model,
        by=dict(by),
        n_problems=count,
        n_trials=count,
        statuses=statuses,
        is_binary=False,
        trials_per_problem=(1, 1),
        retried=trials.retried(run.number),
        notes=(adaptive_remote(count, test["server"]),),
        lines=tuple(named) or (Line("theta", scorer.name, _theta(test, request, count)),),
        adaptive=_remote_result(test, count),
    )


def _theta(test: Mapping[str, Any], request: Request, count: int) -> Estimate:
    from scipy.special import ndtri

    reach = float(ndtri(0.5 + request.level / 2)) * test["std_error"]
    return Estimate(
        metric="theta",
        value=test["theta"],
        low=test["theta"] - reach,
        high=test["theta"] + reach,
        se=test["std_error"],
        method="server",
        level=request.level,
        over="problems",
        n_problems=count,
        n_trials=count,
        left_out=0,
        n_unscored=0,
        policy=request.policy,
        seed=None,
        notes=(),
    )


def _remote_result(test: Mapping[str, Any], count: int) -> AdaptiveResult:
    """Return the test as the server reports it; its path is in the reasons of its trials."""
    return AdaptiveResult(
        bank=test["dataset"],
        hash="",
        split=test["split"],
        model="server",
        n_bank=count,
        stop="ended by the server",
    )


def adaptive_group(
    trials: Trials, run: RunRecord, scorer: ScorerRecord, request: Request, by: Mapping[str, str]
) -> Group:
    """Return the counts of an adaptive test, its ability and the accuracy of its bank.

    Metrics by name have a reason instead of a value: they would average over chosen items.
    """
    _refuse_other_intervals(run, request)
    if run.adaptive is not None and "server" in run.adaptive:
        return remote_group(trials, run, scorer, request, by)
    recorded = read_recorded(trials, run, scorer, request.level)
    _refuse_unscored(run, recorded.n_unscored, request)
    test = recorded.test
    named = [Line(name, scorer.name, None, ADAPTIVE_ITEMS) for name in request.metrics]
    counts = [step.trials for step in test.history] or [0]
    return Group(
        task=run.task,
        model=run.label,
        by=dict(by),
        n_problems=len(test.history),
        n_trials=recorded.n_trials,
        statuses=_statuses(trials, run, recorded),
        is_binary=False,
        trials_per_problem=(min(counts), max(counts)),
        retried=trials.retried(run.number),
        notes=tuple(_notes(recorded)),
        lines=tuple(named or _lines(recorded, request, scorer.name)),
        adaptive=_test_result(recorded),
    )


def _lines(recorded: RecordedTest, request: Request, scorer: str) -> Iterator[Line]:
    """Yield ability, and the expected accuracy on the whole bank by each road that there is."""
    test = recorded.test
    ability = test.ability()
    fields: dict[str, Any] = {name: getattr(ability, name) for name in ("low", "high", "se")}
    fields |= {"value": ability.theta, "method": ability.method, "notes": ability.notes}
    counts_asked = _counts(test, test.history)
    yield _line("theta", fields, counts_asked, request, scorer)
    yield _model_line(test, counts_asked, request, scorer)
    drawn = test.random_accuracy()
    if drawn is not None:
        counts = _counts(test, test.random_steps)
        yield _line("bank accuracy (random items)", _numbers(drawn), counts, request, scorer)


def _model_line(test: AdaptiveTest, asked: dict[str, int], request: Request, scorer: str) -> Line:
    """Return the accuracy through the model; its interval only where the model is accepted."""
    accuracy = test.accuracy()
    rest = tuple(note for note in accuracy.notes if note != MODEL_ACCURACY)
    line = _line("bank accuracy", {**_numbers(accuracy), "notes": rest}, asked, request, scorer)
    assert line.estimate is not None
    by_model = Finding(MODEL_ACCURACY.code, "invalid", MODEL_ACCURACY.text)
    evidence = Evidence((by_model,)).accepting(request.accept)
    return replace(line, estimate=weighed(line.estimate, 1, evidence))


def _numbers(accuracy: BankAccuracy) -> dict[str, Any]:
    names = ("value", "low", "high", "se", "method", "notes")
    return {name: getattr(accuracy, name) for name in names}


def _counts(test: AdaptiveTest, steps: Sequence[Step]) -> dict[str, int]:
    """Return the items with a score, their trials with one, and the trials without."""
    scored = [step.trials for step in steps if step.score is not None]
    return {
        "n_problems": len(scored),
        "n_trials": sum(scored),
        "n_unscored": len(steps) * test.design.trials - sum(scored),
    }


def _refuse_other_intervals(run: RunRecord, request: Request) -> None:
    for option, value, usual in (
        ("over", request.over, "problems"),
        ("method", request.method, "auto"),
        ("stopped_after", request.stopped_after, None),
    ):
        if value != usual:
            raise InvalidInput(
                f"{run.task} is an adaptive test, whose intervals are those of ability and of the "
                f"bank; {option}={value!r} (in the shell, --{option.replace('_', '-')}) does not "
                "apply."
            )


def _refuse_unscored(run: RunRecord, unscored: int, request: Request) -> None:
    """Refuse to count trials without a score as 0, or to leave them out where none may be."""
    if request.policy == "fail":
        raise InvalidInput(
            f"{run.task} is an adaptive test: a trial without a score said nothing about ability "
            "when the next item was chosen, and cannot count as 0 later; policy='fail' (in the "
            "shell, --policy) does not apply."
        )
    if request.policy == "error" and unscored:
        raise InvalidInput(f"{run.task}: {unscored} trials have no score, and policy is 'error'.")


def _line(
    metric: str, found: dict[str, Any], counts: dict[str, Any], request: Request, scorer: str
) -> Line:
    estimate = Estimate(
        metric=metric,
        **found,
        level=request.level,
        over="problems",
        **counts,
        left_out=0,
        policy=request.policy,
        seed=None,
    )
    return Line(metric, scorer, estimate)


def _statuses(trials: Trials, run: RunRecord, recorded: RecordedTest) -> dict[str, int]:
    """Return trials by status; "ok" are those with a score."""
    statuses = {"ok": 0, **trials.statuses(run.number)}
    unscored = statuses["ok"] - recorded.n_trials
    return {**statuses, "ok": recorded.n_trials, **({"no score": unscored} if unscored else {})}


def _test_result(recorded: RecordedTest) -> AdaptiveResult:
    test = recorded.test
    return AdaptiveResult(
        bank=test.bank.name,
        hash=test.bank.hash,
        split=test.bank.splits[0],
        model=test.bank.model,
        n_bank=len(test.bank.items),
        stop=test.stop if recorded.is_path else None,
        path=tuple(test.history),
    )


def _notes(recorded: RecordedTest) -> Iterator[Note]:
    test = recorded.test
    yield adaptive_test(
        len(test.history), len(test.bank.items), test.bank.name, test.bank.splits[0]
    )
    if not recorded.is_path:
        yield ADAPTIVE_RESCORED
    elif test.stop is None:
        yield ADAPTIVE_UNFINISHED
    else:
        yield adaptive_stop(test.stop, test.se)
    if recorded.n_unscored:
        yield adaptive_unscored(recorded.n_unscored)


def adaptive_test(items: int, bank_items: int, bank: str, split: str) -> Note:
    """Return the note on what an adaptive test has asked.

    >>> print(adaptive_test(12, 200, "arithmetic", "test"))
    adaptive test: 12 of the 200 items of bank arithmetic, split test
    """
    return Note(
        "adaptive-test",
        f"adaptive test: {items} of the {plural(bank_items, 'item')} of bank {bank}, split {split}",
    )


def adaptive_stop(stop: str, se: float) -> Note:
    """Return the note on what ended an adaptive test.

    >>> print(adaptive_stop("se", 0.29))
    stopped: theta is known well enough; standard error 0.29
    """
    return Note("adaptive-stop", f"stopped: {_STOPS.get(stop, stop)}; standard error {se:.2f}")


def adaptive_remote(items: int, server: str) -> Note:
    """Return the note on a test whose items a server has chosen.

    >>> print(adaptive_remote(60, "http://localhost:8411"))
    adaptive test: 60 items, chosen by http://localhost:8411, which has computed theta too; the \
interval is theta and its standard error, taken as normal
    """
    return Note(
        "adaptive-remote",
        f"adaptive test: {plural(items, 'item')}, chosen by {server}, which has computed theta "
        "too; the interval is theta and its standard error, taken as normal",
    )


def adaptive_unscored(trials: int) -> Note:
    """Return the note on trials of an adaptive test without a score."""
    return Note(
        "adaptive-unscored",
        f"{plural(trials, 'trial')} without a score, which say nothing about ability here",
    )
