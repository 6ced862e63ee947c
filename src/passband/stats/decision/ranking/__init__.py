"""Many models at once: all differences, which may be the best, and models of ability.

`compare_all` compares models on the problems that all of them have (`field`): intervals and
p-values that hold for all pairs (`simultaneous`, `adjusted`) and the confidence of being the `best`.
"""

from passband.stats.decision.ranking.adjusted import benjamini_hochberg, holm
from passband.stats.decision.ranking.compare_all import compare_all
from passband.stats.decision.ranking.ranking import Pair, Ranking, Standing

__all__ = ["Pair", "Ranking", "Standing", "benjamini_hochberg", "compare_all", "holm"]
