"""Plans: how many problems and trials a question needs."""
