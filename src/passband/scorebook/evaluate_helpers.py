"""The parts of an evaluation under the names that Scorebook gives them."""

from passband.errors import ScoreBookError
from passband.scorebook.client import create_trismik_async_client
from passband.scorebook.datasets import AdaptiveEvalDataset
from passband.scorebook.run_spec import AdaptiveEvalRunSpec
from passband.scorebook.splits import resolve_split_async, resolve_split_sync

__all__ = [
    "AdaptiveEvalDataset",
    "AdaptiveEvalRunSpec",
    "ScoreBookError",
    "create_trismik_async_client",
    "resolve_split_async",
    "resolve_split_sync",
]
