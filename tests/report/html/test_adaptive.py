"""An adaptive test on a page: ability leads, items have reasons, numbers are the summary's."""

from pathlib import Path

import pytest

from passband import summarize
from passband.report.html.adaptive import ability_chart
from passband.report.html.report import charts_by_folder, report_page
from passband.report.html.run_text import RunText
from passband.stats.interval.default.wilson import normal_quantile
from passband.summary.findings.findings import SourceFindings
from passband.summary.findings.sources import read_findings
from support.runs.commands import run
from support.samples.stores import filled


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("adaptive") / "run"
    assert run("run", "arithmetic:adaptive", "--model", "tiny", "--out", path).code == 0
    return path


@pytest.fixture(scope="module")
def found(directory: Path) -> list[SourceFindings]:
    return read_findings([directory])


def test_the_path_is_that_of_the_summary(directory: Path, found: list[SourceFindings]) -> None:
    result = summarize(directory).groups[0].adaptive
    assert result is not None
    chart = ability_chart(RunText(found[0].runs[0]))
    assert chart is not None
    assert [one.theta for one in chart.steps] == [step.theta for step in result.path]
    last, step = chart.steps[-1], result.path[-1]
    assert last.low == pytest.approx(step.theta - normal_quantile(0.95) * step.se)
    assert last.high == pytest.approx(step.theta + normal_quantile(0.95) * step.se)
    assert chart in charts_by_folder(found)[""]


def test_ability_leads_and_each_item_has_its_reason(
    directory: Path, found: list[SourceFindings]
) -> None:
    page = report_page(found)
    (result,) = (group.adaptive for group in summarize(directory).groups)
    assert result is not None
    assert "is the model&#x27;s ability" in page or "is the model's ability" in page
    assert f"Of all {result.n_bank} items of the bank it would solve" in page
    assert "Stopped: theta is known well enough" in page
    assert all(step.reason in page and step.key in page for step in result.path)
    assert "problems like these" not in page


def test_another_run_has_no_path(tmp_path: Path) -> None:
    (source,) = read_findings([filled(tmp_path / "run", [[1.0, 0.0]] * 4)])
    assert ability_chart(RunText(source.runs[0])) is None
