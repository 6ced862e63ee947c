"""The endpoints as Scorebook 0.0.20 and Trismik 1.0.8 use them, unmodified, from a process."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband.adaptive.bank import read_bank
from passband.adaptive.server.listen import DESIGN
from passband.adaptive.test import AdaptiveTest
from support.servers.serving import serving, write_bank_file

pytestmark = pytest.mark.process
DRIVER = Path(__file__).resolve().parents[2] / "support/servers/unmodified_clients.py"
ITEMS = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def results(folder: Path) -> dict[str, Any]:
    """Return what every call of the clients gave."""
    banks = [write_bank_file(folder / f"{name}.jsonl") for name in ("sums", "more")]
    banks.append(write_bank_file(folder / "texts.jsonl", open_ended=True))
    with serving(*banks, "--state", folder / "state", "--max-items", ITEMS) as server:
        variables = {
            "TRISMIK_SERVICE_URL": server.address + "/adaptive-testing",
            "TRISMIK_TOKEN_PATH": str(folder / "token"),
            "HOME": str(folder),
        }
        kept = {name: value for name, value in os.environ.items() if name != "TRISMIK_API_KEY"}
        done = subprocess.run(
            [sys.executable, str(DRIVER), server.address],
            env=kept | variables,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        results: dict[str, Any] = json.loads(done.stdout)
        results["uploaded"] = server.ask(
            f"/adaptive-testing/runs/classic/{results['classic'][0]['run_id']}"
        )
        return results


def score_of(folder: Path, *, seed: int = 1, split: str = "test", right: bool = True) -> Any:
    """Return the score that an adaptive test gives to a model that is always right, or wrong."""
    bank = read_bank(folder / "sums.jsonl").of_split(split)
    test = AdaptiveTest(bank, replace(DESIGN, max_items=ITEMS), str(seed))
    while choices := test.next():
        test.answer(choices[0].key, float(right))
    return {"theta": test.theta, "std_error": test.se}


def scores(results: Any) -> list[Any]:
    return [result["score"] for result in results]


def test_scorebook_evaluates_in_both_ways(results: dict[str, Any], folder: Path) -> None:
    assert scores(results["sync"]) == scores(results["async"]) == [score_of(folder)]


def test_splits_and_seeds_reach_the_server(results: dict[str, Any], folder: Path) -> None:
    assert scores(results["validation"]) == [score_of(folder, split="validation")]
    assert scores(results["other seed"]) == [score_of(folder, seed=2)]
    assert score_of(folder, seed=2) != score_of(folder)
    unknown, none = results["splits"]
    assert unknown.endswith("Available splits: ['validation', 'test']")
    assert none.startswith("ScoreBookError: Multiple splits available")


def test_grids_and_lists_of_data_sets_are_evaluated(results: dict[str, Any], folder: Path) -> None:
    expected = [score_of(folder), score_of(folder, right=False)]
    assert scores(results["grid"]) == scores(results["grid async"]) == expected
    several = [result["dataset"] for result in results["several"]]
    assert several == ["sums:adaptive", "more:adaptive"]


def test_items_without_choices_are_graded_here(results: dict[str, Any], folder: Path) -> None:
    assert scores(results["open"]) == [score_of(folder)]  # the parameters are the same


def test_a_run_is_replayed(results: dict[str, Any], folder: Path) -> None:
    first, same, worse, summary = results["replay"]
    assert first["score"] == same["score"] == score_of(folder, seed=4)
    assert worse["score"]["theta"] < 0 < first["score"]["theta"]
    assert len(same["responses"]) == len(summary["dataset"]) == ITEMS
    assert {response["value"] for response in same["responses"]} == {"B"}
    assert results["trismik"] == [["validation", "test"], 80, first["score"]]


def test_logging_in_and_uploading_work(results: dict[str, Any]) -> None:
    assert results["login"] == ["TrismikError", "a-key-of-mine"]
    assert results["logout"] == [True, None]
    assert results["project"]["name"] == "name"
    assert results["classic"][0]["accuracy"] == 0.5
    assert results["uploaded"]["metrics"][0]["value"] == 0.5
    assert [item["goldOutput"] for item in results["uploaded"]["items"]] == ["B", "A"]


def test_refusals_become_the_errors_of_the_client(results: dict[str, Any]) -> None:
    names = [text.partition(":")[0] for text in results["refusals"]]
    assert names == [
        "TrismikNotFoundError",
        "TrismikValidationError",
        "TrismikPayloadTooLargeError",
        "TrismikValidationError",
        "TrismikApiError",
        "TrismikApiError",
        "TrismikValidationError",
    ]
    assert "metadata size must be less than 10KB (10240 bytes)." in results["refusals"][2]
    assert "Unknown item id 'test-x'" in results["refusals"][3]
    assert "has no choice 'Z'" in results["refusals"][4]
