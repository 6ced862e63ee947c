"""Charts as SVG, drawn here: one drawing for the page, for files and for notebooks."""
