"""`where`: a condition on the columns of a row, as in ``where: category == "math"``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from passband.errors import InvalidInput, Place
from passband.tasks.rendering import Renderer
from passband.tasks.template import Template

__all__ = ["Condition"]

T = TypeVar("T")
Row = Mapping[str, Any]

_CHUNK = 256  # rows that are looked at together, where another process looks at them


class Condition:
    """An expression of Jinja over the columns of a row, which holds or does not.

    >>> hard = Condition("level >= 4 and subject != 'Geometry'")
    >>> hard.holds({"level": 5, "subject": "Algebra"})
    True
    """

    def __init__(
        self,
        expression: str,
        place: Place | None = None,
        *,
        name: str = "where",
        trusted: bool = False,
    ) -> None:
        self._place, self._name = place, name
        if not expression.strip() or "{{" in expression or "{%" in expression:
            raise InvalidInput(
                f"{name} must be an expression without braces, such as level == 5; "
                f"got {expression!r:.60}."
            )
        try:
            template = Template(f"{{% if ({expression}) %}}1{{% endif %}}")
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error}") from None
        self._renderer = Renderer(template, trusted=trusted)

    def kept(self, rows: Iterable[tuple[T, Row]]) -> Iterator[tuple[T, Row]]:
        """Yield the pairs whose row the condition holds for."""
        source = iter(rows)
        while chunk := list(islice(source, _CHUNK)):
            self._renderer.expect([row for _, row in chunk])
            yield from (pair for pair in chunk if self.holds(pair[1]))

    def holds(self, row: Row) -> bool:
        """Return whether the condition holds for a row."""
        try:
            return bool(self._renderer.render(row))
        except InvalidInput as error:
            raise InvalidInput(f"{self._name}: {error}", place=self._place) from None
