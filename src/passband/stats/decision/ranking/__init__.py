"""Many models at once: all differences, which may be the best, and models of ability.

`compare_all` compares models on the problems that all of them have (`field`): intervals and
p-values that hold for all pairs (`simultaneous`, `adjusted`), and the confidence of being the
`best`. Its pairs share the intervals of each side (`side_table`, `tabulated`). `rank_models` fits
`abilities` to whatever problems each model was asked (`answers`): by `bradley_terry` or by
`conditional_logit`, each a `likelihood`.
"""

from passband.stats.decision.ranking.all_pairs import compare_all
from passband.stats.decision.ranking.model_ranks import rank_models
from passband.stats.decision.ranking.ranking import (
    Abilities,
    ModelAbility,
    ModelPair,
    RankedModel,
    Ranking,
)
from passband.stats.decision.ranking.simultaneous import benjamini_hochberg, holm

__all__ = [
    "Abilities",
    "ModelAbility",
    "ModelPair",
    "RankedModel",
    "Ranking",
    "benjamini_hochberg",
    "compare_all",
    "holm",
    "rank_models",
]
