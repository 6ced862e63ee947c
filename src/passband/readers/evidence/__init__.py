"""Evidence that a source records beyond scores: the input of the findings."""
