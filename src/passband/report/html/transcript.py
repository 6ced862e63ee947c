"""Problems and trials as HTML to read: asked, expected, answered, and why it was scored so."""

from __future__ import annotations

from collections.abc import Iterator

from passband.report.html.document import escape
from passband.report.show.excerpt import Amount, excerpt
from passband.report.show.reason import call_text, label_text, verdict
from passband.report.words import counted, duration, tokens_text
from passband.summary import ShownProblem, ShownTrial

LONG = Amount(20_000, 20_000, 1_000, 1_000)  #: of a text on a page of its own

Piece = tuple[str, str]  #: a kind ("text", "answer" or "gap"), and the text


def problem_html(problem: ShownProblem, amount: Amount = LONG) -> str:
    """Return a problem as it was asked: messages, choices and the right answer."""
    parts = [_labelled(m.role or "asked", m.text, amount) for m in problem.messages]
    parts += [
        _labelled(f"choice {_letter(number)}", choice, amount)
        for number, choice in enumerate(problem.choices)
    ]
    parts += [_labelled("right answer", target, amount) for target in problem.targets]
    return "".join(parts)


def trial_html(trial: ShownTrial, amount: Amount = LONG) -> str:
    """Return a trial: the verdict, the rule that found the answer, and the text with it marked."""
    own = verdict(trial)
    parts = [f'<div class="transcript trial-{own.kind}"><p><b>{escape(own.word)}</b> ']
    parts.append(f'<span class="about">{escape(", ".join(facts_of(trial)))}</span></p>')
    if own.answer is not None:
        by = "" if own.rule is None else f" by {own.rule}"
        parts.append(_labelled(f"answer found{by}", own.answer, amount))
    if own.reason:
        parts.append(_labelled("why", own.reason, amount))
    parts += [_labelled("failed", failure, amount) for failure in trial.failures]
    for call in trial.calls:
        line = call_text(call, trial.calls)
        parts.append(_labelled("judged", f"{line}\n\n{call.reply}" if call.reply else line, amount))
    if trial.reasoning:
        parts.append(_labelled("reasoning", trial.reasoning, amount))
    parts += [_labelled(message.role, message.text, amount) for message in trial.transcript]
    if trial.text is not None:
        parts.append('<div class="label">answered</div>')
        parts.append(f'<pre dir="auto">{marked_html(trial.text, trial.span, amount)}</pre>')
    return "".join([*parts, "</div>"])


def marked_html(text: str, span: tuple[int, int] | None = None, amount: Amount = LONG) -> str:
    """Return a text as HTML with a span marked; what is left out of a long one is counted.

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


def facts_of(trial: ShownTrial) -> list[str]:
    """Return what a trial took and how it ended, as far as it is recorded."""
    facts = [f"trial {trial.trial}"]
    facts += [label_text(score) for score in trial.scores[1:] if score.is_label]
    if trial.status != "ok":
        facts.append(f"status {trial.status}")
    if trial.finish_reason is not None:
        facts.append(f"finish reason {trial.finish_reason}")
    if trial.prompt_tokens is not None and trial.completion_tokens is not None:
        facts.append(_tokens(trial))
    if trial.latency_ms is not None:
        facts.append(latency_text(trial.latency_ms))
    if trial.attempts > 1:
        facts.append(counted(trial.attempts, "attempt"))
    if trial.seed is not None:
        facts.append(f"seed {trial.seed}")
    return facts


def latency_text(milliseconds: int) -> str:
    """Return a latency; short ones in milliseconds.

    >>> latency_text(420), latency_text(61_000)
    ('420 ms', '1 min 1 s')
    """
    return f"{milliseconds} ms" if milliseconds < 10_000 else duration(milliseconds / 1000)


def _labelled(label: str, text: str, amount: Amount) -> str:
    shown = marked_html(text, None, amount)
    return f'<div class="label">{escape(label)}</div><pre dir="auto">{shown}</pre>'


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def _tokens(trial: ShownTrial) -> str:
    return tokens_text(
        trial.prompt_tokens, trial.completion_tokens, trial.cached_tokens, trial.reasoning_tokens
    )
