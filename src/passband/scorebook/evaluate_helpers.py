"""The parts of an evaluation under the names that Scorebook gives them."""
