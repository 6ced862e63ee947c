"""Which way is better: every verb turns with the scores, whichever way they are read.

The same data twice, once with higher scores better and once mirrored, with lower ones.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from passband import (
    InvalidInput,
    Outcomes,
    Scale,
    compare,
    compare_all,
    estimate,
    measure,
    rank_models,
    read,
    summarize,
)
from passband.errors import UnknownName
from passband.score.registry import register_scorer, scorers
from passband.summary.compare.compare import compare_sources
from passband.summary.compare.models import ComparisonOptions
from passband.summary.eva.summarize import metrics_summary
from passband.view.links import Links
from passband.view.page_context import RunPage
from passband.view.pages.comparison import Side, comparison_page
from support.runs.commands import run
from support.runs.scripted import SEED, Script, write_task
from support.samples.tool_logs import lm_eval_line, lm_eval_results, write_json, write_lines

pytestmark = pytest.mark.filterwarnings("ignore:.*no score")
PROBLEMS, TRIALS = 24, 4
DATE = "2026-01-31T12-00-00.123456"
LOWER = Scale(lower_is_better=True)
Scores = Sequence[Sequence[float]]


def eighths(best: float, seed: int) -> list[list[float]]:
    """Scores whose mirrored ones are exact: the further from `best`, the rarer."""
    draws = np.random.default_rng(seed).binomial(8, best, (PROBLEMS, TRIALS))
    return (draws / 8).tolist()


MODELS: Mapping[str, Scores] = {"poor": eighths(0.35, 1), "fair": eighths(0.5, 2),
                                "good": eighths(0.75, 3)}  # fmt: skip


@dataclass(frozen=True)
class Made:
    """The scores of each model where a road has put them, and what a command must be told."""

    sources: Mapping[str, str]
    name: str
    falls: bool
    flags: tuple[str, ...] = ()

    @property
    def scales(self) -> dict[str, Scale]:
        return {self.name: LOWER} if self.flags else {}

    def command(self, verb: str, *models: str, **options: str) -> Any:
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        return run(verb, *(self.sources[model] for model in models), *words, *self.flags)

    def printed(self, verb: str, *models: str, **options: str) -> Any:
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        sources = [self.sources[model] for model in models]
        done = run(verb, *sources, *words, *self.flags, "--json")
        assert done.code in (0, 3, 4), done.err
        return json.loads(done.out)


def mirrored(scores: Scores) -> list[list[float]]:
    return [[1.0 - score for score in row] for row in scores]


# -- roads -----------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def scorers_of_numbers() -> Iterator[None]:
    register_scorer("gain", bounds=(0.0, 1.0))(lambda answer, target: float(answer))
    register_scorer("loss", best=0.0, worst=1.0, bounds=(0.0, 1.0))(
        lambda answer, target: float(answer)
    )
    register_scorer("edits", best=0.0, worst=100.0, bounds=(0.0, None))(
        lambda answer, target: float(answer)
    )
    yield
    for name in ("gain", "loss", "edits"):
        scorers.remove(name)


def of_run(folder: Path, model: str, scores: Scores, *, falls: bool) -> Path:
    """Have passband run a task whose scorer states the direction."""
    from passband import simple_evaluate

    keys = [f"p{at:02}" for at in range(PROBLEMS)]
    metric = "loss" if falls else "gain"
    task = write_task(folder, f"- {{metric: {metric}, repeat_aggregation: mean}}",
                      dict.fromkeys(keys, "x"))  # fmt: skip
    answers = {key: [f"{score:g}" for score in row] for key, row in zip(keys, scores, strict=True)}
    script = Script("t", answers)
    simple_evaluate(script, task, num_repeats=TRIALS, seed=SEED, out=folder / model)
    return folder / model


def of_lm_eval(folder: Path, model: str, scores: Scores, *, falls: bool) -> Path:
    """Write samples, and beside them results that state the direction."""
    folder = folder / model
    rows = [
        lm_eval_line(at, [f"{score:g}" for score in row], row[0], exact_match_repeats=row)
        for at, row in enumerate(scores)
    ]
    settings = {"metric_list": [{"metric": "exact_match", "higher_is_better": not falls}]}
    results = lm_eval_results("sums", settings, PROBLEMS)
    results["higher_is_better"] = {"sums": {"exact_match": not falls}}
    results["model_name"] = model
    folder.mkdir(parents=True)
    write_lines(folder / f"samples_sums_{DATE}.jsonl", rows)
    return write_json(folder / f"results_{DATE}.json", results)


def of_table(folder: Path, model: str, scores: Scores, *, falls: bool) -> Path:
    """Write a table, which states nothing."""
    path = folder / f"{model}.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["problem", "trial", "score"])
        for at, row in enumerate(scores):
            writer.writerows([f"p{at:02}", number, score] for number, score in enumerate(row))
    return path


ROADS = {"run": (of_run, "loss"), "lm-eval": (of_lm_eval, "exact_match"),
         "table": (of_table, "score")}  # fmt: skip


@pytest.fixture(scope="module", params=ROADS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same data by one road: with higher scores better, and mirrored."""
    write, name = ROADS[request.param]
    made = []
    for falls in (False, True):
        folder = tmp_path_factory.mktemp(f"{request.param}-{falls}")
        sources = {
            model: str(write(folder, model, mirrored(scores) if falls else scores, falls=falls))
            for model, scores in MODELS.items()
        }
        flags = ("--lower-is-better", name) if falls and request.param == "table" else ()
        made.append(Made(sources, name, falls, flags))
    return made


def turned(value: float | None) -> float | None:
    return None if value is None else pytest.approx(1.0 - value)  # type: ignore[return-value]


# -- verbs -----------------------------------------------------------------------------------


def test_stats(both: Sequence[Made]) -> None:
    higher, lower = (
        made.printed("stats", "fair", metric="avg,max@3")["groups"][0]["lines"] for made in both
    )
    for one, other in zip(higher, lower, strict=True):
        before, after = one["estimate"], other["estimate"]
        assert after["value"] == turned(before["value"])
        assert (after["low"], after["high"]) == (turned(before["high"]), turned(before["low"]))
        assert (one.get("lower_is_better"), other.get("lower_is_better")) == (None, True)
    assert "avg (lower is better)" in both[1].command("stats", "fair", metric="avg").out


def test_threshold(both: Sequence[Made]) -> None:
    higher, lower = (
        made.printed("stats", "fair", metric="pass@2", threshold=end)["groups"][0]["lines"][0]
        for made, end in zip(both, ("0.75", "0.25"), strict=True)
    )
    assert higher["estimate"] == lower["estimate"]


@pytest.mark.parametrize("pair", [("poor", "good"), ("good", "fair"), ("fair", "poor")])
def test_compare(both: Sequence[Made], pair: tuple[str, str]) -> None:
    (one,), (other,) = (
        made.printed("compare", *pair, metric="avg")["tasks"][0]["comparisons"] for made in both
    )
    assert other["decision"]["verdict"] == one["decision"]["verdict"] != "undecided"
    assert other["value"] == pytest.approx(-one["value"])
    assert (other["low"], other["high"]) == pytest.approx((-one["high"], -one["low"]))
    for name in ("improved", "worsened", "flipped", "p_value", "confidence"):
        assert other[name] == pytest.approx(one[name])
    assert "avg (lower is better)" in both[1].command("compare", *pair, metric="avg").out


@pytest.mark.parametrize(("pair", "code"), [(("good", "poor"), 3), (("poor", "good"), 0)])
def test_gate(both: Sequence[Made], pair: tuple[str, str], code: int) -> None:
    done = [made.command("gate", *pair, metric="avg", tolerance="0.05") for made in both]
    assert [one.code for one in done] == [code, code]
    assert done[0].out.splitlines()[0] == done[1].out.splitlines()[0]
    assert "avg (lower is better)" in done[1].out


def test_ranks(both: Sequence[Made]) -> None:
    higher, lower = (
        made.printed("compare", *MODELS, metric="avg")["tasks"][0]["rankings"][0] for made in both
    )
    for part in ("model", "rank", "rank_low", "rank_high", "p_best"):
        places = [[one[part] for one in ranks["standings"]] for ranks in (higher, lower)]
        assert places[0] == pytest.approx(places[1]) if part == "p_best" else places[0] == places[1]
    assert [turned(one["value"]) for one in higher["standings"]] == [
        one["value"] for one in lower["standings"]
    ]


def test_ranking(both: Sequence[Made]) -> None:
    higher, lower = (
        made.printed("compare", *MODELS, metric="avg", ranking="bradley-terry")["tasks"][0]
        for made in both
    )
    for one, other in zip(
        *(task["abilities"][0]["abilities"] for task in (higher, lower)), strict=True
    ):
        assert (one["model"], one["value"]) == (other["model"], pytest.approx(other["value"]))
        assert other["plain"] == turned(one["plain"])


def test_plan(both: Sequence[Made]) -> None:
    plans = [
        made.printed("plan", pilot=made.sources["fair"], metric="avg", **{"half-width": "0.02"})
        for made in both
    ]
    assert plans[0] == plans[1]


def test_report(both: Sequence[Made], tmp_path: Path) -> None:
    texts = []
    for made in both:
        done = made.command("report", "good", "poor", metric="avg",
                            output=str(tmp_path / f"{made.falls}.html"))  # fmt: skip
        assert done.code == 0, done.err
        page = re.sub(r"<[^>]+>", " ", (tmp_path / f"{made.falls}.html").read_text("utf-8"))
        texts.append(re.sub(r"\s+", " ", page))
    for words in (r"poor is (better|worse) than", r"(\d+) score (higher|lower) by poor, (\d+)"):
        found = [re.search(words, text) for text in texts]
        assert all(found), words
    assert [re.search(r"poor is (better|worse)", text)[1] for text in texts] == ["worse"] * 2
    counts = [re.search(r"(\d+) score (?:higher|lower) by poor, (\d+)", text) for text in texts]
    assert counts[0].groups() == counts[1].groups()
    assert "to the right of the line at zero" in texts[0]
    assert "to the left of the line at zero" in texts[1]


def test_summarize(both: Sequence[Made]) -> None:
    (one,), (other,) = (
        metrics_summary(made.sources["fair"], scales=made.scales).per_metric.values()
        for made in both
    )
    assert (one.higher_is_better, other.higher_is_better) == (True, False)
    assert other.mean == turned(one.mean)
    assert made_file(both[1])["higher_is_better"] is False


def made_file(made: Made) -> Any:
    (entry,) = json.loads(made.command("summarize", "fair").out)["per_metric"].values()
    return entry


def test_wrong_trials(both: Sequence[Made]) -> None:
    """A score short of the best is wrong, whichever end that is."""
    for which in ("--wrong", "--right"):
        shown = [run("show", made.sources["good"], which, "--limit", "500", *made.flags)
                 for made in both]  # fmt: skip
        assert [one.code for one in shown] == [0, 0], shown[0].err + shown[1].err
        places = [re.findall(r"trial (\d+)|problem (\w+)", one.out) for one in shown]
        assert places[0] == places[1] != []


def test_view(both: Sequence[Made]) -> None:
    pages = []
    for made in both:
        sources = [made.sources[model] for model in ("good", "poor")]
        summary = compare_sources(sources, ComparisonOptions(("avg",)), scales=made.scales)
        folder: Any = SimpleNamespace(name="runs", label="runs")
        here = [RunPage(Links("token"), folder, number, "sums", model)
                for number, model in enumerate(("good", "poor"))]  # fmt: skip
        page = comparison_page(Links("token"), (Side(here[0], {}), Side(here[1], {})), summary)
        pages.append(re.sub(r"<[^>]+>", " ", page))
    assert all("is worse" in page for page in pages)
    assert "avg (lower is better) goes from" in pages[1]
    assert "to the left of the line at zero" in pages[1]


@pytest.mark.parametrize("form", ["jsonl", "csv", "inspect-json"])
def test_export(both: Sequence[Made], form: str, tmp_path: Path) -> None:
    """What is exported states the direction that it had."""
    for made in both:
        path = tmp_path / f"{made.falls}.{form.rpartition('-')[2]}"
        done = made.command("export", "fair", format=form, output=str(path))
        assert done.code == 0, done.err
        outcomes = read(path).only()
        assert bool(outcomes.scale.lower_is_better) is made.falls
        value = measure(outcomes, "max@2").value
        assert (
            value == measure(read(made.sources["fair"], scales=made.scales).only(), "max@2").value
        )


def test_python() -> None:
    higher = {name: Outcomes.from_array(scores) for name, scores in MODELS.items()}
    lower = {
        name: Outcomes.from_array(mirrored(scores), scale=Scale(0.0, 1.0, lower_is_better=True))
        for name, scores in MODELS.items()
    }
    sides = higher, lower
    best = [measure(side["fair"], "max@2").value for side in sides]
    assert best[1] == turned(best[0])
    means = [estimate(side["fair"], "avg") for side in sides]
    assert (means[1].low, means[1].high) == (turned(means[0].high), turned(means[0].low))
    for side in sides:
        assert compare(side["poor"], side["good"], "avg").decision.verdict == "better"
        assert [one.model for one in compare_all(side, "avg").standings] == [
            "good", "fair", "poor",
        ]  # fmt: skip
        ranks = rank_models(side, "avg", model="bradley-terry").abilities
        assert [one.model for one in ranks] == ["good", "fair", "poor"]
    other = Outcomes.from_array([[0.5]], scale=Scale(lower_is_better=False))
    with pytest.raises(InvalidInput, match="a has scores of 0 to 1, lower is better, and b"):
        compare(lower["fair"], other, "avg")


# -- edits per 100 words: no upper end, 0 is perfect ---------------------------------------------


def of_edits(folder: Path, model: str, rows: Sequence[Sequence[str]]) -> str:
    """Run a model whose answers are scored by their edits; "?" is a failure of the scorer."""
    from passband import simple_evaluate

    keys = [f"p{at:02}" for at in range(len(rows))]
    task = write_task(
        folder, "- {metric: edits, repeat_aggregation: mean}", dict.fromkeys(keys, "x")
    )
    script = Script("t", dict(zip(keys, rows, strict=True)))
    simple_evaluate(script, task, num_repeats=TRIALS, seed=SEED, out=folder / model)
    return str(folder / model)


@pytest.fixture(scope="module")
def edits(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Runs of models with few edits, with many, with none, and with failures of the scorer."""
    folder = tmp_path_factory.mktemp("edits")
    draws = np.random.default_rng(5).gamma(2.0, 1.0, (40, TRIALS))
    few = [[f"{5.0 * edits:.2f}" for edits in row] for row in draws]
    many = [[f"{22.0 * edits:.2f}" for edits in row] for row in draws[::-1]]
    none = [["0"] * TRIALS for _ in range(8)]
    failing = [[*row[:-1], "?"] if at % 5 == 0 else row for at, row in enumerate(few)]
    return {
        name: of_edits(folder, name, rows)
        for name, rows in (("few", few), ("many", many), ("none", none), ("failing", failing))
    }


def test_a_model_with_more_edits_is_a_regression(edits: Mapping[str, str]) -> None:
    flags = ("-m", "avg", "--tolerance", "5")
    worse = run("gate", edits["few"], edits["many"], *flags)
    assert (worse.code, worse.out.split(":")[0]) == (3, "REGRESSION")
    better = run("gate", edits["many"], edits["few"], *flags)
    assert (better.code, better.out.split(":")[0]) == (0, "PASS")
    compared = json.loads(run("compare", edits["few"], edits["many"], "-m", "avg", "--json").out)
    found = compared["tasks"][0]["comparisons"][0]
    assert found["decision"]["verdict"] == "worse"
    assert found["worsened"] > 35 > 5 > found["improved"]


def test_the_best_of_k_has_fewer_edits(edits: Mapping[str, str]) -> None:
    (group,) = summarize(edits["few"], ["avg", "max@2", "max@4"]).groups
    values = [line.estimate.value for line in group.lines if line.estimate is not None]
    assert values == sorted(values, reverse=True)
    assert [line.lower_is_better for line in group.lines] == [True, True, True]


def test_perfect_answers_are_no_failures(edits: Mapping[str, str]) -> None:
    done = run("stats", edits["none"])
    assert "pass@" not in done.out
    refused = run("stats", edits["few"], "-m", "pass@1")
    assert "Choose the highest score that counts as a success" in refused.err + refused.out
    passed = run("stats", edits["none"], "-m", "pass@1", "--threshold", "3", "--json")
    assert json.loads(passed.out)["groups"][0]["lines"][0]["estimate"]["value"] == 1.0


def test_failures_of_the_scorer_do_not_improve_the_mean(edits: Mapping[str, str]) -> None:
    for metrics in ((), ("-m", "avg")):
        done = run("stats", edits["failing"], "--policy", "fail", *metrics, "--json")
        text = done.out + done.err
        assert "the worst score is not known (0 to inf, lower is better)" in text
        values = re.findall(r'"value": ([\d.]+)', done.out)
        assert not values


# -- statements that cannot be used ----------------------------------------------------------------


def test_an_unknown_score_is_refused_with_the_nearest(tmp_path: Path, edits: Any) -> None:
    path = of_table(tmp_path, "poor", MODELS["poor"], falls=True)
    with pytest.raises(UnknownName, match=r"no score named 'scor'. Did you mean 'score'\?"):
        read(path, scales={"scor": LOWER})
    for verb in ("stats", "report", "show", "export", "summarize"):
        for source, name, meant in ((path, "scor", "score"), (edits["few"], "edit", "edits")):
            done = run(verb, source, "--lower-is-better", name)
            assert done.code == 2
            assert f"no score named '{name}'. Did you mean '{meant}'?" in done.err


def test_two_statements_on_one_score_are_refused(tmp_path: Path) -> None:
    done = run("stats", of_run(tmp_path, "fair", MODELS["fair"], falls=False),
               "--lower-is-better", "gain")  # fmt: skip
    assert done.code == 2
    assert "t: gain has scores of 0 to 1, higher is better, and scales= (in the shell" in done.err
    source = of_lm_eval(tmp_path, "logged", MODELS["fair"], falls=False)
    with pytest.raises(InvalidInput, match=r"higher is better, and scales=.*lower is better"):
        read(source, scales={"exact_match": LOWER})
    content = json.loads(source.read_text())
    content["configs"]["sums"]["metric_list"][0]["higher_is_better"] = False
    source.write_text(json.dumps(content))
    with pytest.raises(InvalidInput, match=r"sums, exact_match has .*its metric_list says"):
        read(source)


def test_two_sides_of_two_directions_are_not_compared(tmp_path: Path) -> None:
    base = of_lm_eval(tmp_path, "base", MODELS["fair"], falls=False)
    new = of_lm_eval(tmp_path, "new", MODELS["good"], falls=True)
    for verb in ("compare", "gate"):
        done = run(verb, base, new, "-m", "avg")
        text = done.out + done.err
        assert done.code in (2, 4)
        assert re.search(r"higher is better, and \w+ has scores of .*lower is better", text), text


def test_a_score_beyond_its_scale_is_named(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("problem,trial,score\np0,0,0.5\np0,1,1.5\n")
    with pytest.raises(InvalidInput, match=r"scores.csv: column score .* 1.5 in row 2, outside"):
        read(path, scales={"score": Scale(0.0, 1.0)})
    with pytest.raises(
        InvalidInput, match=r"scores.csv: problem 'p0' .* 1.5 in its scored trial 1"
    ):
        Outcomes.from_file(path, scale=Scale(0.0, 1.0))
    with pytest.raises(InvalidInput, match="low end below its high end"):
        read(path, scales={"score": Scale(1.0, 0.0)})
