"""The default interval, over problems and over trials."""
