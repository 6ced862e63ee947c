"""What a client is told when its request is not carried out."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus


class Refusal(Exception):
    """An answer other than 2xx: a status, its title, and a detail that says what to do."""

    def __init__(
        self, status: int, detail: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})

    @property
    def title(self) -> str:
        """The name of the status, which clients show before the detail."""
        return HTTPStatus(self.status).phrase

    def to_json(self) -> dict[str, object]:
        """Return the body that the protocol has for errors.

        >>> Refusal(404, "There is no run 'x'.").to_json()
        {'title': 'Not Found', 'detail': "There is no run 'x'.", 'status': 404}
        """
        return {"title": self.title, "detail": self.detail, "status": self.status}


def unknown(detail: str) -> Refusal:
    """Refuse a name that nothing is stored under."""
    return Refusal(404, detail)


def conflict(detail: str) -> Refusal:
    """Refuse what was right once, or will be, but is not now."""
    return Refusal(409, detail)


def invalid(detail: str) -> Refusal:
    """Refuse a request that can be read, and asks for what cannot be."""
    return Refusal(422, detail)
