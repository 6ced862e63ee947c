"""Reports as HTML: one file that opens offline, on paper and on a phone, light and dark."""
