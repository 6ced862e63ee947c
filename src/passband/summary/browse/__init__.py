"""Browse the trials and problems of a run."""
