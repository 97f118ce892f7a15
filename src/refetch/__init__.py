"""refetch: which tool calls of an agent run were redundant, which only look it, and why."""

__version__ = "0.1.0"
