"""Mathematical equality: pairs by hand, answers made to hang, and answers made to break out."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from passband.score.builtin.math import math_equal, normalise
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference, Scorer
from passband.score.workers.worker_pool import pool

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    # A time limit that holds on a busy machine as well.
    scorer = make_scorer("math", options={"timeout": 60}, steps=["extract"])
    yield scorer
    scorer.close()


def score(scorer: Scorer, text: str, gold: str) -> float | None:
    found = scorer.score(text, Reference((gold,)))
    assert found.status in ("ok", "no_answer"), found
    return found.value


RIGHT = [
    (r"\boxed{42}", "42"),
    (r"\boxed{042}", "42"),  # as in AIME
    (r"First \boxed{3}. Wait, no. \boxed{7}", "7"),
    (r"\fbox{4}", "4"),
    (r"\boxed 4", "4"),
    (r"\boxed{0.5}", r"\frac{1}{2}"),
    (r"\boxed{\dfrac12}", r"\frac{1}{2}"),
    (r"\boxed{\tfrac{2}{4}}", "1/2"),
    (r"\boxed{1.5e3}", "1500"),
    (r"\boxed{1.5 \times 10^3}", "1500"),
    (r"\boxed{1{,}500}", "1500"),
    (r"\boxed{1,500}", "1500"),
    ("\\boxed{\u22125}", "-5"),
    ("\\boxed{\u20135}", "-5"),
    (r"\boxed{2\frac{1}{2}}", "2.5"),
    ("The answer is 1 1/2.", "1.5"),
    (r"\boxed{50\%}", "0.5"),
    (r"\boxed{50\%}", "50"),
    (r"\boxed{\$5.00}", "5"),
    (r"\boxed{5 \text{ cm}}", "5"),
    (r"\boxed{90^\circ}", "90"),
    (r"\boxed{x = 5}", "5"),
    (r"\boxed{5}", "x = 5"),
    (r"\boxed{\sqrt{8}}", r"2\sqrt{2}"),
    (r"\boxed{\frac{\sqrt{2}}{2}}", "sqrt(2)/2"),
    ("The answer is pi/4", r"\frac{\pi}{4}"),
    (r"\boxed{2^{10}}", "1024"),
    (r"\boxed{0.666667}", "2/3"),
    (r"\boxed{1/30}", "0.033333"),
    (r"\boxed{1.414214}", r"\sqrt{2}"),
    (r"\boxed{x^2 + 2x + 1}", "(x+1)^2"),
    (r"\boxed{\{3, 1, 2\}}", r"\{1, 2, 3\}"),
    (r"\boxed{(-\infty, 3]}", r"(-\infty,3]"),
    (r"\boxed{(-\infty, 1)}", "x < 1"),
    (r"\boxed{[0,1) \cup (2,3]}", r"[0,1)\cup(2,3]"),
    (r"\boxed{\left(1, \frac{1}{2}\right)}", "(1, 0.5)"),
    (r"\boxed{\begin{pmatrix} 1 \\ 2 \end{pmatrix}}", r"\begin{bmatrix}1\\2\end{bmatrix}"),
    (r"\boxed{3i + 2}", "2+3i"),
    (r"\boxed{\pm 3}", "3, -3"),
    (r"\boxed{\infty}", r"\infty"),
    (r"\boxed{\text{Monday}}", "Monday"),
    (r"\boxed{monday}", r"\text{Monday}"),
    (r"\boxed{\text{(B)}}", "(B)"),
    (r"\boxed{C}", r"\text{C}"),
    (r"\boxed{10^{400}}", r"10^{400}"),
    (r"\boxed{\log_2 8}", "3"),
    (r"\boxed{3!}", "6"),
    (r"\boxed{7}", r"It follows that $x$ is \boxed{7}."),  # a solution as the target
    ("**Final Answer:** $\\frac{3}{4}$", "0.75"),
]
WRONG = [
    (r"\boxed{41}", "42"),
    (r"First \boxed{7}. Wait, no. \boxed{3}", "7"),
    (r"\boxed{7} or rather \boxed{4", "7"),
    (r"\boxed{1331}", "1331 and 1728"),
    (r"\boxed{1728}", "1331 and 1728"),
    (r"\boxed{3x+4y+14=0}", "3*x-1*y+13=0"),
    (r"\boxed{2^{-98}}", r"2^{-99}"),
    (r"\boxed{0.333}", "1/3"),
    (r"\boxed{0.66666}", "2/3"),
    (r"\boxed{0.0000012}", "0.0000013"),
    (r"\boxed{11/2}", "1 1/2"),
    (r"\boxed{(1, 2]}", "(1, 2)"),
    (r"\boxed{dynamo}", "Monday"),
    (r"\boxed{}", "5"),
    (r"\boxed{x}", "y"),
    (r"\boxed{10^{401}}", r"10^{400}"),
    ("I do not know", "5"),
]


@pytest.mark.parametrize(("text", "gold"), RIGHT)
def test_right(scorer: Scorer, text: str, gold: str) -> None:
    assert score(scorer, text, gold) == 1.0


@pytest.mark.parametrize(("text", "gold"), WRONG)
def test_wrong(scorer: Scorer, text: str, gold: str) -> None:
    assert score(scorer, text, gold) == 0.0


def test_text_is_made_equal_only_where_it_is() -> None:
    assert normalise(r"\left(\,1,~2\right)") == normalise("(1,2)")
    assert normalise("1  1/2") == "1 1/2"
    assert normalise(r"\frac12") == normalise(r"\dfrac{1}{2}") == r"\frac{1}{2}"
    assert normalise(r"\frac123") == r"\frac123"  # a half times three
    assert normalise("x²") != normalise("x2")


HANGS = ["9^{9^{9^9}}", "10^{100000000}", "10!!!!!!!!!"]


def test_answers_that_hang_are_timeouts_and_the_pool_goes_on(scorer: Scorer) -> None:
    impatient = make_scorer("math", options={"timeout": 0.5}, steps=["extract"])
    for answer in HANGS:
        found = impatient.score(f"\\boxed{{{answer}}}", Reference(("5",)))
        assert (found.value, found.status, found.answer) == (None, "timeout", answer)
    assert impatient.score(r"\boxed{9^{9^{9^9}}}", Reference(("5",))).status == "timeout"
    assert score(scorer, r"\boxed{\sqrt{25}}", "5") == 1.0


def test_a_timeout_does_not_hide_a_match() -> None:
    impatient = make_scorer("math", options={"timeout": 0.5})
    assert impatient.score("5", Reference((HANGS[0], "5"))).value == 1.0


@pytest.mark.parametrize("answer", ["x+" * 600 + "x", "(" * 51 + "x" + ")" * 51])
def test_what_is_too_long_to_compare_has_no_score(scorer: Scorer, answer: str) -> None:
    found = scorer.score(f"\\boxed{{{answer}}}", Reference(("5",)))
    assert (found.value, found.status) == (None, "error")
    assert found.detail is not None
    assert "too long to compare" in found.detail
    assert scorer.score(f"\\boxed{{{answer}}}", Reference((answer,))).value == 1.0


def test_answers_cannot_execute_anything(scorer: Scorer, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    payload = f"__import__('os').system('touch {mark}')"
    shapes = ["{}", "${}$", r"\text{{{}}}", "x = {}", "({})", "1 + {}", r"\frac{{{}}}{{2}}"]
    shapes += [r"\operatorname{{{}}}", r"\mathrm{{{}}}", "[{}]", r"\sqrt{{{}}}", "{}^2", "f({})"]
    for shape in shapes:
        text = shape.format(payload)
        for answer, gold in ((text, "5"), ("5", text)):
            assert make_scorer("math").score(answer, Reference((gold,))).value != 1.0
    assert not mark.exists()


def test_votes_are_counted_by_value(scorer: Scorer) -> None:
    assert scorer.same(r"\frac{1}{2}", "0.5")
    assert scorer.same("(-\\infty, 1)", "x < 1")
    assert scorer.same("x < 1", "(-\\infty, 1)")
    assert not scorer.same("1", "2")
    assert not scorer.same("(" * 60, "2")  # what cannot be compared is different


def test_threads_may_score_at_once(scorer: Scorer) -> None:
    def one(number: int) -> float | None:
        return scorer.score(f"\\boxed{{{number} + y}}", Reference((f"y + {number}",))).value

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(one, range(24))) == [1.0] * 24


def test_a_pair_is_compared_once(scorer: Scorer, monkeypatch: pytest.MonkeyPatch) -> None:

    assert math_equal("z + z + z", "3z", timeout=60)
    monkeypatch.setattr(pool, "call", None)
    assert math_equal("z + z + z", "3z", timeout=60)
