"""Canaries: null answers that no judge should pass, through the real judge.

A judge that passes an answer without content says little about answers with some. For a few
problems it is shown an answer that only claims to be right, one that is a plea, and the right
answer to another problem; the share that it passes is reported beside its verdicts. Canaries are
recorded under a scorer of their own, which no table shows, and are no trials.
"""

from __future__ import annotations

KINDS = ("empty", "claim", "other")
