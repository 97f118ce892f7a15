"""Why repeats are acquitted, in words: one entry for each reason of SPEC 7, in its order."""

from __future__ import annotations

import msgspec


class Reason(msgspec.Struct, frozen=True):
    """`condition`: what fails of SPEC 6; `short` completes "fine where …"; `doc` explains it."""

    name: str
    condition: str
    short: str
    doc: str


_ROWS: tuple[tuple[str, str, str, str], ...] = (
    (
        "recorder-artefact",
        "not delivered",
        "the recorder wrote one call down twice",
        "A record that says the same thing again: a line written twice, history that a resumed or "
        "forked file repeats, a streamed partial. It is no second call, and is not counted.",
    ),
    (
        "harness-retry",
        "not delivered",
        "the harness repeated a failed attempt",
        "The model asked once; the harness executed again after a transient error. Both attempts "
        "are one logical call, and only the last one delivers.",
    ),
    (
        "arguments-unknown",
        "not delivered",
        "the arguments of one of the calls were not recorded",
        "Without arguments nothing says that two calls are the same. Record them, or a hash of the "
        "request, to have them compared.",
    ),
    (
        "not-executed",
        "not delivered",
        "the earlier call never ran",
        "The earlier call was rejected, cancelled or refused before it began. It told nothing and "
        "changed nothing, so asking again is no repeat.",
    ),
    (
        "earlier-failed",
        "not delivered",
        "the earlier call failed",
        "Only a call that ended ok delivers an answer. A repeat after an error or a timeout is the "
        "way to get one. The same failure again and again is RF105.",
    ),
    (
        "not-delivered-whole",
        "not delivered",
        "the earlier answer was cut short, or is not known to have arrived",
        "A truncated answer covers only an equal request that was truncated alike, with known and "
        "equal results. A missing result, or the answer `unchanged`, delivers nothing.",
    ),
    (
        "other-region",
        "not covered",
        "it asks for another part",
        "Other lines, another page, another cursor or other fields of the same resource. A part "
        "that earlier reads had already delivered is RF101.",
    ),
    (
        "written-since",
        "not fresh",
        "something wrote it in between",
        "A write that touches, or may touch, the resource lies between the two: by a call of any "
        "context, a user, a hook or an attempt of the harness. Looking again after it is "
        "verification, even if the text turns out equal. The evidence names the write.",
    ),
    (
        "opaque-since",
        "not fresh",
        "a call of unknown effect lies in between",
        "An unclassified command or an undeclared tool may have changed anything in its domain. "
        "Declare the tool (`refetch tools TRACE` prints a table to fill in) to have the repeat "
        "judged. The evidence names the call.",
    ),
    (
        "expired",
        "not fresh",
        "the answer was only good for a while",
        "The tool declares a `ttl`, and it ran out. Where the trace has no times, an answer with a "
        "ttl is held to be expired in any later turn.",
    ),
    (
        "volatile",
        "not fresh",
        "the answer can change by itself",
        "A clock, a status, a poll, a screenshot, a log, a command on remote state, or a read "
        "while a background job or a wait may have changed things. Unchanged polls in a row are "
        "RF104.",
    ),
    (
        "context-lost",
        "not visible",
        "the earlier answer had left the context",
        "Compaction, clearing, trimming or eviction took the earlier result out of what the model "
        "sees. If nothing else speaks for the repeat, RF110 charges it to the context manager.",
    ),
    (
        "other-context",
        "not visible",
        "another context had the earlier answer",
        "A sub-agent does not see what its parent has read, nor the other way round. If nothing "
        "else speaks for the repeat, RF103 reports it to the orchestrator.",
    ),
    (
        "not-the-models-own",
        "not the model's own",
        "the model did not ask for it",
        "The repeat came from the harness, a hook or a user. The model is charged only with what "
        "it asked for itself.",
    ),
    (
        "result-changed",
        "contradicted",
        "the answer was another one",
        "The results are known and differ, so something changed, whoever did it. Asking again was "
        "right.",
    ),
    (
        "other-view",
        "not comparable",
        "it looks at the same thing in another way",
        "A listing, a search and the content of one resource are different views, and other "
        "arguments make another view unless they only spell the resource.",
    ),
    (
        "repeat-failed",
        "not comparable",
        "the repeat itself failed",
        "A repeat that brought no answer has nothing to complain about but its failure (RF105).",
    ),
    (
        "declared-repeatable",
        "not comparable",
        "the tool is meant to be repeated",
        "Input gestures, sampling, and tools declared `repeatable = true`.",
    ),
    (
        "effect-unknown",
        "not comparable",
        "nobody knows what the call does",
        "The repeat is itself a call of unknown effect: it may have been repeated for what it "
        "does. Declare the tool to have it judged.",
    ),
    (
        "effect-none",
        "not comparable",
        "the call tells nothing",
        "A call without answer or effect, such as a note to oneself, is no fetch.",
    ),
    (
        "user-message",
        "not comparable",
        "the user spoke in between",
        "People ask for fresh looks and change things themselves. If nothing else speaks for the "
        "repeat, RF107 counts it apart.",
    ),
    (
        "not-comparable",
        "not comparable",
        "the two are not certainly the same",
        "No single reason stands out, but neither is it certain that the first call made the "
        "second unnecessary; convicting needs certainty.",
    ),
)

ACQUITTAL_REASONS: dict[str, Reason] = {row[0]: Reason(*row) for row in _ROWS}
