"""Statistics of repeated trials. Stands on numpy alone and knows nothing of the other layers."""
