"""Reports as pages: what is on them, what is not, and that no text becomes markup."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.report.html.report import charts_by_folder, report_page
from passband.report.summary import notes_of
from passband.summary.findings.findings import ReportRequest
from passband.summary.findings.sources import read_findings
from passband.summary.summary import Request
from passband.trials.rows import ProblemRow, ScoreRow, TrialRow
from support.samples.stores import begin, filled, judged, problem, writing

HOSTILE = "</script><img src=x onerror=alert(1)>"
WINS = [[1, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0]] * 5


def page(*sources: Path, request: ReportRequest | None = None) -> str:
    return report_page(read_findings(sources, request))


def headings(html: str) -> list[str]:
    return re.findall(r"<h2[^>]*>(.*?)</h2>", html)


def test_sections_come_in_the_order_of_questions(tmp_path: Path) -> None:
    html = page(filled(tmp_path / "run", WINS))
    assert headings(html) == [
        "More tries",
        "Every problem, every trial",
        "Where the uncertainty comes from",
        "Wrong in the same way",
        "Trials",
        "Methods",
        "Notes",
    ]
    assert "<b>20</b> problems × <b>4</b> trials" in html
    assert '<div class="big">50<small>%</small></div>' in html
    assert "5 problems are always solved, 10 sometimes, 5 never." in html
    assert "style=" not in html  # the policy of the page would turn it away
    assert "It holds every transcript." in html


def test_a_report_of_the_same_store_has_the_same_bytes(tmp_path: Path) -> None:
    run = filled(tmp_path / "run", WINS)
    assert page(run) == page(run)


def test_table_chart_and_prose_have_the_same_digits(tmp_path: Path) -> None:
    html = page(filled(tmp_path / "run", [[1, 0, 0]] * 7 + [[0, 0, 1]] * 3 + [[1, 1, 1]] * 10))
    (value,) = re.findall(r'<td class="metric"[^>]*>pass@3</td><td[^>]*>([\d.]+)</td>', html)
    assert f"pass@3 {value}</text>" in html
    assert f"to {100 * float(value):.{len(value) - 4}f} %;" in html


def test_hostile_names_and_texts_stay_text(tmp_path: Path) -> None:
    record = '{"choices":["C"],"doc":{},"messages":[["user","C"]],"targets":["C"]}'
    with writing(tmp_path / "run") as store:
        rows = [ProblemRow(at, f"{HOSTILE}{at}", record.replace("C", HOSTILE)) for at in range(4)]
        run, (scorer,) = begin(store, rows, task=HOSTILE, model=HOSTILE)
        score = ScoreRow(scorer, 0.0, "ok", HOSTILE, HOSTILE, HOSTILE)
        trials = [
            TrialRow(at, trial, "ok", f"{HOSTILE} {at}", HOSTILE, scores=[score])
            for at in range(4)
            for trial in range(3)
        ]
        store.append(run, trials)
    html = page(tmp_path / "run")
    assert "<img" not in html
    assert html.count("<script") == html.count("</script>") == 2


def test_what_judges_took_is_kept_apart(tmp_path: Path) -> None:
    html = page(judged(tmp_path / "run"))
    rows = dict(re.findall(r'<tr><td>([^<]*)</td><td class="number">([^<]*)</td>', html))
    assert rows["tokens, in and out"] == "20 + 28"
    assert rows["cost, without judges"] == "unknown (no price given)"
    counts = "5, of which 1 failed and 1 found their reply recorded"
    assert rows["calls to exact, the judge"] == counts
    assert rows["tokens of exact, in and out"] == "150 + 27"
    assert rows["cost of exact"] == "0.75"


def test_a_long_text_is_cut_and_says_so(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, (scorer,) = begin(store, [problem(0)])
        text = "א" * 5_000_000 + " the answer is 42"
        score = ScoreRow(scorer, 1.0, "ok", "42", "last_number")
        store.append(run, [TrialRow(0, 0, "ok", text, scores=[score])])
    html = page(tmp_path / "run")
    assert len(html) < 60_000
    assert "characters left out" in html


@pytest.mark.parametrize(
    "wins",
    [
        [[1]],
        [[1, 0, 1, 1]],
        [[1] * 4] * 10,
        [[0] * 4] * 10,
        [[1], [0]] * 25,
        [[1] * n for n in (1, 5)],
    ],
    ids=["one trial", "one problem", "all right", "all wrong", "one try each", "ragged"],
)
def test_little_or_constant_data_have_a_page(tmp_path: Path, wins: Sequence[list[float]]) -> None:
    html = page(filled(tmp_path / "run", wins))
    assert "nan" not in html.lower().replace("finance", "")
    assert '<div class="big">' in html


def test_graded_scores_are_no_percentages(tmp_path: Path) -> None:
    html = page(filled(tmp_path / "run", [[50, 25], [100, 75], [0, 10]] * 4))
    assert "is the mean score of one try" in html
    assert "<small>%</small>" not in html
    assert "The best of 2 tries scores" in html


def test_graded_scores_are_neither_right_nor_solved(tmp_path: Path) -> None:
    html = page(filled(tmp_path / "run", [[0.25, 1, 0.5], [0.75, 0, 1]] * 5))
    assert not re.search(
        r"solved(?!\":)|trials right", re.sub("(?s)<(style|script)>.*?</", "", html)
    )
    assert "mean score 0.583 over 3 trials" in html
    assert '"1 (score 1)"' in html


@pytest.mark.parametrize("rows", [["q,0,1", "q,1,0", "q,5,1", "r,2,0", "r,3,1"], ["q,3,1"]])
def test_missing_trials_are_no_damage_and_scores_no_transcripts(
    tmp_path: Path, rows: list[str]
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["problem,trial,score", *rows]))
    html = page(table)
    assert "damaged" not in html
    assert "It holds no transcripts." in html
    assert "<h1>t</h1>" in html  # no model is named
    assert not re.search(r"\b(1 problems|1 times|1 trials)\b", html)
    assert ("Either takes" in html) == (len(rows) > 1)


def test_a_page_names_no_folder_and_no_curve_that_it_does_not_draw(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("problem,trial,score\nq,0,1\nq,1,0\nr,0,1")
    html = page(table)
    assert str(tmp_path) not in html
    assert "imported from t.csv" in html
    assert "More tries" not in html
    assert not re.search("the curve is weakest|Bands hold", html)


def test_a_run_that_stopped_says_how_many_problems_its_numbers_are_without(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, (scorer,) = begin(store, [problem(at) for at in range(10)])
        score = ScoreRow(scorer, 1.0, "ok", "1", "last_number")
        trials = [TrialRow(at, n, "ok", "1", scores=[score]) for at in range(6) for n in range(4)]
        store.append(run, trials)
    (found,) = read_findings([tmp_path / "run"])
    progress = replace(found.runs[0].progress, state="stopped", planned=40)
    stopped = replace(found, runs=(replace(found.runs[0], progress=progress),))
    assert "24 of 40 trials. 4 of 10 problems are not in its numbers yet." in report_page([stopped])


def test_a_level_out_of_range_is_refused(tmp_path: Path) -> None:
    run = filled(tmp_path / "run", WINS)
    with pytest.raises(InvalidInput, match="level must be a number between 0 and 1"):
        page(run, request=ReportRequest(Request(level=2.0)))


def test_a_run_says_nothing_of_what_was_read_of_others(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    lines = [f"{model},q{at % 6},{at // 6},{at % 2},ok" for model in "ab" for at in range(24)]
    table.write_text("\n".join(["model,problem,trial,score,status", *lines, "b,q0,9,,timeout"]))
    first, second = page(table).split("<article")[1:]
    assert "kept as errored" not in first
    assert "1 trial of status &#x27;timeout&#x27; kept as errored" in second


def test_a_run_of_errors_has_the_reason_instead_of_a_number(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, _ = begin(store, [problem(at) for at in range(3)])
        store.append(run, [TrialRow(at, 0, "gave_up", attempts=3) for at in range(3)])
    html = page(tmp_path / "run")
    assert "There is no number to show: no trial has a score (3 gave_up)." in html
    assert '<div class="big">' not in html


def test_everything_that_the_terminal_warns_of_is_on_the_page(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        run, (scorer,) = begin(store, [problem(at) for at in range(9)])
        lost = [TrialRow(at, 0, "truncated", "so") for at in range(9)]
        score = ScoreRow(scorer, 1.0, "ok", "42", "last_number")
        right = [TrialRow(at, 1, "ok", "42", attempts=2, scores=[score]) for at in range(9)]
        store.append(run, [*lost, *right])
    (source,) = read_findings([tmp_path / "run"])
    html = report_page([source])
    lines = [line.text for line in notes_of(source.summary)]
    assert len(lines) >= 3
    for line in lines:
        assert line.removeprefix("warning: ").replace("'", "&#x27;") in html
    assert "9 without a score" in html


def test_a_directory_of_several_runs_has_a_part_for_each(tmp_path: Path) -> None:
    for task in ("sums", "riddles"):
        filled(tmp_path / "run", WINS, task=task)
    found = read_findings([tmp_path / "run"])
    html = report_page(found)
    assert html.count("<article") == 2
    assert "2 tasks by tiny" in html
    assert list(charts_by_folder(found)) == ["1-riddles-tiny", "2-sums-tiny"]
    assert "riddles" not in report_page(read_findings([tmp_path / "run"], tasks=["sums"]))


def test_models_without_a_common_task_are_not_compared_and_the_page_says_so(tmp_path: Path) -> None:
    filled(tmp_path / "a", WINS, task="sums", model="tiny")
    filled(tmp_path / "b", WINS, task="riddles", model="large")
    assert "No task was asked of two models" in page(tmp_path / "a", tmp_path / "b")


def test_a_large_strip_is_a_mask_in_the_style_sheet(tmp_path: Path) -> None:
    html = page(filled(tmp_path / "run", [[1, 0, 1]] * 7000), request=ReportRequest(transcripts=0))
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert ".mask-0{" in style
    assert '<div class="mask mask-0">' in html
    assert len(html) < 100_000


def test_a_table_of_trials_is_reported_like_a_run(tmp_path: Path) -> None:
    table = tmp_path / "trials.csv"
    table.write_text(
        "problem,trial,score\n" + "".join(f"p{n % 5},{n},{n % 2}\n" for n in range(40))
    )
    html = page(table)
    assert "imported from" in html
    assert "<b>5</b> problems × <b>8</b> trials" in html


def test_an_empty_run_and_a_file_of_results_are_refused(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as store:
        begin(store, [problem(0)])
    with pytest.raises(InvalidInput, match="holds no trials yet"):
        page(tmp_path / "run")
    (tmp_path / "old.json").write_text('{"passband": "summary", "version": 99}')
    with pytest.raises(InvalidInput, match=r"summary, version 99.*no trials"):
        page(tmp_path / "old.json")
