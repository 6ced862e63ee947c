"""The state and the figures of a run that may still be going on."""
