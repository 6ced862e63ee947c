"""Metrics of outcomes, without intervals.

A name such as "pass@8" (`names`) is looked up (`registry`) and becomes a `Metric` (`metric`): an
average of one value per problem (`components`), or a blend of such averages. Most values are credit
vectors (`credits`), evaluated on counts (`kernel`) or at a success probability (`latent`), with
probabilities (`pmf`) made of scaled factorials (`factorials`). `measure` returns plain values and
curves; `bounds` how far unscored trials could move them; `posterior` and `categories` serve
`passband.eval`.
"""
