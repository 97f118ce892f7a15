"""Shell commands read with a Bash grammar: what they read, what they write, what stays unknown
(SPEC 5).
"""

from refetch.effects.shell.classify import classify, classify_argv, classify_each
from refetch.effects.shell.effect import ShellEffect, ShellRead, ShellWrite
from refetch.effects.shell.judged import judge_commands

__all__ = [
    "ShellEffect",
    "ShellRead",
    "ShellWrite",
    "classify",
    "classify_argv",
    "classify_each",
    "judge_commands",
]
