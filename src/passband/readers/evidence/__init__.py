"""What a source records about its trials beyond their scores: the input of the findings."""
