"""`passband metrics` from the outside."""

import json

from passband.generate import providers
from passband.readers import readers
from passband.score import scorers
from support.runs.commands import run


def test_metrics_are_listed_with_their_spelling() -> None:
    done = run("metrics")
    assert (done.code, done.err) == (0, "")
    names = [line.split()[0] for line in done.out.splitlines() if line]
    assert {"pass@K", "pass^K", "avg"} <= set(names)
    assert "exact_match" not in names


def test_json() -> None:
    items = json.loads(run("metrics", "--json").out)
    (item,) = (item for item in items if item["name"] == "pass@K")
    assert item == {"name": "pass@K", "summary": "at least one of k succeeds", "plugin": None}


def test_all_kinds_of_names() -> None:
    kinds = json.loads(run("metrics", "--all", "--json").out)
    names = {kind: {item["name"] for item in items} for kind, items in kinds.items()}
    assert names["metrics"] > {"pass@K", "avg"}
    assert set(scorers) == names["scorers"] > {"exact_match", "math", "bleu"}
    assert names["filters"] > {"extract", "regex"}
    assert names["repeat aggregations"] > {"first", "majority"}
    assert names["interval methods"] > {"auto", "percentile"}
    assert set(providers) == names["providers"] > {"openai", "anthropic", "tiny"}
    assert set(readers) == names["readers"] > {"run directory", "numpy"}
    text = run("metrics", "--all").out
    for kind, items in kinds.items():
        assert kind in text.splitlines()
        assert all(item["summary"] in text and item["summary"] for item in items)
