"""Traces in the formats of others: one module a format, one line in the registry."""

from refetch.writers.registry import Writer, Written, writer_for, writer_named, writer_names

__all__ = ["Writer", "Written", "writer_for", "writer_named", "writer_names"]
