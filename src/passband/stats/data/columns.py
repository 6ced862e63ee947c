"""Names of columns, and the role that each plays in a table of trials."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passband.column_names import matching, normalized
from passband.errors import InvalidInput, UnknownName, nearest
from passband.stats.data.cells import is_absent, listing

__all__ = [
    "CHOSEN",
    "OUTCOME_NAMES",
    "ROLES",
    "SPLIT_BY",
    "Roles",
    "find_roles",
    "is_trial_name",
    "normalized",
    "refuse_chosen",
    "require_column",
    "score_columns",
]

#: Says of each row of an adaptive test why its problem was chosen.
CHOSEN = "adaptive_reason"

#: What a column can be, and the names it is guessed from, the surest first. Capitals, spaces,
#: dashes and underscores make no difference.
ROLES: Mapping[str, tuple[str, ...]] = {
    "problem": (
        "problem_id", "problem", "question_id", "question", "task_id", "item_id", "item", "doc_id",
        "sample_id", "example_id", "instance_id", "prompt_id", "record_id", "scenario_id", "id",
    ),
    "trial": (
        "trial", "trial_id", "repeat", "repetition", "attempt", "rollout", "rollout_id",
        "replicate", "epoch", "sample", "sample_index", "completion_id", "generation_id",
        "run_index", "draw", "seed",
    ),
    "score": (
        "score", "correct", "is_correct", "passed", "pass", "success", "resolved", "solved",
        "reward", "acc", "accuracy", "exact_match", "outcome", "result", "value",
    ),
    "cluster": ("cluster", "cluster_id"),
    "status": ("status",),
    "answer": (
        "extracted", "extracted_answer", "extracted_prediction", "parsed_answer", "model_answer",
        "prediction", "predictions", "predicted", "pred", "filtered_resps", "final_answer",
        "answers", "answer",
    ),
    "judge": (),  # never guessed
    "label": (),
}  # fmt: skip

#: Columns that set apart what must not be pooled; a table with several values is split by them.
SPLIT_BY = (
    "model", "model_name", "model_id", "checkpoint", "ckpt", "step", "global_step",
    "task", "task_name", "dataset", "benchmark", "subset", "split",
    "run", "run_id", "run_name", "scorer", "metric", "filter",
    "temperature", "top_p", "num_fewshot",
)  # fmt: skip

#: Columns that describe what a trial led to, as scores do; they set nothing apart.
OUTCOME_NAMES = (
    "answer", "completion", "completion_tokens", "error", "explanation", "extracted_answer",
    "filtered_resps", "finish_reason", "gold", "grade", "judgement", "judgment", "output",
    "prediction", "reason", "refused", "resps", "response", "rule", "score_status", "stop_reason",
    "target", "truncated", "verdict",
)  # fmt: skip

_TRIAL_WORDS = frozenset(
    [
        "trial",
        "repeat",
        "repetition",
        "attempt",
        "rollout",
        "replicate",
        "epoch",
        "sample",
        "draw",
        "seed",
        "idx",
        "index",
        "iteration",
        "generation",
        "completion",
    ]
)
_REQUIRED = ("problem", "score")


def refuse_chosen(columns: Mapping[str, Sequence[Any]]) -> None:
    """Raise `InvalidInput` if problems were chosen by their answers, as in an adaptive test."""
    if any(not is_absent(reason) for reason in columns.get(CHOSEN, ())):
        raise InvalidInput(
            f"holds an adaptive test (column {CHOSEN}): its items were chosen for what they tell "
            "about ability, so averages over them estimate nothing. passband stats on its run "
            "directory gives ability (theta) and the accuracy of the whole bank."
        )


@dataclass(frozen=True)
class Roles:
    """The column of each role."""

    problem: str
    score: str
    trial: str | None = None
    cluster: str | None = None
    status: str | None = None
    answer: str | None = None
    judge: str | None = None  #: the score, where it is a judge's
    label: str | None = None  #: what a person says of the trial

    def __str__(self) -> str:
        return ", ".join(f"{role} = {name}" for role, name in vars(self).items() if name)


def is_trial_name(name: str) -> bool:
    """Return whether a column is named like a number of the trial, as rollout_idx is.

    >>> is_trial_name("rollout_idx"), is_trial_name("checkpoint")
    (True, False)
    """
    return not _TRIAL_WORDS.isdisjoint(re.split(r"[\s_-]+", name.lower()))


def find_roles(columns: Mapping[str, Sequence[Any]], chosen: Mapping[str, str | None]) -> Roles:
    """Return the columns that were chosen for roles, and guess the rest from their names."""
    if unknown := set(chosen) - set(ROLES):
        name = min(unknown)
        raise UnknownName(f"no column role named {name!r}.{nearest(name, ROLES)}")
    roles = {role: require_column(columns, role, name) for role, name in chosen.items() if name}
    _refuse_empty_cluster(columns, roles.get("cluster"))
    _take_judge_as_score(roles)
    for role in ROLES:
        if role not in roles and role != "answer":  # see `answer_column`
            taken = set(roles.values())
            usual = score_columns(columns) if role == "score" else matching(columns, ROLES[role])
            guess = next((name for name in usual if name not in taken), None)
            if guess is not None:
                roles[role] = guess
    for role in _REQUIRED:
        if role not in roles:
            raise UnknownName(_no_column(columns, role, set(roles.values())))
    return Roles(**roles)


def _take_judge_as_score(roles: dict[str, str]) -> None:
    """Take the judge's column as that of the scores."""
    judge, label = roles.get("judge"), roles.get("label")
    if judge is not None and roles.setdefault("score", judge) != judge:
        raise InvalidInput(
            f"judge ({judge}) and score ({roles['score']}) name two columns; the judge's scores "
            "are the scores."
        )
    if label is not None and label == roles.get("score"):
        raise InvalidInput(f"column {label} is both the score and the label; name two columns.")


def score_columns(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the columns that look like scores, the likeliest first.

    Sample logs of lm-eval have `resps`, and name the columns of their scores in `metrics`.
    """
    usual = matching(columns, ROLES["score"])
    listed = next(iter(columns.get("metrics", ())), None)
    if "resps" in columns and isinstance(listed, list):
        names = [name for name in listed if isinstance(name, str)]
        usual += [name for name in names if name in columns and name not in usual]
    return usual


def require_column(columns: Iterable[str], role: str, name: str) -> str:
    """Return the name of a column; raise `UnknownName` if there is none of that name."""
    if name not in columns:
        raise UnknownName(
            f"no column named {name!r} (for {role}).{nearest(name, columns)} "
            f"Found: {listing(columns)}."
        )
    return name


def _refuse_empty_cluster(columns: Mapping[str, Sequence[Any]], name: str | None) -> None:
    """Raise `InvalidInput` if a column without any value was chosen for the clusters."""
    if name is not None and all(map(is_absent, columns[name])):
        raise InvalidInput(f"column {name} (for cluster) is empty in every row.")


def _no_column(columns: Iterable[str], role: str, taken: set[str]) -> str:
    free = [name for name in columns if name not in taken]
    closest = next((hint for usual in ROLES[role] if (hint := nearest(usual, free))), "")
    return (
        f"no column looks like a {role}; found: {listing(columns)}.{closest} Say which "
        f"one it is with {role}= (in the shell, --{role}), "
        f"or name it {', '.join(ROLES[role][:3])}."
    )
