"""The ticket of a drawn trial: how it was drawn and what its answer was, in one cell of the file.

A labeller must see neither the verdict nor the model, and the probability of being drawn can give
the verdict away. So a ticket is a short text that nobody reads by accident: JSON in base64, with a
checksum. It hides nothing from those who look.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from dataclasses import astuple, dataclass

from passband.errors import InvalidInput

_VERSION = 1
_PREFIX = "drawn."  # base64 may begin with a minus, which a spreadsheet takes for a formula


@dataclass(frozen=True)
class Ticket:
    """How one trial was drawn."""

    problem: str
    trial: int
    run: str  #: fingerprint of the run
    judge: str  #: the scorer that the labels are to correct
    design: str
    seed: int
    drawn: int  #: trials that were drawn in all
    problems: int  #: that they were drawn from
    trials: int
    probability: float  #: of this trial, of being drawn
    answer: str  #: digest of the answer that was shown

    def text(self) -> str:
        """Return the ticket as one word.

        >>> ticket = Ticket("p1", 0, "a1", "judge", "spread", 7, 10, 40, 80, 0.125, "f00")
        >>> Ticket.parse(ticket.text()) == ticket
        True
        """
        data = json.dumps([_VERSION, *astuple(self)], ensure_ascii=True, separators=(",", ":"))
        packed = data.encode()
        checked = zlib.crc32(packed).to_bytes(4, "big") + packed
        return _PREFIX + base64.urlsafe_b64encode(checked).decode()

    @staticmethod
    def parse(text: str) -> Ticket:
        """Read a ticket; raise `InvalidInput` for anything else."""
        try:
            word = text.strip().removeprefix(_PREFIX)
            raw = base64.b64decode(word.encode("ascii"), altchars=b"-_", validate=True)
            version, *values = json.loads(raw[4:])
            is_whole = zlib.crc32(raw[4:]).to_bytes(4, "big") == raw[:4]
            ticket = Ticket(*values) if version == _VERSION else None
        except (ValueError, TypeError, RecursionError):
            is_whole, ticket = False, None
        if not is_whole or ticket is None:
            raise InvalidInput(
                "the column ticket is damaged; leave it as `passband label` wrote it. Without that "
                "column, labels are taken as a random sample."
            )
        return ticket


def digest_of(text: str | None) -> str:
    """Return what tells an answer from another one."""
    data = (text or "").encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:16]
