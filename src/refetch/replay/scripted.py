"""A model that says what a script says, so that a run is the same every time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from refetch.model.errors import FixtureError, UsageError
from refetch.replay.harness import Message
from refetch.replay.steps import Step, read_step


class ScriptedModel:
    """Gives one step of the script per request. `position` counts the steps given."""

    def __init__(self, steps: Iterable[Any], name: str) -> None:
        self.name = name
        self.position = 0
        self._steps = list(steps)

    def __call__(self, messages: list[Message]) -> Step:
        """The next step.

        Raises:
            FixtureError: the script has no further step, or this one is none.
        """
        number = self.position + 1
        if number > len(self._steps):
            raise FixtureError(
                f"{self.name}: the model was asked for step {number}, "
                f"and the script has {len(self._steps)}"
            )
        step = self._steps[self.position]
        self.position = number
        try:
            return read_step(step(messages) if callable(step) else step)
        except UsageError as error:
            raise FixtureError(f"{self.name}: step {number}: {error}") from None


def scripted_model(
    steps: Iterable[Any | Callable[[list[Message]], Any]], name: str = "script"
) -> ScriptedModel:
    """A scripted model for `run_agent`.

    Args:
        steps: mappings with `tool_calls` (or `toolCalls`) or `final`; or functions of the messages
            so far that give such a mapping.
        name: what errors call the script.
    """
    return ScriptedModel(steps, name)
