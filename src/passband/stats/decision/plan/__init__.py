"""Plans: how many problems and trials an evaluation needs.

`plan` computes designs from variances, which come from a pilot or from numbers (`variances`);
`file` is the plan itself, as it is saved and checked.
"""
