"""Render problems and trials as HTML."""

from __future__ import annotations

from collections.abc import Iterator

from passband.report.html.document import escape
from passband.report.show.excerpt import Amount, excerpt
from passband.report.show.problem_page import lay_out_problem, lay_out_trial
from passband.report.show.reason import call_text
from passband.report.words import counted
from passband.summary import ShownProblem, ShownTrial

LONG = Amount(20_000, 20_000, 1_000, 1_000)  #: of a text on a page of its own

Piece = tuple[str, str]  #: a kind ("text", "answer" or "gap"), and the text


def problem_html(problem: ShownProblem, amount: Amount = LONG) -> str:
    """Return the question, the choices and the right answer of a problem."""
    page = lay_out_problem(problem)
    parts = [_labelled(*passage, amount) for passage in page.question]
    parts += [_labelled(f"choice {letter}", text, amount) for letter, text in page.choices]
    parts += [_labelled("right answer", target, amount) for target in page.targets]
    return "".join(parts)


def trial_html(trial: ShownTrial, amount: Amount = LONG) -> str:
    """Return a trial: the verdict, the rule that found the answer, and the text with it marked."""
    page = lay_out_trial(trial)
    scored = page.verdict
    facts = ", ".join([f"trial {trial.trial}", *page.labels, *page.ending, *page.measures])
    parts = [f'<div class="transcript trial-{scored.kind}"><p><b>{escape(scored.word)}</b> ']
    parts.append(f'<span class="about">{escape(facts)}</span></p>')
    if scored.answer is not None:
        by = "" if scored.rule is None else f" by {scored.rule}"
        parts.append(_labelled(f"answer found{by}", scored.answer, amount))
    if scored.reason:
        parts.append(_labelled("why", scored.reason, amount))
    parts += [_labelled("failed", failure, amount) for failure in trial.failures]
    for call in trial.calls:
        line = call_text(call, trial.calls)
        parts.append(_labelled("judged", f"{line}\n\n{call.reply}" if call.reply else line, amount))
    parts += [_labelled(*passage, amount) for passage in page.before_answer]
    if trial.text is not None:
        parts.append('<div class="label">answered</div>')
        parts.append(f'<pre dir="auto">{marked_html(trial.text, trial.span, amount)}</pre>')
    return "".join([*parts, "</div>"])


def marked_html(text: str, span: tuple[int, int] | None = None, amount: Amount = LONG) -> str:
    """Return a text as HTML with a span marked; long texts are cut and the cut is counted.

    >>> marked_html("so <b> 42.", (7, 9))
    'so &lt;b&gt; <mark>42</mark>.'
    """
    tags = {"text": ("", ""), "answer": ("<mark>", "</mark>")}
    tags["gap"] = ('<span class="gap">', "</span>")
    return "".join(
        f"{tags[kind][0]}{escape(piece)}{tags[kind][1]}"
        for kind, piece in pieces_of(text, span, amount)
    )


def pieces_of(text: str, span: tuple[int, int] | None, amount: Amount) -> Iterator[Piece]:
    """Yield the parts of a text that are shown: plain ones, the answer, and gaps between them.

    >>> list(pieces_of("it is 42.", (6, 8), LONG))
    [('text', 'it is '), ('answer', '42'), ('text', '.')]
    """
    end = 0
    for start, stop in excerpt(text, amount, span):
        if start > end:
            yield "gap", f"\n[{counted(start - end, 'character')} left out]\n"
        yield from _split(text, start, stop, span)
        end = stop
    if end < len(text):
        yield "gap", f"\n[{counted(len(text) - end, 'character')} left out]"


def _split(text: str, start: int, stop: int, span: tuple[int, int] | None) -> Iterator[Piece]:
    """Yield a part of a text, divided where the answer begins and ends."""
    low, high = (stop, stop) if span is None else span
    cuts = (start, min(max(low, start), stop), min(max(high, start), stop), stop)
    for kind, begin, finish in zip(("text", "answer", "text"), cuts, cuts[1:], strict=False):
        if begin < finish:
            yield kind, text[begin:finish]


def _labelled(label: str, text: str, amount: Amount) -> str:
    shown = marked_html(text, None, amount)
    return f'<div class="label">{escape(label)}</div><pre dir="auto">{shown}</pre>'
