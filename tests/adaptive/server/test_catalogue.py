"""Data sets: what clients are told of a bank, and what they are not."""

from pathlib import Path

import pytest

from passband.adaptive.server.body import Refusal
from passband.adaptive.server.catalogue import Catalogue, item_json
from passband.errors import InvalidInput
from support.servers.serving import DESIGN, sums

DATACARD = {
    "task", "license", "version", "datasetHf", "languages", "datasetUrl", "itemsCount",
    "splitsUsed", "datasetName", "description", "exampleItem", "originalReadmeUrl",
    "originalReadmeDownloadedAt", "originalItemCount", "difficultyEstimators",
}  # fmt: skip


def test_a_datacard_has_every_field_that_clients_need(tmp_path: Path) -> None:
    dataset = Catalogue([sums(tmp_path)], DESIGN).dataset("sums:adaptive")
    info = dataset.info()
    assert info["datacard"].keys() >= DATACARD
    assert info["datacard"]["version"] == {"year": 0, "month": 0, "revision": 0}
    assert info["splits"] == info["datacard"]["splitsUsed"] == ["validation", "test"]
    assert dataset.entry().items() <= info.items()


def test_an_item_is_shown_without_what_is_right(tmp_path: Path) -> None:
    item = sums(tmp_path).item("test-3")
    assert item_json(item) == {
        "id": "test-3",
        "question": "What is 3 + 17?",
        "choices": [{"id": i, "value": v} for i, v in (("A", "19"), ("B", "20"), ("C", "21"))],
    }
    assert item_json(sums(tmp_path, "open", open_ended=True).item("test-3"))["choices"] is None


def test_a_split_has_its_own_items_only(tmp_path: Path) -> None:
    dataset = Catalogue([sums(tmp_path)], DESIGN).dataset("sums")
    keys = {name: set(dataset.split(name).bank.position) for name in ("validation", "test")}
    assert not keys["validation"] & keys["test"]
    with pytest.raises(Refusal, match="It has validation, test"):
        dataset.split("train")


def test_what_cannot_be_served_is_refused_at_the_start(tmp_path: Path) -> None:
    bank = sums(tmp_path)
    with pytest.raises(InvalidInput, match="two banks are named 'sums'"):
        Catalogue([bank, bank], DESIGN)
    with pytest.raises(InvalidInput, match="at least one bank"):
        Catalogue([], DESIGN)
    for name in ("bleu", "ter"):
        wide = sums(tmp_path, name, open_ended=True, scorer={"name": name})
        with pytest.raises(InvalidInput, match="a test needs scores from 0 to 1, best at 1"):
            Catalogue([wide], DESIGN)
