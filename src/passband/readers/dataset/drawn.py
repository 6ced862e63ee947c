"""What exports say of their runs: different settings must not be pooled, nor shards be missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from passband.errors import InvalidInput
from passband.readers.dataset.schema import Footer, Schema
from passband.readers.groups import Remark
from passband.trials.identity import identity_changes
from passband.trials.shards import Shards, joined

__all__ = ["refuse_mixed_settings", "shard_remarks"]


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
    old, new = earlier.settings[run].spec, footer.settings[run].spec
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


def shard_remarks(schema: Schema) -> Iterator[Remark]:
    """Yield a remark on each run of which the files hold some shards and not the others."""
    held: dict[tuple[str, str], Shards | None] = {}
    for footer in schema.footers:
        for run, exported in footer.settings.items():
            try:
                held[run] = joined(held[run], exported.shards) if run in held else exported.shards
            except InvalidInput as error:
                raise InvalidInput(
                    f"{footer.file}: its trials of {run[0]} by {run[1]} are not a shard of the "
                    f"same run: {error}."
                ) from None
    for (task, model), shards in held.items():
        if shards is not None and (words := shards.remark("among these files")):
            yield Remark(f"{task} by {model} is part of a run: {words}", important=True)
