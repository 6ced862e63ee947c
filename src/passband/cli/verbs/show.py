"""`passband show`: look at trials, what was asked and answered and why it was scored so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from passband.cli.options import LowerIsBetter, SkipBad, scales_of

if TYPE_CHECKING:
    from passband.summary import Shown, TrialBrowser, TrialQuery
    from passband.trials import RunRecord, Trials


_PROBLEMS = 10  # of --same-wrong, unless --limit says otherwise


def show(
    run: Annotated[Path, typer.Argument(help="Run directory, or a table or log with texts.")],
    problem: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this problem, by its id (repeatable)."),
    ] = None,
    trial: Annotated[
        list[int] | None, typer.Option(help="Only trials of this number, from 0 (repeatable).")
    ] = None,
    wrong: Annotated[
        bool, typer.Option("--wrong", help="Only trials whose score is below the best.")
    ] = False,
    right: Annotated[
        bool, typer.Option("--right", help="Only trials with the best score.")
    ] = False,
    no_answer: Annotated[
        bool, typer.Option("--no-answer", help="Only trials in which no answer was found.")
    ] = False,
    disagree: Annotated[
        bool,
        typer.Option("--disagree", help="Only trials that judge and label see differently."),
    ] = False,
    status: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATUS",
            help="Only this status: truncated, refused, scorer_error, ... (repeatable).",
        ),
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this task (repeatable).")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this model (repeatable).")
    ] = None,
    scorer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Scorer whose scores count. Default: the main one."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Show at most N trials (of --same-wrong, problems).", min=1)
    ] = None,
    diff: Annotated[
        tuple[int, int] | None,
        typer.Option(metavar="A B", help="Compare the texts of trials A and B of one problem."),
    ] = None,
    same_wrong: Annotated[
        bool,
        typer.Option(
            "--same-wrong", help="Problems whose wrong answers agree: are the keys right?"
        ),
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Leave nothing out of long texts.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, one line per trial.")] = False,
    no_pager: Annotated[
        bool, typer.Option("--no-pager", help="Print to the terminal without a pager.")
    ] = False,
    lower_is_better: LowerIsBetter = None,
    skip_bad: SkipBad = False,
) -> None:
    """Show what was asked, answered, extracted and expected, and why it was scored so."""
    from passband.cli.output import print_notes
    from passband.errors import InvalidInput
    from passband.readers import Options, opened_trials
    from passband.summary import TrialQuery, browse_runs

    if wrong and right:
        raise InvalidInput("--wrong and --right exclude each other; without them all are shown.")
    statuses = [*(status or ()), *(["no_answer"] if no_answer else ())]
    wanted = TrialQuery(
        tuple(dict.fromkeys(problem or ())), tuple(dict.fromkeys(trial or ())), tuple(statuses),
        None if wrong == right else right, scorer, disagree,
    )  # fmt: skip
    options = Options.of(
        None, (), task or (), model or (), skip_bad=skip_bad, scales=scales_of(lower_is_better)
    )
    with opened_trials(_single(run), options) as trials:
        runs = trials.chosen_runs(task or (), model or ())
        if not runs:
            raise InvalidInput(f"{run} holds no trials yet.")
        print_notes(text for each in runs for text, matters in each.imported.remarks if matters)
        form = _Form(json, full, not no_pager)
        if same_wrong:
            _print_same_wrong(trials, runs, wanted, limit, form)
        elif diff is not None:
            _print_diff(trials, runs, wanted, diff, form)
        else:
            _print_trials(trials, browse_runs(trials, runs, wanted), limit, form)


def _single(source: Path) -> Path:
    """Return the one run directory of a folder, or the source itself."""
    from passband.errors import InvalidInput
    from passband.readers import expand_sources, require_path

    paths = expand_sources([source])
    if len(paths) == 1:
        return require_path(paths[0], "passband show prints")
    names = ", ".join(map(str, paths[:5])) + (", ..." if len(paths) > 5 else "")
    raise InvalidInput(f"{source} holds {len(paths)} runs; show one of {names}.")


class _Form(NamedTuple):
    """How to print: as JSON, in full, through a pager."""

    json: bool
    full: bool
    pager: bool


def _print_trials(
    source: Trials, chosen: list[TrialBrowser], limit: int | None, form: _Form
) -> None:
    from passband.cli.output import print_lines, style_of
    from passband.report import Page, json_line
    from passband.summary import ShownProblem

    damage = _Damage()
    shown = damage.noted(_limited(chosen, limit))
    if form.json:
        trials = (one for one in shown if not isinstance(one, ShownProblem))
        print_lines(map(json_line, trials), pager=False)
    else:
        page = Page(
            style_of(pager=form.pager), form.full, _apart(browser.run for browser in chosen)
        )
        print_lines(chain(_headlines(chosen, limit), page.lines(shown)), pager=form.pager)
    damage.report(source.directory)


def _print_diff(
    source: Trials, runs: list[RunRecord], wanted: TrialQuery, numbers: tuple[int, int], form: _Form
) -> None:
    from passband.cli.output import print_lines, style_of
    from passband.report import Page, json_line
    from passband.summary import pair_of_trials

    first, second = pair_of_trials(source, runs, wanted, numbers)
    if form.json:
        print_lines([json_line(first), json_line(second)], pager=False)
        return
    page = Page(style_of(pager=form.pager), form.full, _apart(runs))
    print_lines(page.difference(first, second), pager=form.pager)


def _print_same_wrong(
    source: Trials, runs: list[RunRecord], wanted: TrialQuery, limit: int | None, form: _Form
) -> None:
    from passband.cli.output import print_lines, print_notes, print_rows, style_of
    from passband.report import agreement_json, agreement_lines, agreement_rows
    from passband.summary import browse_runs, rank_same_wrong

    most = _PROBLEMS if limit is None else limit
    agreements = [
        rank_same_wrong(source, browser.run, browser.scorer, problems=wanted.problems, limit=most)
        for browser in browse_runs(source, runs, wanted)
    ]
    if form.json:
        print_lines(agreement_json(agreements), pager=False)
        return
    print_rows(agreement_rows(agreements, style_of(pager=False).width))
    print_notes(agreement_lines(agreements, str(source.directory)))


def _apart(runs: Iterable[RunRecord]) -> tuple[str, ...]:
    """Return which of task and model set the runs apart."""
    names = [(run.task, run.model) for run in runs]
    return tuple(
        what for place, what in enumerate(("task", "model")) if len({n[place] for n in names}) > 1
    )


def _headlines(chosen: Iterable[TrialBrowser], limit: int | None) -> Iterator[str]:
    from passband.report import headline

    found = 0
    for browser in chosen:
        matches = browser.count()
        found += matches.trials
        name = f"{browser.run.task} by {browser.run.model}"
        yield headline(name, matches, browser.count_all(), browser.wanted.words())
    if limit is not None and limit < found:
        yield f"the first {limit}:" if limit > 1 else "the first one:"
    yield ""


def _limited(chosen: Iterable[TrialBrowser], limit: int | None) -> Iterator[Shown]:
    """Yield problems and trials, up to a number of trials; no problem without one."""
    from passband.summary import ShownProblem

    left = limit
    waiting: Shown | None = None
    for browser in chosen:
        for one in browser.shown():
            if isinstance(one, ShownProblem):
                waiting = one
                continue
            if left == 0:
                return
            if waiting is not None:
                yield waiting
            waiting, left = None, None if left is None else left - 1
            yield one


class _Damage:
    """Counts what could not be read, to be told at the end."""

    def __init__(self) -> None:
        self._count = 0

    def noted(self, shown: Iterable[Shown]) -> Iterator[Shown]:
        """Yield what is shown, and count what is damaged."""
        from passband.summary import Damaged

        for one in shown:
            self._count += isinstance(one, Damaged)
            yield one

    def report(self, directory: Path) -> None:
        """Raise the error of a damaged store if anything could not be read."""
        from passband.trials import FILE, corrupt

        if self._count:
            what = "1 trial" if self._count == 1 else f"{self._count} trials"
            raise corrupt(directory / FILE, f"{what} could not be read")
