"""What the harness did in a Claude Code session: compaction, hooks, attachments, the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from refetch.model.trace import MAIN, ContextLoss, Write
from refetch.readers.blocks import raw_of, whole_text
from refetch.readers.claude_code_people import prompt_from_text
from refetch.readers.claude_code_records import Attachment, Line, attached_file
from refetch.readers.claude_code_regions import region_of

if TYPE_CHECKING:
    from refetch.readers.claude_code_session import Session

ANY_FILE = "file:**"
_EDITS = frozenset(("Write", "Edit", "MultiEdit", "NotebookEdit"))
_IN_PROCESS = "callback"
_ids = msgspec.json.Decoder(dict[str, Any])


def hooked(
    session: Session,
    event: str | None,
    hook_name: str | None,
    command: str | None,
    call_id: str | None,
) -> None:
    """A command that ran after an edit may have written any file: formatters do.

    "callback" is code of the harness itself and writes nothing. Hooks after other tools are taken
    to look on. Whether the hook ran before the calls asked since is not recorded, so the write is
    put after the edit and after them.
    """
    tool = (hook_name or "").partition(":")[2]
    if event != "PostToolUse" or tool not in _EDITS or not command or command == _IN_PROCESS:
        return
    places = {session.last_seq}
    if calls := session.calls_with(call_id):
        places.add(calls[-1].fields["seq"])
    session.events.extend(Write(ANY_FILE, after, "hook") for after in sorted(places))


def system(session: Session, line: Line, context: str) -> None:
    """A system record: of interest where results left the context."""
    if line.subtype == "compact_boundary":
        session.lose(context, "compaction")
    elif line.subtype == "microcompact_boundary":
        _trimmed(session, line, context)


def _trimmed(session: Session, line: Line, context: str) -> None:
    try:
        ids = _ids.decode(line.microcompact_metadata).get("compactedToolIds")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        ids = None
    if not isinstance(ids, list):
        session.lose(context, "trim")
        return
    lost = [
        call.fields["seq"]
        for call_id in ids
        if isinstance(call_id, str)
        for call in session.calls_with(call_id)
        if call.fields["context"] == context
    ]
    if lost:
        session.events.append(ContextLoss(session.last_seq, "trim", context, lost))


def queued(session: Session, line: Line) -> None:
    """Words typed while the model worked."""
    if line.operation == "enqueue" and prompt_from_text(whole_text(line.content)) is not None:
        session.user_message(MAIN)


def attached(session: Session, line: Line, context: str, number: int, part: str | None) -> None:
    """Something put into the context beside the messages."""
    attachment = line.attachment
    if attachment is None:
        return
    if attachment.type == "edited_text_file":
        session.written_outside(attachment.filename)
    elif attachment.type == "queued_command":
        if attachment.command_mode != "task-notification" and prompt_from_text(
            whole_text(attachment.prompt)
        ):
            session.user_message(context)
    elif attachment.type == "file":
        _attached_file(session, attachment, line, context, number, part)
    elif attachment.type.startswith("hook_"):
        command = attachment.command or "not recorded"
        hooked(
            session,
            attachment.hook_event,
            attachment.hook_name,
            command,
            attachment.tool_use_id,
        )


def _attached_file(
    session: Session,
    attachment: Attachment,
    line: Line,
    context: str,
    number: int,
    part: str | None,
) -> None:
    """A file that the harness read by itself: mentioned by the user, or restored."""
    fields: dict[str, Any] = {
        "turn": session.contexts[context].turn,
        "name": "Read",
        "args": raw_of({"file_path": attachment.filename}),
        "context": context,
        "origin": "harness",
        "cwd": line.cwd,
        "outcome": "ok",
        "truncated": attachment.truncated,
        "ended": line.timestamp,
    }
    found = attached_file(attachment)
    if found is not None:
        fields["delivered"] = region_of(found)
    session.new_call(fields, "", line.uuid, number, part)
