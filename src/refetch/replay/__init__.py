"""Replaying: a scripted model, a small agent loop, fixtures, and traces captured as tests."""

from refetch.replay.capture import capture, encode_fixture
from refetch.replay.fixtures import Fixture, load_fixture, packaged_fixtures, run_fixture
from refetch.replay.harness import AgentRun, TransientError, arun_agent, run_agent
from refetch.replay.replaying import ReplayResult, replay_fixture
from refetch.replay.scripted import ScriptedModel, scripted_model

__all__ = [
    "AgentRun",
    "Fixture",
    "ReplayResult",
    "ScriptedModel",
    "TransientError",
    "arun_agent",
    "capture",
    "encode_fixture",
    "load_fixture",
    "packaged_fixtures",
    "replay_fixture",
    "run_agent",
    "run_fixture",
    "scripted_model",
]
