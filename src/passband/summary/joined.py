"""Summaries of several sources as one: tasks by models by metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from passband.readers import Remark
from passband.summary.summary import Combined, Group, Summary

__all__ = ["join_summaries"]

_USUAL = ("task", "model")
_RUN = "run"  # the column of sources, where task and model do not tell groups apart


def join_summaries(summaries: Mapping[str, Summary], *, by_model: bool = False) -> Summary:
    """Return one summary of several, which are given by the short name of their source.

    Groups are set apart by task and model where these differ, by what their own source splits
    them by, and by their source where that is not enough. They come task by task, and within a
    task in the order of the sources. With `by_model`, groups have their model in any case.
    """
    first = next(iter(summaries.values()))
    if len(summaries) == 1 and not by_model:
        return first
    groups = [(name, group) for name, one in summaries.items() for group in one.groups]
    keys = _keys(groups, by_model)
    members = [replace(group, by=key) for (_, group), key in zip(groups, keys, strict=True)]
    tasks = list(dict.fromkeys(group.task for group in members))
    members.sort(key=lambda group: tasks.index(group.task))
    return Summary(
        ", ".join(one.source for one in summaries.values()),
        first.request,
        tuple(members),
        tuple(_remarks(summaries)),
        first.columns if len({str(one.columns) for one in summaries.values()}) == 1 else {},
        tuple(_combined(summaries, keys)),
    )


def _keys(groups: Sequence[tuple[str, Group]], by_model: bool) -> list[dict[str, str]]:
    """Return what sets each group apart from all others."""
    names = [{"task": group.task or "-", "model": group.model or source, **group.by}
             for source, group in groups]  # fmt: skip
    split = dict.fromkeys(name for _, group in groups for name in group.by if name not in _USUAL)
    apart = [
        name
        for name in _USUAL
        if len({one[name] for one in names}) > 1 or (by_model and name == "model")
    ]
    keys = [{name: one.get(name, "-") for name in (*apart, *split)} for one in names]
    if len({tuple(key.items()) for key in keys}) < len(keys):
        return [{_RUN: source, **key} for (source, _), key in zip(groups, keys, strict=True)]
    return keys


def _remarks(summaries: Mapping[str, Summary]) -> list[Remark]:
    """Return the remarks on all sources once, then those on some with the name of their source."""
    found = [one.remarks for one in summaries.values()]
    common = [remark for remark in found[0] if all(remark in others for others in found)]
    rest = [
        remark._replace(text=f"{name}: {remark}")
        for name, one in summaries.items()
        for remark in one.remarks
        if remark not in common
    ]
    return [*common, *rest]


def _combined(
    summaries: Mapping[str, Summary], keys: Sequence[Mapping[str, str]]
) -> list[Combined]:
    """Return the means over the groups of each source, with what sets that source apart."""
    combined: list[Combined] = []
    place = 0
    for one in summaries.values():
        own = keys[place : place + len(one.groups)]
        place += len(one.groups)
        shared = {
            name: own[0][name]
            for name in ("model", _RUN)
            if own and name in own[0] and len({key[name] for key in own}) == 1
        }
        combined += [replace(mean, by={**shared, **mean.by}) for mean in one.combined]
    return combined
