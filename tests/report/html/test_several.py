"""A comparison as a page: the verdict leads, numbers are those of the findings, texts are text."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from passband.report.html.report import report_page
from passband.report.html.several import compared_charts, compared_part
from passband.report.html.several_text import SeveralText
from passband.summary.compare.models import ComparisonOptions
from passband.summary.findings.several import (
    ComparedFindings,
    compared_findings,
    compared_sources,
)
from passband.summary.findings.sources import read_findings
from support.samples.stores import filled

EVIL = "</script><img src=x onerror=alert(1)>"


def wins(seed: int, rate: float, problems: int = 40) -> list[list[float]]:
    return (np.random.default_rng(seed).random((problems, 4)) < rate).astype(float).tolist()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("several")
    rates = {"low": 0.3, "high": 0.8, "alike": 0.33}
    made = {
        name: filled(folder / name, wins(seed, rate), model=name)
        for seed, (name, rate) in enumerate(rates.items())
    }
    made["evil"] = filled(folder / "evil", wins(9, 0.9), model=EVIL)
    return made


def found(runs: dict[str, Path], *names: str, margin: float | None = None) -> ComparedFindings:
    return compared_findings([runs[name] for name in names], ComparisonOptions(margin=margin))


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page.replace("</b>", "")).split())


def test_the_verdict_leads_with_the_difference_and_its_ends(runs: dict[str, Path]) -> None:
    findings = found(runs, "low", "high")
    several = SeveralText(findings)
    first = findings.tasks[0].first.comparison
    assert first is not None
    assert first.low is not None
    assert first.high is not None
    number, unit = several.lead_number() or ("", "")
    assert (number, unit) == (f"+{100 * first.value:.1f}", "points")
    lead = "".join(several.lead())
    ends = f"between {100 * first.low:.1f} and {100 * first.high:.1f}"
    assert lead.startswith(f"high solves {100 * first.value:.1f} points more than low, {ends}. ")
    assert "high is better than low." in lead
    assert lead in text_of(compared_part(findings).body)


def test_an_open_verdict_says_so_and_what_would_settle_it(runs: dict[str, Path]) -> None:
    lead = "".join(SeveralText(found(runs, "low", "alike", margin=0.02)).lead())
    assert "the difference is between −" in lead
    assert "For problems like these: undecided. " in lead
    assert re.search(r"To settle it \(.*\) with a chance of 80 %.*: about \d+ more", lead)


def test_the_tolerance_is_a_stripe_and_no_colour_goes_by_sign(runs: dict[str, Path]) -> None:
    plain = SeveralText(found(runs, "low", "high")).forest()
    striped = SeveralText(found(runs, "low", "high", margin=0.1)).forest()
    assert plain.tolerance is None
    assert striped.tolerance == (-0.1, 0.1)
    turned = SeveralText(found(runs, "high", "low")).forest()
    assert {bar.hue for chart in (plain, turned) for bar in chart.bars} == {"blue"}
    assert [bar.words for bar in turned.bars] == ["worse"] * 3
    assert all(bar.outer and bar.inner for bar in plain.bars)


def test_flipped_problems_have_both_stacks_and_an_honest_word(runs: dict[str, Path]) -> None:
    part = compared_part(found(runs, "low", "high"), first=2)
    assert '<a href="#panel-2" data-run="2" data-problem="0"' in part.body
    assert '<div class="panel" id="panel-2" hidden>' in part.body
    assert "0 of 4" in part.body
    assert "4 of 4" in part.body
    assert "The extremes of many problems are partly luck" in part.body
    (payload,) = part.payload
    problem = payload["problems"][0]
    assert [side["name"] for side in problem["sides"]] == ["low", "high"]
    assert [len(side["trials"]) for side in problem["sides"]] == [4, 4]


def test_three_models_have_rank_intervals_and_no_ranks_as_numbers(runs: dict[str, Path]) -> None:
    findings = found(runs, "low", "high", "alike")
    several = SeveralText(findings)
    assert "".join(several.lead()).startswith("high is the best of 3 models by pass@1, ")
    forest, ranks = compared_charts(findings)
    assert [bar.label for bar in forest.bars] == [  # type: ignore[attr-defined]
        "high − alike", "high − low", "alike − low",
    ]  # fmt: skip
    assert [rank.text for rank in ranks.ranks] == ["1", "2 to 3", "2 to 3"]  # type: ignore[attr-defined]
    assert "hold for all pairs at once" in several.differences_caption()


def test_every_run_follows_the_comparison(runs: dict[str, Path]) -> None:
    paths = [runs["low"], runs["high"]]
    page = report_page(read_findings(paths), compared=compared_findings(paths, ComparisonOptions()))
    assert page.index("Flipped problems") < page.index("Each run") < page.index('id="run-2"')
    assert "<title>high against low on sums</title>" in page
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert data is not None
    assert len(json.loads(data.group(1))["runs"]) == 3


def test_names_from_right_to_left_turn_no_sentence_and_no_difference(tmp_path: Path) -> None:
    names = ["שלום", "עולם", "c"]
    sources = [filled(tmp_path / str(at), wins(at, 0.5), model=n) for at, n in enumerate(names)]
    findings = compared_findings(sources, ComparisonOptions())
    part = compared_part(findings)
    assert "<bdi>שלום</bdi>" in part.header
    assert not re.search('<(h1|p|li)[^>]*dir="auto"', part.header + part.body)
    labels = [bar.label for bar in SeveralText(findings).forest().bars]
    assert all("\u2068" in label and not label.startswith(tuple(names[:2])) for label in labels)


def test_a_page_names_sources_without_their_folders(runs: dict[str, Path]) -> None:
    sources = [runs["low"], runs["high"]]
    read = read_findings(sources)
    page = report_page(read, compared=compared_sources(sources, read, ComparisonOptions()))
    assert str(sources[0].parent) not in page
    assert "low: run directory: " in page


def test_graded_scores_differ_by_no_points(tmp_path: Path) -> None:
    sources = [
        filled(tmp_path / name, [[rate, 0.5]] * 9 + [[rate / 2, 1]] * 9, model=name)
        for name, rate in (("a", 0.25), ("b", 0.75))
    ]
    part = compared_part(compared_findings(sources, ComparisonOptions()))
    assert "The mean score of b is 0." in part.body
    assert "points" not in part.body


def test_names_are_text_wherever_they_appear(runs: dict[str, Path]) -> None:
    paths = [runs["low"], runs["evil"], runs["high"]]
    for chosen in (paths[:2], paths):
        page = report_page(
            read_findings(chosen), compared=compared_findings(chosen, ComparisonOptions())
        )
        assert "<img" not in page
        assert "&lt;/script&gt;&lt;img" in page
