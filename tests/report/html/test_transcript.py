"""Transcripts as HTML: the answer is marked, its rule named, and long texts are cut openly."""

from dataclasses import replace

from passband.report.html.transcript import marked_html, problem_html, trial_html
from passband.report.show.excerpt import Amount
from passband.summary.browse.shown_trial import (
    ShownCall,
    ShownMessage,
    ShownProblem,
    ShownScore,
    ShownTrial,
)

PROBLEM = ShownProblem(
    "sums", "tiny", "one", (ShownMessage("user", "6 * 7 < x"),), ("42",), ("41", "42"), 2, 2, 1
)
SCORE = ShownScore("exact_match", 1.0, "ok", "42", "last_number", None, True)
TRIAL = ShownTrial(
    PROBLEM, 3, "ok", "it is 42.", None, (), (SCORE,), (6, 8),
    prompt_tokens=5, completion_tokens=4, latency_ms=420, attempts=2, seed=7,
)  # fmt: skip


def test_a_problem_has_its_question_choices_and_right_answer() -> None:
    html = problem_html(PROBLEM)
    assert '<pre dir="auto">6 * 7 &lt; x</pre>' in html
    assert "choice B" in html
    assert html.endswith('<div class="label">right answer</div><pre dir="auto">42</pre>')


def test_a_trial_marks_the_answer_and_names_the_rule() -> None:
    html = trial_html(TRIAL)
    assert "it is <mark>42</mark>." in html
    assert "answer found by last_number" in html
    assert "trial 3, 5 tokens in, 4 out, 420 ms, 2 attempts, seed 7" in html
    assert html.startswith('<div class="transcript trial-right">')


def test_a_trial_without_a_text_says_why() -> None:
    lost = replace(TRIAL, status="gave_up", text=None, scores=(), span=None, failures=("503 <b>",))
    html = trial_html(lost)
    assert "no score (gave_up)" in html
    assert "503 &lt;b&gt;" in html
    assert "answered" not in html


def test_votes_of_a_judge_have_their_replies() -> None:
    calls = (
        ShownCall("judge", 0, 1, "ok", 0.5, "So <b>.\nVERDICT: HALF"),
        ShownCall("judge", 1, 1, "failed", None, None, outcome="late", detail="<i>"),
    )
    html = trial_html(replace(TRIAL, calls=calls))
    assert "vote 1: 0.5: VERDICT: HALF\n\nSo &lt;b&gt;.\nVERDICT: HALF</pre>" in html
    assert '<div class="label">judged</div><pre dir="auto">vote 2: failed (late): &lt;i&gt;' in html


def test_what_is_left_out_of_a_long_text_is_counted_and_the_answer_is_kept() -> None:
    text = "a" * 5_000_000 + "<42>" + "b" * 5_000_000
    html = marked_html(text, (5_000_001, 5_000_003), Amount(100, 100, 9, 9))
    assert len(html) < 1_000
    assert "&lt;<mark>42</mark>&gt;" in html
    assert html.count("characters left out") == 2
