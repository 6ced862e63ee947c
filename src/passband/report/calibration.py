"""Render a calibration: the items of each split, and how far to trust them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from passband.adaptive import CalibratedBank
from passband.report.rendering import Row

_SHOWN = 5  # kinds of reasons for which items were dropped


def calibration_rows(made: CalibratedBank) -> list[Row]:
    """Return one row per split: its items and their typical parameters."""
    parameters, errors = made.bank.parameters, made.calibration.se
    rows: list[Row] = []
    for split in made.bank.splits:
        at = [place for place, item in enumerate(made.bank.items) if item.split == split]
        low, middle, high = np.quantile(parameters.b[at], [0.1, 0.5, 0.9])
        rows.append(
            {
                "split": split,
                "items": len(at),
                "difficulty": f"{middle:.2f}",
                "80% of them": f"[{low:.2f}, {high:.2f}]",
                "se of b": _median(errors.b[at]),
                "discrimination": f"{np.median(parameters.a[at]):.2f}",
                "se of a": _median(errors.a[at]),
            }
        )
    return rows


def calibration_notes(made: CalibratedBank, output: str) -> list[str]:
    """Return the data of the calibration, the dropped items with reasons, and the next step."""
    fitted, bank = made.calibration, made.bank
    lines = [
        f"{len(made.respondents)} respondents, theta from {fitted.abilities.theta.min():.2f} to "
        f"{fitted.abilities.theta.max():.2f}; repeats of an item correlate by {bank.rho:.2f}",
        *(str(note) for note in fitted.notes),
    ]
    kinds = Counter(reason.partition(":")[2].strip() or reason for reason in made.dropped.values())
    lines += [f"dropped {count}: {reason}" for reason, count in kinds.most_common(_SHOWN)]
    return [*lines, f"wrote {output}; run it with passband run {output}:adaptive --model MODEL"]


def calibration_json(made: CalibratedBank, output: str) -> dict[str, Any]:
    """Return the calibration as JSON-serialisable values."""
    fitted, bank = made.calibration, made.bank
    names = [one.name for one in made.respondents]
    thetas = zip(names, fitted.abilities.theta.tolist(), fitted.abilities.se.tolist(), strict=True)
    return {
        "bank": bank.name,
        "output": output,
        "hash": bank.hash,
        "model": bank.model,
        "rho": bank.rho,
        "splits": dict(Counter(item.split for item in bank.items)),
        "respondents": [{"name": n, "theta": theta, "se": se} for n, theta, se in thetas],
        "dropped": dict(made.dropped),
        "converged": fitted.converged,
        "iterations": fitted.iterations,
        "log_likelihood": fitted.log_likelihood,
        "notes": [note._asdict() for note in fitted.notes],
    }


def _median(values: Any) -> str | None:
    known = values[np.isfinite(values)]
    return f"{np.median(known):.2f}" if len(known) else None
