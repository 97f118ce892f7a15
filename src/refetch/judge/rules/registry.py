"""All rules, in the order in which they are asked (SPEC 7). The first that charges a call has
it.
"""

from __future__ import annotations

from refetch.judge.rule import Rule
from refetch.judge.rules import (
    call_budget,
    covered_read,
    cross_agent_refetch,
    cross_tool_refetch,
    duplicate_mutation,
    exact_duplicate,
    harness_duplicate,
    idle_poll,
    loop,
    refetch_after_context_loss,
    repeated_failure,
    reread_after_failed_write,
    reread_after_user_message,
    semantic_duplicate,
    stale_refetch,
)

CALL_RULES: tuple[Rule, ...] = (
    harness_duplicate.RULE,
    exact_duplicate.RULE,
    semantic_duplicate.RULE,
    reread_after_failed_write.RULE,
    reread_after_user_message.RULE,
    stale_refetch.RULE,
    covered_read.RULE,
    cross_tool_refetch.RULE,
    cross_agent_refetch.RULE,
    refetch_after_context_loss.RULE,
    idle_poll.RULE,
    repeated_failure.RULE,
    duplicate_mutation.RULE,
)

RULES: tuple[Rule, ...] = tuple(
    sorted((*CALL_RULES, call_budget.RULE, loop.RULE), key=lambda rule: rule.code)
)
