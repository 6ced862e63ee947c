"""The class of every verb: an option that takes one value may be given once."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperOption

from passband.errors import InvalidInput

__all__ = ["Command"]


class Command(TyperCommand):
    """A command that refuses an option given twice, where the last one would win silently."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments of a verb."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            for parameter in order:
                if _takes_one_value(parameter) and order.count(parameter) > 1:
                    option = max(parameter.opts, key=len)
                    what = option.lstrip("-").replace("-", " ")
                    raise InvalidInput(f"{option} was given twice; one {what} per command.")
        return super().parse_args(ctx, args)


def _takes_one_value(parameter: object) -> bool:
    return isinstance(parameter, TyperOption) and not (
        parameter.multiple or parameter.is_flag or parameter.count
    )
