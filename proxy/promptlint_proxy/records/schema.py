"""The columns of the records: what the proxy writes and the report reads.

A column is never renamed or given another meaning; new ones are added with the next version and a migration. Absent is
null, never 0. Text of prompts and answers is in no column but the two `*_text` ones, which are null unless asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

VERSION = 1


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    """`text`, `integer`, `real`, `boolean`, `time` (microseconds since 1970 UTC), `integers` (a list of 64-bit
    integers; little-endian bytes in SQLite, list<int64> in Parquet)."""
    meaning: str
    since: int = 1
    """Schema version that brought the column: migration `since` adds it."""


def _columns(*rows: tuple[str, str, str]) -> tuple[Column, ...]:
    return tuple(Column(*row) for row in rows)


EXCHANGES = _columns(
    ("exchange_id", "text", "unique id of the exchange, the key for finding duplicates"),
    ("sidecar", "text", "id of the process that measured it"),
    ("started_at", "time", "request received"),
    ("environment", "text", "label from the configuration or the header x-promptlint-environment"),
    ("team", "text", "label, or a keyed hash of the API key"),
    ("route", "text", "label, or the upstream's name and path without query"),
    ("provider", "text", "who serves"),
    ("api", "text", "wire format"),
    ("model", "text", "model asked for"),
    ("served_model", "text", "model told in the answer"),
    ("served_by", "text", "provider that a router chose"),
    ("service_tier", "text", "tier asked for or told"),
    ("prompt_group", "text", "keyed hash of the stable head: requests that come from the same template"),
    ("line", "text", "keyed hash: conversation within the group"),
    ("turn", "integer", "position in the line, from 0"),
    ("status", "integer", "HTTP status; null when no answer came"),
    ("error", "text", "kind of error"),
    ("finish_reason", "text", "why the output ended"),
    ("stream", "boolean", "answered as a stream"),
    ("retry_of", "text", "exchange_id of the earlier identical request that failed"),
    ("prompt_tokens", "integer", "whole prompt"),
    ("prompt_tokens_source", "text", "reported or estimated"),
    ("tools_tokens", "integer", "part of the prompt (estimate)"),
    ("system_tokens", "integer", "part of the prompt (estimate)"),
    ("messages_tokens", "integer", "part of the prompt (estimate)"),
    ("retrieved_tokens", "integer", "retrieved passages in the prompt (estimate)"),
    ("retrieved_passages", "integer", "number of retrieved passages"),
    ("predicted_hit_tokens", "integer", "what our model of the provider's cache gives back"),
    ("reported_hit_tokens", "integer", "read from the cache as reported"),
    ("written_tokens", "integer", "written to the cache as reported"),
    ("written_5m_tokens", "integer", "of these with a life of five minutes"),
    ("written_1h_tokens", "integer", "of these with a life of an hour or more"),
    ("computed_tokens", "integer", "neither read nor written, as reported"),
    ("best_hit_tokens", "integer", "what the cache would have given back with the best order of this prompt"),
    ("output_tokens", "integer", "as reported"),
    ("output_tokens_source", "text", "reported or estimated"),
    ("reasoning_tokens", "integer", "part of the output"),
    ("output_bound", "integer", "bound on output tokens that the request sent; null: none"),
    ("verdict", "text", "first, append-only, diverged or unknown"),
    ("divergence_path", "text", "place on the wire"),
    ("divergence_char", "integer", "character in the string at that place"),
    ("divergence_origin", "text", "kind of the value that changed: clock, random, identity …"),
    ("divergence_rule", "text", "rule that names the fault"),
    ("tokens_behind", "integer", "tokens behind the divergence that the earlier request held too"),
    ("idle_s", "real", "seconds since the request it is compared with"),
    ("expired", "boolean", "the prefix was equal but the cache's life was over"),
    ("first_byte_s", "real", "request sent to first byte"),
    ("ttft_s", "real", "request sent to first generated content"),
    ("e2e_s", "real", "request sent to last byte"),
    ("itl_histogram", "integers", "counts of inter-token gaps, as promptlint_core.histogram packs them"),
    ("kv_bytes", "integer", "projected KV memory of the request"),
    ("kv_in_flight_bytes", "integer", "sum over requests in flight when it started, shared blocks once"),
    ("kv_pool_bytes", "integer", "configured pool"),
    ("block_size", "integer", "tokens per block of block_hashes"),
    ("block_hashes", "integers", "chained hashes of the prompt's full blocks, equal in all sidecars"),
    ("prompt_text", "text", "null unless record-text is on"),
    ("output_text", "text", "decoded body of the answer; null unless record-text is on"),
)

FINDINGS = _columns(
    ("exchange_id", "text", "exchange that shows it"),
    ("started_at", "time", "of that exchange"),
    ("prompt_group", "text", "group it was found in"),
    ("rule", "text", "id"),
    ("severity", "text", "error, warning or info"),
    ("path", "text", "place on the wire"),
    ("message", "text", "fact and size, spans classified, no text of the prompt"),
    ("tokens_behind", "integer", "tokens read again for nothing"),
)

GROUPS = _columns(
    ("prompt_group", "text", "keyed hash"),
    ("updated_at", "time", "when this row was written; the newest row of a group counts"),
    ("provider", "text", "who serves"),
    ("model", "text", "model asked for"),
    ("strip", "text", "JSON list of {part, path, cadence, origin, tokens}: the segments as observed"),
    ("sketch", "integers", "keyed hashes of word shingles of the stable text, to find the template in source"),
)

TABLES: dict[str, tuple[Column, ...]] = {"exchanges": EXCHANGES, "findings": FINDINGS, "groups": GROUPS}
