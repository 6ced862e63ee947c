"""How sure a metric is: fits, intervals by several methods, bands, extrapolation."""
