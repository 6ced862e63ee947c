"""The viewer: pages over run directories, served to the browser of whoever started it."""
