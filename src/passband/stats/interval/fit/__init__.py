"""Distributions of success probabilities over problems, fitted to counts.

`mixture` is the free distribution on a grid of probabilities that the default intervals use, over
the pairs (n, c) of a `count_grid`. `spiked_beta` is a Beta with shares of problems never and always
solved, which the posterior intervals use; `beta_mixture` is a mixture of narrow Betas.
"""
