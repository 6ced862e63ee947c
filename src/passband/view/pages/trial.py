"""Render one trial with its neighbours, and two trials of a problem as one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from passband.report import (
    LONG,
    TextChange,
    counted,
    lay_out_problem,
    lay_out_trial,
    pieces_of,
    problem_html,
    trial_html,
    verdict,
    word_changes,
)
from passband.summary import Damaged, ShownProblem, ShownTrial
from passband.trials import TrialId
from passband.view.markup import Child, Html, fragment, name, tag
from passband.view.page_context import RunPage
from passband.view.page_frame import Crumb, page
from passband.view.pages.trials import TrialsPage, trials_section

ALONG = ("all", "wrong", "slow", "long")  #: filters whose keys j and k go through all trials
PART = 200_000  # characters of a text on a page of its own
_CONTEXT = 2_000  # characters of what both texts have, before and after a change
_LONGEST = 20_000  # characters of what only one text has


@dataclass(frozen=True)
class TrialView:
    """A trial, its neighbours by key, and the other trials of its problem."""

    place: TrialId
    shown: ShownTrial | Damaged
    show: str = "all"
    ways: Mapping[str, TrialId] = field(default_factory=dict)  #: by key: n, p, j, k
    others: Sequence[tuple[TrialId, ShownTrial | Damaged]] = ()


_WAYS = {"p": "previous wrong", "n": "next wrong", "k": "previous {}", "j": "next {}"}


def trial_page(here: RunPage, of: TrialView) -> str:
    """Return the page of a trial."""
    shown, place = of.shown, of.place
    if isinstance(shown, Damaged):
        body = tag("p", f"This trial cannot be read: {shown.why}.", class_="wrong")
        return page("damaged trial", here.crumbs, _ways(here, of), body)
    title = f"{shown.problem.key}, trial {place.trial}"
    crumbs = [*here.crumbs, _problem_crumb(here, place.problem, shown.problem)]
    return page(
        title,
        crumbs,
        tag("header", tag("h1", name(shown.problem.key), ", trial ", place.trial),
            _outcome(shown.problem), _ways(here, of)),
        tag("section", Html(problem_html(shown.problem)), class_="first transcript"),
        tag("section", Html(trial_html(shown)), _rest(here, place, shown)),
        _others(here, of),
    )  # fmt: skip


def _problem_crumb(here: RunPage, number: int, problem: ShownProblem) -> Crumb:
    return Crumb(name(problem.key), here.run.problem(number))


def _outcome(problem: ShownProblem) -> Html:
    return tag("p", lay_out_problem(problem).outcome, class_="run-line")


def _ways(here: RunPage, of: TrialView) -> Html:
    """Return links to neighbours, with the keys that follow them."""
    steps: list[Child] = []
    along = "trial" if of.show in ALONG else of.show.replace("_", " ")
    for key, text in _WAYS.items():
        label = fragment(tag("kbd", key), " ", text.format(along))
        if key in of.ways:
            href = here.run.trial(of.ways[key], of.show)
            steps.append(tag("a", label, href=href, data_key=key))
        else:
            steps.append(tag("span", label))
    return tag("p", steps, class_="ways")


def _rest(here: RunPage, place: TrialId, shown: ShownTrial) -> Html | None:
    """Return a link to the whole text, where some of it is left out."""
    texts = [text for _, text in texts_of(shown)]
    kinds = [kind for text in texts for kind, _ in pieces_of(text, None, LONG)]
    if "gap" not in kinds:
        return None
    length = sum(map(len, texts))
    whole = f"the whole text, {counted(length, 'character')}"
    return tag("p", tag("a", whole, href=here.run.text(place)), class_="caption")


def _others(here: RunPage, of: TrialView) -> Html | None:
    """Return the other trials of the problem, with links to their differences."""
    if len(of.others) < 2 or isinstance(of.shown, Damaged):
        return None
    chips = [_chip(here, place, shown, of.place) for place, shown in of.others]
    return tag(
        "section",
        tag("h2", "Trials of this problem"),
        tag("div", chips, class_="trials"),
        tag(
            "p",
            tag("a", "all trials of this problem", href=here.run.problem(of.place.problem)),
            class_="pager",
        ),
    )


def _chip(here: RunPage, place: TrialId, shown: ShownTrial | Damaged, own: TrialId) -> Html:
    if isinstance(shown, Damaged):
        return tag("span", f"{place.trial} damaged")
    of = verdict(shown)
    answer = " ".join((of.answer or of.word)[:60].split())
    label = fragment(tag("span", f"{place.trial} ", class_="about"), tag("bdi", answer))
    if place == own:
        return tag("b", label, class_=f"trial-{of.kind}")
    differs = tag("a", "±", href=here.run.difference(place.problem, own.trial, place.trial),
                  title=f"what differs between trials {own.trial} and {place.trial}")  # fmt: skip
    link = tag("a", label, href=here.run.trial(place))
    return tag("span", link, " ", differs, class_=f"trial-{of.kind}")


def problem_page(here: RunPage, number: int, problem: ShownProblem, some: TrialsPage) -> str:
    """Return the page of a problem: its question and its trials."""
    return page(
        problem.key,
        here.crumbs,
        tag("header", tag("h1", name(problem.key)), _outcome(problem)),
        tag("section", Html(problem_html(problem)), class_="first transcript"),
        tag("section", tag("h2", "Trials"), trials_section(here, some)),
    )


# -- whole texts ---------------------------------------------------------------------------


def texts_of(shown: ShownTrial) -> list[tuple[str, str]]:
    """Return every text of a trial with its label."""
    texts: list[tuple[str, str]] = list(lay_out_trial(shown).before_answer)
    return texts if shown.text is None else [*texts, ("answered", shown.text)]


def text_page(here: RunPage, place: TrialId, shown: ShownTrial, part: int) -> str:
    """Return a part of everything that a model wrote in a trial."""
    whole = "\n\n".join(f"[{label}]\n{text}" for label, text in texts_of(shown))
    parts = max(1, -(-len(whole) // PART))
    chosen = min(max(part, 0), parts - 1)
    steps = [
        tag("a", text, href=here.run.text(place, to), rel=rel)
        for text, to, rel in (
            ("previous part", chosen - 1, "prev"),
            ("next part", chosen + 1, "next"),
        )
        if 0 <= to < parts
    ]
    line = f"{counted(len(whole), 'character')}, part {chosen + 1} of {parts}"
    ways = tag("p", [[step, " "] for step in steps], class_="pager")
    crumbs = [*here.crumbs, _problem_crumb(here, place.problem, shown.problem)]
    return page(
        f"{shown.problem.key}, trial {place.trial}: text",
        [*crumbs, Crumb(f"trial {place.trial}", here.run.trial(place))],
        tag("header", tag("h1", "Whole text"), tag("p", line, class_="run-line"), ways),
        tag("section", tag("pre", whole[chosen * PART : (chosen + 1) * PART], dir="auto"),
            class_="first"),
        ways,
    )  # fmt: skip


# -- two trials ----------------------------------------------------------------------------


def difference_page(here: RunPage, number: int, first: ShownTrial, second: ShownTrial) -> str:
    """Return two trials of a problem as one text with differences marked."""
    places = [TrialId(number, shown.trial) for shown in (first, second)]
    heads = [
        tag("p", mark, " ", tag("a", f"trial {shown.trial}", href=here.run.trial(place)),
            f": {verdict(shown).word}, ", tag("bdi", (verdict(shown).answer or "")[:200]))
        for mark, shown, place in zip(
            (tag("del", "only in"), tag("ins", "only in")), (first, second), places, strict=True)
    ]  # fmt: skip
    labels = dict.fromkeys(label for shown in (first, second) for label, _ in texts_of(shown))
    parts = [_difference(label, first, second) for label in labels]
    crumbs = [*here.crumbs, _problem_crumb(here, number, first.problem)]
    return page(
        f"{first.problem.key}: trials {first.trial} and {second.trial}",
        crumbs,
        tag("header", tag("h1", name(first.problem.key), f", trials {first.trial} and "
            f"{second.trial}"), heads),
        tag("section", Html(problem_html(first.problem)), class_="first transcript"),
        tag("section", tag("h2", "What differs"), parts),
    )  # fmt: skip


def _difference(label: str, first: ShownTrial, second: ShownTrial) -> Html:
    one, other = ("\n".join(text for own, text in texts_of(shown) if own == label)
                  for shown in (first, second))  # fmt: skip
    if one == other:
        same: Child = tag("p", f"{counted(len(one), 'character')}, the same in both")
    else:
        changes = word_changes(one, other)
        same = tag("pre", [_change(change) for change in changes], dir="auto")
    return tag("div", tag("div", label, class_="label"), same, class_="transcript")


def _change(change: TextChange) -> Html:
    if change.is_same:
        return fragment(_cut(change.first, _CONTEXT))
    marks = (("del", change.first), ("ins", change.second))
    return fragment([tag(mark, _cut(text, _LONGEST)) for mark, text in marks if text])


def _cut(text: str, room: int) -> Html:
    """Return the beginning and the end of a long text, and how much is left out."""
    if len(text) <= 2 * room + 100:
        return fragment(text)
    gap = f"\n[{counted(len(text) - 2 * room, 'character')} left out]\n"
    return fragment(text[:room], tag("span", gap, class_="gap"), text[-room:])
