"""Recording: wrap tools, run the agent, read the trace."""

from refetch.record.rows import OpenCall
from refetch.record.tool import Tool
from refetch.record.tracer import ToolTracer

__all__ = ["OpenCall", "Tool", "ToolTracer"]
