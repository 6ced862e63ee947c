"""The SQLite file: schema, packing, checksums, writing."""
