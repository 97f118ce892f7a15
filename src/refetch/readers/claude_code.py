"""Claude Code: session files (`~/.claude/projects/…/<session>.jsonl`), their sub-agents,
stream-json.

Sniff: JSON Lines with `sessionId` and `uuid` (or, from `--output-format stream-json`, `session_id`
with a `message`), or the summaries and file snapshots such a file begins with.

- Turn: `message.id`, numbered per context; a message is spread over several records, with others
  between.
- Contexts: `main`, and one for each sub-agent (`progress` records with `data.agentId`; files
  `<session>/subagents/agent-<id>.jsonl`; `isSidechain` threads). `ContextStart.parent_call` is the
  Task call.
- Outcomes: see `claude_code_outcomes`. A result that never came leaves the call "missing".
- Context loss: `compact_boundary` (all), `microcompact_boundary` (the named results), `/clear`, and
  prompts that go back to an earlier message (everything on the abandoned branch).
- People: prompts, queued prompts, answers to AskUserQuestion, words in a rejection. Shell commands
  that the person ran with `!` are calls with origin "user", files attached by the harness calls
  with origin "harness".
- Writes by others: `edited_text_file` attachments, "File has been modified since read", and
  commands hooked after an edit, which may write any file.
- Usage: the last record of a message id.

What the format cannot tell: when a call of a batch began (only `ended` is given), what hooks wrote,
the argument text as the model sent it (only the parsed object), temperature and tool schemas.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from refetch.model.errors import InputError
from refetch.model.trace import Trace
from refetch.readers.claude_code_records import Line, Records
from refetch.readers.claude_code_session import FORMAT, Session
from refetch.readers.sniff import Sniffed, small_text

NAME = FORMAT
_LEADERS = {"summary": "leafUuid", "file-history-snapshot": "snapshot"}


def sniff(sniffed: Sniffed) -> bool:
    """True for records of a session file or of the stream-json output."""
    for row in sniffed.rows:
        kind = small_text(row.get("type"))
        if kind is None:
            continue
        if "sessionId" in row and ("uuid" in row or kind == "queue-operation"):
            return True
        if "session_id" in row and ("parent_tool_use_id" in row or "apiKeySource" in row):
            return True
        if _LEADERS.get(kind, "") in row:
            return True
    return False


def read(data: bytes, source: str) -> list[Trace]:
    """The one trace in a session file.

    Raises:
        InputError: not one record could be read.
    """
    return read_parts([(source, data)])


def read_parts(parts: Iterable[tuple[str, bytes]]) -> list[Trace]:
    """One trace from a session file and the files of its sub-agents.

    Args:
        parts: (source, content), the session's own file first. Records are merged by time; within a
            file its order stands.

    Raises:
        InputError: not one record could be read.
    """
    named = list(parts)
    source = named[0][0]
    readers = [Records(data, name) for name, data in named]
    session = Session(source)
    count = 0
    if len(readers) == 1:
        for number, line in readers[0]:
            count += 1
            session.add(line, number)
    else:
        streams = [_timed(records, index) for index, records in enumerate(readers)]
        for _, index, number, line in heapq.merge(*streams, key=lambda item: item[:2]):
            count += 1
            session.add(line, number, named[index][0] if index else None)
    problems = [problem for records in readers for problem in records.problems]
    if not count:
        first = problems[0] if problems else None
        raise InputError(
            source,
            first.message if first else "no records",
            line=first.line if first else None,
            path=first.path if first else None,
            expected="Claude Code records, one JSON object a line",
            found=first.found if first else "nothing",
        )
    return [session.trace(problems)]


def _timed(records: Records, index: int) -> Iterator[tuple[str, int, int, Line]]:
    latest = ""
    for number, line in records:
        if line.timestamp is not None and line.timestamp > latest:
            latest = line.timestamp
        yield latest, index, number, line
