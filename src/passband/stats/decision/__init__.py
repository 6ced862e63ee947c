"""What to conclude: comparisons of models, splits of variance, plans."""
