"""Read the two sides of a gate from run directories, folders, logs and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from passband.errors import InvalidInput, UnknownName, nearest
from passband.readers import (
    Groups,
    JudgeScores,
    Remark,
    chosen_sources,
    expand_sources,
    is_several,
    read,
)
from passband.stats.data import Outcomes, Scale
from passband.stats.metric import needs_answers
from passband.summary.compare.models import entries
from passband.summary.compare.remarks import (
    different_scorers,
    sandbox_remarks,
    target_findings,
)
from passband.summary.gate.gate import gate
from passband.summary.gate.policy import GatePolicy
from passband.summary.gate.result import GateResult, GateSide
from passband.summary.judged.compared import JudgedPair, uncorrected_reason
from passband.summary.judged.compared import apart_reason as judges_apart
from passband.summary.summary import choice_lines
from passband.trials import holder, is_run_directory

NAMELESS = "all"  #: the task of a table that names none


@dataclass(frozen=True)
class GateReading:
    """How the sources of a gate are read."""

    columns: Mapping[str, str | None] = field(default_factory=dict)
    threshold: float | None = None
    skip_bad: bool = False
    base_model: str | None = None  #: of a source that holds several
    new_model: str | None = None
    scales: Mapping[str, Scale] = field(default_factory=dict)  #: by name of a column or scorer
    first: int | None = None  #: only so many first trials of each problem


def gate_sources(
    base: str | Path,
    new: str | Path,
    policy: GatePolicy | None = None,
    reading: GateReading | None = None,
) -> GateResult:
    """Return whether the model of one source may replace that of another, task by task."""
    policy, reading = policy or GatePolicy(), reading or GateReading()
    _refuse_same(base, new, reading)
    votes = _needs_answers(policy)
    first = _side(base, reading, reading.base_model, "--base-model", answers=votes)
    second = _side(new, reading, reading.new_model, "--new-model", answers=votes)
    first, second = _named_alike(first, second)
    second = _with_targets(first, second, policy)
    result = gate(
        first.tasks,
        second.tasks,
        policy,
        sides=_sides(first, second, base, new),
        unlike=_unlike(first, second),
        judged=_judged(first, second),
    )
    remarks = [*first.remarks, *second.remarks, *_remarks(first, second, policy)]
    remarks += [Remark(line, True) for line in choice_lines(reading.first, policy.accept)]
    return replace(result, remarks=tuple(remarks))


@dataclass(frozen=True)
class _Side:
    """The tasks of one model."""

    model: str
    tasks: Mapping[str, Outcomes]
    readings: Sequence[Groups]
    remarks: tuple[Remark, ...]
    judges: Mapping[str, JudgeScores] = field(default_factory=dict)


def _judged(base: _Side, new: _Side) -> dict[str, JudgedPair]:
    """Return the tasks whose scores are a judge's on both sides."""
    return {
        task: JudgedPair(base.judges[task], new.judges[task])
        for task in base.judges
        if task in new.judges
    }


def _sides(
    first: _Side, second: _Side, base: str | Path, new: str | Path
) -> tuple[GateSide, GateSide]:
    """Name the models; by their sources where both have one name."""
    if first.model == second.model:
        return GateSide(str(base), str(base)), GateSide(str(new), str(new))
    return GateSide(str(base), first.model), GateSide(str(new), second.model)


def _side(
    source: str | Path, reading: GateReading, model: str | None, option: str, *, answers: bool
) -> _Side:
    paths, remarks = _paths(source)
    readings = [
        read(
            path, columns=reading.columns, threshold=reading.threshold, skip_bad=reading.skip_bad,
            targets=True, answers=answers, scales=reading.scales, first=reading.first,
        )
        for path in paths
    ]  # fmt: skip
    remarks += [
        Remark(f"{one.source}: {remark}", remark.important)
        for one in readings
        for remark in one.remarks
    ]
    remarks += [remark for path in paths if (remark := _being_written(path)) is not None]
    held = [entry for one in readings for entry in entries(one, None)]
    name = _model(source, {entry.model for entry in held}, model, option)
    tasks: dict[str, Outcomes] = {}
    judges: dict[str, JudgeScores] = {}
    for entry in held:
        if entry.model != name:
            continue
        for task, outcomes in entry.outcomes.items():
            if (task or NAMELESS) in tasks:
                raise InvalidInput(
                    f"{source} holds {task or NAMELESS} twice; give the directory of one run."
                )
            tasks[task or NAMELESS] = outcomes
        judges |= {task or NAMELESS: scores for task, scores in entry.judged.items()}
    return _Side(name or Path(source).stem, tasks, readings, tuple(remarks), judges)


def _paths(source: str | Path) -> tuple[list[Path], list[Remark]]:
    """Return the run directories of a folder, or the source; those without trials apart."""
    if not is_several(source):
        return [Path(source)], []
    chosen = chosen_sources(expand_sources([source]), (), ())
    empty = [Remark(reason, True) for reason in chosen.values() if isinstance(reason, str)]
    return [Path(path) for path, held in chosen.items() if not isinstance(held, str)], empty


def _model(
    source: str | Path, known: set[str | None], wanted: str | None, option: str
) -> str | None:
    names = sorted(name for name in known if name is not None)
    if wanted is None:
        if len(known) == 1:
            return next(iter(known))
        raise InvalidInput(
            f"{source} holds several models ({', '.join(names)}); choose one with {option}."
        )
    if wanted not in known:
        hint = nearest(wanted, names) or f" It has {', '.join(names) or 'none that is named'}."
        raise UnknownName(f"{source} has no model named {wanted!r}.{hint}")
    return wanted


def _being_written(path: Path) -> Remark | None:
    writer = holder(path) if is_run_directory(path) else None
    if writer is None:
        return None
    return Remark(f"{path} is still being written, by {writer}: the verdict may change", True)


def _named_alike(base: _Side, new: _Side) -> tuple[_Side, _Side]:
    """Give a task without a name that of the other side's only one."""
    if len(base.tasks) == len(new.tasks) == 1 and base.tasks.keys() != new.tasks.keys():
        (first,), (second,) = base.tasks, new.tasks
        if NAMELESS in (first, second):
            name = first if second == NAMELESS else second
            return _renamed(base, first, name), _renamed(new, second, name)
    return base, new


def _renamed(side: _Side, task: str, name: str) -> _Side:
    judges = {name: side.judges[task]} if task in side.judges else {}
    return replace(side, tasks={name: side.tasks[task]}, judges=judges)


def _unlike(base: _Side, new: _Side) -> dict[str, str]:
    """Return the tasks whose scores on the two sides do not mean the same, and why."""
    known, readings = _known_tasks(base, new), [*base.readings, *new.readings]
    reasons: dict[str, str] = {}
    for task, names in different_scorers(readings, known).items():
        reasons[task or NAMELESS] = (
            f"scored by {' and '.join(names)}, which may differ in what they count as right; "
            "choose one scorer for both with --score"
        )
    for task in base.tasks:
        sides = [side.judges[task] for side in (base, new) if task in side.judges]
        if len(sides) == 1 and task in new.tasks:
            reasons[task] = f"only one side is judged by {sides[0].title}"
        elif len(sides) == 2 and uncorrected_reason(sides) and (apart := judges_apart(sides)):
            reasons[task] = apart
    return reasons


def _with_targets(base: _Side, new: _Side, policy: GatePolicy) -> _Side:
    """Return the new side, which knows where targets differ from those of the base."""
    readings = [*base.readings, *new.readings]
    apart = target_findings(readings, _known_tasks(base, new), policy.max_left_out)
    named = {task or next(iter(new.tasks)): findings for task, findings in apart.items()}
    tasks = {name: outcomes.knowing(named.get(name, ())) for name, outcomes in new.tasks.items()}
    return replace(new, tasks=tasks)


def _known_tasks(base: _Side, new: _Side) -> list[str | None]:
    """Return the names of shared tasks as readings have them: None where there is no name."""
    return [task for task in base.tasks if task in new.tasks and task != NAMELESS] or [None]


def _remarks(base: _Side, new: _Side, policy: GatePolicy) -> list[Remark]:
    shared = [task for task in base.tasks if task in new.tasks]
    readings = [*base.readings, *new.readings]
    models: dict[str | None, dict[str, Outcomes]] = {
        task: {"BASE": base.tasks[task], "NEW": new.tasks[task]} for task in shared
    }
    tasks = _known_tasks(base, new)
    remarks = sandbox_remarks(readings, tasks)
    remarks += [
        Remark(
            f"{task}: both sides have the same scores, problem by problem; are they one run?", True
        )
        for task, sides in models.items()
        if _are_equal(*sides.values())
    ]
    alone = [task for task in new.tasks if task not in base.tasks and task not in policy.tasks]
    if alone:
        remarks.append(Remark(f"only in NEW, and not compared: {', '.join(alone)}"))
    return remarks


def _are_equal(base: Outcomes, new: Outcomes) -> bool:
    """Return whether all counts are equal though trials vary, which chance hardly ever does."""
    if base.successes is None or new.successes is None or base.n_trials < 30:
        return False
    same = dict(zip(base.problems, base.successes.tolist(), strict=True)) == dict(
        zip(new.problems, new.successes.tolist(), strict=True)
    )
    return same and bool(((base.successes > 0) & (base.successes < base.trials)).sum() >= 5)


def _needs_answers(policy: GatePolicy) -> bool:
    task_metrics = [rule.metrics for rule in policy.tasks.values() if rule.metrics is not None]
    return needs_answers([name for metrics in (policy.metrics, *task_metrics) for name in metrics])


def _refuse_same(base: str | Path, new: str | Path, reading: GateReading) -> None:
    if Path(base).resolve() == Path(new).resolve() and reading.base_model == reading.new_model:
        raise InvalidInput(
            f"BASE and NEW are the same, {base}; a model cannot be gated against itself. Where one "
            "source holds both, name them with --base-model and --new-model."
        )
