"""Labels of people: drawing the trials to label, the file for the labeller, labels as scores."""
