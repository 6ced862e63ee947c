"""Prices of the package genai-prices, itself; and what is said where it is not installed."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.generate.provider import Completion, Provider, Request
from passband.generate.registry import register_provider
from passband.report.dry_run import dry_run_lines
from passband.run.budget import find_price
from passband.run.genai_prices import GENAI, genai_price, suggested_price
from passband.run.request import RunRequest, make_request
from passband.run.rescore.prices import price_run
from passband.summary.from_sources import summarize
from passband.trials.reader import Trials
from support.runs.runs import Notes, sums

FILE = Path(GENAI)
HOME = "https://api.openai.com/v1"
needs_package = pytest.mark.skipif(
    find_spec("genai_prices") is None, reason="genai-prices is not installed"
)


class Stated(Provider):
    """A model that counts 1,000 tokens in and 100 out, wherever it is said to be."""

    batch = 1
    address = HOME

    async def generate(self, request: Request) -> list[Completion]:
        return [Completion("1", prompt_tokens=1_000, completion_tokens=100)]

    async def close(self) -> None: ...


@pytest.fixture(autouse=True, scope="module")
def _stated() -> None:
    register_provider("stated")(lambda model, connection: Stated())


@pytest.fixture(autouse=True)
def _no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSBAND_PRICES", str(tmp_path / "none.yaml"))
    for service in ("OPENAI", "ANTHROPIC", "GOOGLE_GEMINI"):
        monkeypatch.delenv(f"{service}_BASE_URL", raising=False)


def request(out: Path, prices: Path | None = None) -> RunRequest:
    return make_request(
        [sums(3)], "stated:gpt-4o-mini", base_url=HOME, n=2, out=out, prices=prices
    )  # fmt: skip


def test_without_the_package_nothing_is_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passband.run.genai_prices._PACKAGE", "a-package-that-nobody-has")
    assert suggested_price("openai:gpt-4o-mini", ()) is None
    with pytest.raises(InvalidInput, match=r"pip install 'passband\[prices\]'"):
        find_price("openai:gpt-4o-mini", FILE)


@needs_package
def test_a_run_without_a_price_says_what_it_would_cost_and_keeps_none(tmp_path: Path) -> None:
    price = genai_price("openai:gpt-4o-mini")
    plain, watcher = request(tmp_path / "run"), Notes()
    assert plain.price is None
    (line,) = [line for line in dry_run_lines(plain.dry_run()) if line.startswith("cost")]
    finished = plain.run(watcher)
    assert finished.cost is None
    cost = 6 * price.of(1_000, 100)
    (note,) = [note for note in watcher.notes if "genai-prices" in note]
    assert f"about {cost:.2g}, at {price.prompt:g},{price.completion:g} per million" in note
    for text in (line, note):
        assert "data of 20" in text
        assert "openai gpt-4o-mini" in text
        assert "--prices genai" in text
    with Trials(tmp_path / "run") as trials:
        assert not trials.is_priced(trials.run().number)


@needs_package
@pytest.mark.parametrize("afterwards", [False, True])
def test_prices_genai_records_where_the_price_is_from(tmp_path: Path, afterwards: bool) -> None:
    price = genai_price("openai:gpt-4o-mini")
    request(tmp_path / "run", None if afterwards else FILE).run(Notes())
    if afterwards:
        assert price_run(tmp_path / "run", FILE)[0].added == 6
    request(tmp_path / "run").run(Notes())  # without the option: what is recorded stays
    with Trials(tmp_path / "run") as trials:
        assert trials.cost(trials.run().number) == pytest.approx(6 * price.of(1_000, 100))
        assert trials.run().config["price"] == {
            "input": price.prompt, "output": price.completion, "source": price.source
        }  # fmt: skip
    remarks = " ".join(str(one) for one in summarize(tmp_path / "run").remarks)
    assert f"(prices of {price.source})" in remarks


@needs_package
def test_base_rates_are_said_to_be_for_short_requests() -> None:
    price = genai_price("google:gemini-2.5-pro")
    assert 0 < price.prompt < price.completion
    assert "requests of up to 200000 tokens" in price.source


@needs_package
@pytest.mark.parametrize(
    ("model", "urls", "message"),
    [
        ("openai:gpt-4o-mni", (), "Did you mean 'gpt-4o-mini'"),
        ("gpt-4o", ["https://openrouter.ai/api/v1"], "Did you mean 'openai/gpt-4o'"),
        ("policy", ["http://localhost:8000/v1"], "no service at http://localhost:8000/v1"),
        ("stated:gpt-4o", (), "no service 'gpt-4o'"),
    ],
)
def test_a_model_that_it_does_not_have_is_refused(
    model: str, urls: list[str], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        find_price(model, FILE, urls)


@needs_package
def test_addresses_of_different_prices_are_refused() -> None:
    urls = ["https://openrouter.ai/api/v1", "https://api.novita.ai/v3/openai"]
    with pytest.raises(InvalidInput, match=r"several prices for .* of openrouter and novita"):
        genai_price("meta-llama/Llama-3.1-8B-Instruct", urls)
