"""Plan how many problems and trials an evaluation needs.

`plans` computes designs from variances, which come from a pilot or from numbers (`variances`);
`widths` searches the design whose half-width is small enough, by `simulation` where a pilot allows
it; `file` is the plan itself, as it is saved and checked.
"""
