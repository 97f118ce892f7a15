"""The verdicts: one incremental pass, one finding or acquittal per repeat."""

from refetch.judge.judge import Judge, judge_trace
from refetch.judge.state import Options

__all__ = ["Judge", "Options", "judge_trace"]
