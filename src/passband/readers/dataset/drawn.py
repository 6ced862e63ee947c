"""Exports of runs with different settings, which must not be pooled."""

from __future__ import annotations

from collections.abc import Sequence

from passband.errors import InvalidInput
from passband.readers.dataset.schema import Footer, Schema
from passband.trials.identity import identity_changes

__all__ = ["refuse_mixed_settings"]


def refuse_mixed_settings(schema: Schema, split: Sequence[str]) -> None:
    """Raise `InvalidInput` if files of one group say that their trials were drawn differently.

    Only files that passband wrote say so. `split` are the columns that set groups apart; those that
    are names of folders set files apart too.
    """
    first: dict[tuple[object, ...], Footer] = {}
    for footer in schema.footers:
        keys = dict(footer.file.keys)
        apart = tuple(keys[name] for name in split if schema.is_key(name))
        for run in footer.settings:
            earlier = first.setdefault((*run, *apart), footer)
            _compare(run, earlier, footer)


def _compare(run: tuple[str, str], earlier: Footer, footer: Footer) -> None:
    old, new = earlier.settings[run], footer.settings[run]
    if earlier is footer or old == new:
        return
    if identity_changes(new, old) and (changed := identity_changes(old, new)):
        name, there, here = changed[0]
        folder = name.rpartition(".")[2]
        raise InvalidInput(
            f"{footer.file}: its trials of {run[0]} by {run[1]} were drawn with other settings "
            f"than those in {earlier.file}: {name} is {here} here, {there} there. To count them "
            f"apart, put the files into folders such as {folder}=.../ and give --by {folder}."
        )
