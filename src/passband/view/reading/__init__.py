"""Read run directories for pages: connections, figures, scans, queries."""
