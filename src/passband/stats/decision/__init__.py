"""Decisions: comparisons of models, splits of variance, plans.

`compare` matches two models problem by problem (`pairing`), takes their `difference` with an
interval, and tests it (`sign_flips`). `ranking` does so for many models at once. `variance` splits
an estimate's variance into problems and sampling; `plan` turns such variances into numbers of
problems and trials.
"""
