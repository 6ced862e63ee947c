"""Prices, and when to stop asking."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.run.budget import Budget, NoTokenCounts, find_price, price_files
from passband.run.task_run import Counters, Price
from passband.trials.rows import TrialRow
from support.runs.runs import Bench, sums
from support.servers.fault_server import FaultServer

PRICE = Price(1e6, 2e6)  # one for a token in, two for a token out


def row(prompt: int | None, completion: int | None, status: Any = "ok") -> TrialRow:
    return TrialRow(0, 0, status, prompt_tokens=prompt, completion_tokens=completion)


def task_run(prompt: int, completion: int, done: int) -> Any:
    counters = Counters(1, 100, None, prompt_tokens=prompt, completion_tokens=completion, done=done)
    return SimpleNamespace(counters=counters)


def test_a_limit_without_a_price_is_refused() -> None:
    with pytest.raises(InvalidInput, match="needs the price"):
        Budget(None, 1.0)
    assert Budget(None, None).spent([task_run(5, 5, 1)]) is None


def test_what_is_spent_is_the_price_of_the_tokens() -> None:
    assert Budget(PRICE, None).spent([task_run(5, 1, 1), task_run(0, 3, 1)]) == 5 + 2 + 6


def test_without_a_limit_everything_goes() -> None:
    budget = Budget(PRICE, None)
    budget.add([row(10**9, 10**9)])
    assert budget.verdict(10**6, 16) == "go"


def test_before_anything_is_known_one_request_goes_alone() -> None:
    budget = Budget(PRICE, 100.0)
    assert budget.verdict(0, 16) == "go"
    assert budget.verdict(16, 16) == "wait"


def test_a_shard_without_a_lease_waits_until_it_has_one_and_the_cost_is_known() -> None:
    budget = Budget(PRICE, 0.0, may_grow=True)
    assert budget.verdict(0, 1) == "wait"
    assert 0 < budget.wanted < 1e-9
    budget.grant(30.0, may_grow=True, known=10.0)
    assert (budget.wanted, budget.trial) == (0.0, 10.0)
    assert [budget.verdict(under_way, 1) for under_way in (0, 2, 3)] == ["go", "go", "wait"]
    budget.add([row(8, 6)])  # 20, more than was known
    assert budget.trial == 20.0
    assert budget.verdict(0, 1) == "wait"
    assert budget.wanted == 10.0
    budget.grant(30.0, may_grow=False)
    assert budget.verdict(0, 1) == "stop"


def test_what_is_under_way_counts_as_much_as_the_dearest() -> None:
    budget = Budget(PRICE, 100.0)
    budget.add([row(4, 1), row(4, 1), row(8, 1)])  # 6, 6 and 10
    assert budget.verdict(6, 1) == "go"  # 22 and 7 of 10
    assert budget.verdict(7, 1) == "wait"
    assert budget.verdict(0, 8) == "stop"


def test_what_was_spent_before_counts() -> None:
    budget = Budget(PRICE, 100.0)
    budget.begin([task_run(80, 10, 10)])
    assert budget.verdict(0, 1) == "stop"
    assert budget.verdict(1, 1) == "wait"


def test_a_model_that_costs_nothing_has_no_limit() -> None:
    budget = Budget(Price(0.0, 0.0), 1.0)
    budget.add([row(None, None)])
    assert budget.verdict(64, 16) == "go"


def test_answers_without_counts_cannot_be_limited() -> None:
    budget = Budget(PRICE, 100.0)
    budget.add([row(None, None, "refused"), row(None, None, "invalid"), row(3, None)])
    assert budget.verdict(0, 1) == "go"
    budget.add([row(None, None)])
    with pytest.raises(NoTokenCounts, match="--max-cost cannot be kept"):
        budget.verdict(0, 1)


def spent(bench: Bench) -> int:
    return sum((row.prompt_tokens or 0) + (row.completion_tokens or 0) for row in bench.rows)


@pytest.mark.parametrize(("concurrency", "batch"), [(1, 1), (8, 1), (4, 4)])
def test_a_run_stops_before_the_limit(bench: Bench, concurrency: int, batch: int) -> None:
    limit = 1000.0  # of answers that cost about 19
    price, each = Price(1e6, 1e6), 4 + 20
    options: dict[str, Any] = {"n": 4, "concurrency": concurrency, "batch": batch, "price": price}
    with FaultServer() as server:
        ended = bench.run(server, sums(40), max_cost=limit, **options)
        assert ended.ending == "max_cost"
        assert ended.cost == spent(bench)
        assert limit - (batch + 1) * each < spent(bench) <= limit
        again = bench.run(server, sums(40), max_cost=10 * limit, **options)
        assert again.ending == "finished"
        before = len(server.requests)
        done = bench.run(server, sums(40), max_cost=limit, **options)  # nothing is left to ask
        assert done.ending == "finished"
        assert len(server.requests) == before


# --- price files -----------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(
        "gpt: {prompt: 1, completion: 2}\norg/large: {prompt: 3, completion: 4}\n"
        "'openai:exact': {prompt: 5, completion: 6}\n"
    )
    return path


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("openai:gpt", Price(1, 2)),
        ("gpt", Price(1, 2)),
        ("openai:some/gpt", Price(1, 2)),
        ("openai:org/large", Price(3, 4)),
        ("openai:exact", Price(5, 6)),
        ("tiny", Price(0, 0)),
        ("python:m:f", Price(0, 0)),
    ],
)
def test_a_price_is_found_by_name(file: Path, model: str, price: Price) -> None:
    assert find_price(model, file) == price


def test_a_name_that_is_not_in_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="Did you mean 'gpt'"):
        find_price("openai:gtp", file)
    monkeypatch.setenv("PASSBAND_PRICES", str(file))
    assert find_price("openai:gtp") is None
    assert find_price("openai:gpt") == Price(1, 2)


def test_files_are_looked_for_here_and_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    home = tmp_path / "home"
    (home / "passband").mkdir(parents=True)
    (home / "passband" / "prices.yaml").write_text("own: {prompt: 7, completion: 8}\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    assert [path.name for path in price_files()] == ["prices.yaml"] * 2
    assert find_price("openai:gpt") == Price(1, 2)
    assert find_price("openai:own") == Price(7, 8)
    assert find_price("openai:none") is None


@pytest.mark.parametrize(
    "text",
    ["gpt: 5", "- gpt", "gpt: {prompt: 1}", "gpt: {prompt: x, completion: 1}", "{", "gpt: null",
     "!!python/object/apply:os.system ['true']"],
)  # fmt: skip
def test_a_file_that_is_wrong(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=r"a price is \{input: 0.15"):
        find_price("openai:gpt", path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file"):
        find_price("openai:gpt", tmp_path / "none.yaml")


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("")
    with pytest.raises(InvalidInput, match="has no price for 'gpt'"):
        find_price("openai:gpt", path)


def test_what_was_refused_tells_nothing_of_the_price() -> None:
    budget = Budget(PRICE, 100.0)
    budget.add([row(None, None, "refused")])
    assert budget.verdict(1, 1) == "wait"
    assert budget.verdict(0, 1) == "go"


def test_a_limit_is_more_than_nothing() -> None:
    with pytest.raises(InvalidInput, match="--max-cost must be more than 0"):
        Budget(PRICE, -1.0)


def test_money_that_is_exactly_enough_is_enough() -> None:
    """120 trials at 0.02 cost 2.4, though the floats add up to more."""
    price = Price(0.0, 10.0)
    budget = Budget(price, 2.4)
    asked = 0
    while budget.verdict(0, 1) == "go":
        budget.add([row(0, 2000)])
        asked += 1
    assert asked == 120
    assert sum([0.02] * 120) > 2.4


def test_a_run_spends_what_its_smaller_last_requests_need(bench: Bench) -> None:
    """Requests may ask for 16 completions, and the last ones ask for 2: room for 2 is enough."""
    each = 4 + 20
    options: dict[str, Any] = {"n": 2, "concurrency": 1, "batch": 16, "price": Price(1e6, 1e6)}
    with FaultServer() as server:
        assert bench.run(server, sums(6), max_cost=12.0 * each, **options).ending == "finished"
