"""Posterior intervals.

`methods` are the intervals; `joint_means` the distribution of means over problems that each have a
Beta posterior; `beta_mixture` a distribution made of many narrow Betas, and its quantiles.
"""
