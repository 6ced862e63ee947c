"""Run a trial from outside of its zygote: hand it over, read its results, drain its output."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import tempfile
import time

from . import wire

_GRACE = 60.0  # seconds beyond the wall clock for a zygote to answer, on a busy machine


class ZygoteGone(Exception):
    """The zygote ended, or does not answer."""


def converse(control: socket.socket, job: wire.Message) -> wire.Message:
    """Run a trial; return the zygote's report with the verdict or the output of the program."""
    inner, outer = socket.socketpair()
    request = {"kind": job["kind"], "limits": job["limits"]}
    with inner, outer:
        outer.settimeout(job["limits"]["wall"] + _GRACE)
        control.settimeout(job["limits"]["wall"] + _GRACE)
        try:
            if job["kind"] in ("split", "same"):
                return _judged(control, job, request, inner, outer)
            return _ran(control, job, request, inner, outer)
        except (OSError, wire.BadFrame) as error:
            raise ZygoteGone(str(error) or "it does not answer") from None


def _judged(
    control: socket.socket,
    job: wire.Message,
    request: wire.Message,
    inner: socket.socket,
    outer: socket.socket,
) -> wire.Message:
    wire.send(control, request, [inner.fileno()])
    inner.close()  # or the end of the child would not end the stream
    _give(outer, job["body"])
    report = _report(control)
    outer.setblocking(False)
    report["messages"] = _messages(outer)
    return report


def _give(outer: socket.socket, body: object) -> None:
    with contextlib.suppress(BrokenPipeError):  # the child is gone; the report says how
        wire.send(outer, body)


def _messages(outer: socket.socket) -> list[object]:
    """Return the messages that a child wrote before it ended."""
    messages: list[object] = []
    try:
        while True:
            message = wire.receive(outer)
            if message is None:
                return messages
            messages.append(message)
    except (OSError, wire.BadFrame):
        return messages


def _report(control: socket.socket) -> wire.Message:
    report = wire.receive(control)
    if not isinstance(report, dict):
        raise ZygoteGone("it ended")
    return report


def _ran(
    control: socket.socket,
    job: wire.Message,
    request: wire.Message,
    inner: socket.socket,
    outer: socket.socket,
) -> wire.Message:
    out, out_end = os.pipe()
    err, err_end = os.pipe()
    pipes = [out, err]
    try:
        with tempfile.TemporaryFile() as stdin:
            stdin.write(job["stdin"].encode("latin-1"))
            stdin.seek(0)
            files = [inner.fileno(), stdin.fileno(), out_end, err_end]
            try:
                wire.send(control, request, files)
            finally:
                inner.close()
                os.close(out_end)
                os.close(err_end)
        _give(outer, job["body"])
        report, texts, is_cut = _drained(control, pipes, job["limits"]["output"])
    finally:
        for pipe in pipes:
            os.close(pipe)
    outer.setblocking(False)
    report["messages"] = _messages(outer)
    report["stdout"], report["stderr"] = (bytes(text).decode("latin-1") for text in texts)
    report["is_cut"] = is_cut
    return report


def _drained(
    control: socket.socket, pipes: list[int], most: int
) -> tuple[wire.Message, list[bytearray], bool]:
    """Read output, keeping the first bytes of it, until the zygote reports the end."""
    texts, is_cut = [bytearray(), bytearray()], False
    report: wire.Message | None = None
    with selectors.DefaultSelector() as selector:
        for place, pipe in enumerate(pipes):
            os.set_blocking(pipe, False)
            selector.register(pipe, selectors.EVENT_READ, place)
        selector.register(control, selectors.EVENT_READ, None)
        limit = time.monotonic() + (control.gettimeout() or _GRACE)
        while report is None or len(selector.get_map()):
            events = selector.select(0 if report is not None else max(0, limit - time.monotonic()))
            if not events and report is not None:
                break  # somebody else holds the pipe; what was written is read
            if not events:
                raise ZygoteGone("it does not answer")
            for key, _ in events:
                if key.data is None:
                    report = _report(control)
                    selector.unregister(control)
                    continue
                piece = os.read(key.fd, 1 << 16)
                if not piece:
                    selector.unregister(key.fd)
                kept = piece[: most - len(texts[key.data])]
                texts[key.data] += kept
                is_cut = is_cut or len(kept) < len(piece)
    return report, texts, is_cut
