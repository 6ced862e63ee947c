"""The first process of a container: a host for the zygote beside it.

Files cannot be handed into a container, so jobs come as frames on standard input and reports leave
on standard output. This process sees programs and tests; the zygote that trials are copies of does
not.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket

from . import child, wire, zygote
from .client import ZygoteGone, converse


def main(settings: wire.Message) -> None:
    """Serve jobs until standard input ends."""
    os.environ.clear()
    os.environ.update(settings["variables"])
    ours, theirs = socket.socketpair()
    null = os.open("/dev/null", os.O_RDWR)

    def run() -> int:
        zygote.main(settings)
        return 0

    with theirs:
        null, stderr = (fcntl.fcntl(number, fcntl.F_DUPFD, 10) for number in (null, 2))
        child.start(False, [], run, [theirs.fileno(), null, stderr])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # what trials leave behind is reaped
    channel = Streams()
    wire.send(channel, wire.receive(ours))
    while True:
        job = wire.receive(channel)
        if job is None:
            return
        try:
            report = converse(ours, job)
        except ZygoteGone as gone:
            report = {"gone": str(gone)}
        wire.send(channel, report)


class Streams:
    """Standard input and output with the methods of a socket that frames need."""

    def recv(self, length: int) -> bytes:
        """Return some bytes, at most that many; none at the end."""
        return os.read(0, length)

    def sendall(self, data: bytes) -> None:
        """Write all bytes."""
        while data:
            data = data[os.write(1, data) :]
