"""Whether a new model may replace a base: checks of many metrics, and rulings on all of them."""
