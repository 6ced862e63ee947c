"""Data sets of Parquet files, counted file by file in memory bounded by the number of problems."""
