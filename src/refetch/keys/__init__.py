"""When two calls, two paths or two addresses are the same, decided by their spelling alone."""

from refetch.keys.json_text import UnreadableArguments, decode_json, encode_json
from refetch.keys.normalize import (
    VERBATIM_DEFAULT,
    canonical_members,
    normalize_args,
    normalize_json,
    normalized_key,
)
from refetch.keys.numbers import literal_text, number_text
from refetch.keys.paths import fold_path, lexical_path
from refetch.keys.raw import raw_key, stringify
from refetch.keys.text import trim
from refetch.keys.urls import canonical_url

__all__ = [
    "VERBATIM_DEFAULT",
    "UnreadableArguments",
    "canonical_members",
    "canonical_url",
    "decode_json",
    "encode_json",
    "fold_path",
    "lexical_path",
    "literal_text",
    "normalize_args",
    "normalize_json",
    "normalized_key",
    "number_text",
    "raw_key",
    "stringify",
    "trim",
]
