"""The rows that the figures count: the period's exchanges, with what was read, written, computed and missed."""

from __future__ import annotations

from datetime import UTC

from promptlint_report import expressions as ir
from promptlint_report.engine import Engine
from promptlint_report.expressions import load_ibis
from promptlint_report.period import Period
from promptlint_report.prices import UNITS_PER_USD, Band, PriceBook, Priced, Rates

DAY_S = 86_400
EXPIRED = "KV405"
"""The rule of a prefix that outlived its cache."""
LABELS = ("environment", "team", "route", "prompt_group")
PRICE_KEYS = ("provider", "served_by", "model", "service_tier", "price_band")
CELL = ("week", "day", *LABELS, *PRICE_KEYS, "rule")
"""What a cell of the daily table is of."""


def in_period(exchanges: ir.Table, engine: Engine, period: Period, book: PriceBook) -> ir.Table:
    """The exchanges of the week and of the weeks ahead of it, one row each, with the columns the figures need.

    `week` is 0 for the reported week, -1 for the one before; `day` counts local days since 1970-01-01.
    """
    start, end = int(period.history_start.timestamp()), int(period.end.timestamp())
    rows = exchanges.mutate(at_s=_whole(engine.microseconds(exchanges.started_at), 1_000_000))
    rows = rows.filter((rows.at_s >= start) & (rows.at_s < end))
    rows = rows.mutate(day=_local_day(rows.at_s, period), **_names(rows), **_flags(rows))
    rows = rows.mutate(
        week=_whole(rows.day - period.first_day, 7),
        hit=rows.reported_hit_tokens.coalesce(rows.predicted_hit_tokens).clip(upper=rows.prompt_tokens),
        wrote=rows.written_tokens.coalesce(0),
        price_band=_band(rows, period, book),
    )
    best = rows.best_hit_tokens.clip(upper=rows.prompt_tokens)
    rows = rows.mutate(missed=(best - rows.hit).clip(lower=0), read=rows.hit.coalesce(0))
    return rows.mutate(
        missed_written=_least(rows.missed, rows.wrote),
        computed=(rows.prompt_tokens - rows.read - rows.wrote).clip(lower=0),
    )


def cells(rows: ir.Table) -> ir.Table:
    """Sums by day, label, price and fault: small, and enough for every figure that adds up."""
    return rows.group_by(*CELL).aggregate(
        **_counts(rows), **_cache_sums(rows), **_output_sums(rows), **_size_sums(rows)
    )


def _counts(rows: ir.Table) -> dict[str, ir.Value]:
    """Requests and their prompts."""
    billed, sized = rows.billed, rows.prompt_tokens.notnull()
    return {
        "requests": rows.count(),
        "failed": rows.failed.sum(),
        "retries": rows.retry_of.notnull().sum(),
        "retry_tokens": _total(rows.prompt_tokens, rows.retry_of.notnull()),
        "billed_requests": billed.sum(),
        "prompt": _total(rows.prompt_tokens, billed),
        "prompt_reported_rows": (billed & (rows.prompt_tokens_source == "reported")).sum(),
        "prompt_rows": (billed & sized).sum(),
        "prompt_max": rows.prompt_tokens.max(),
    }


def _cache_sums(rows: ir.Table) -> dict[str, ir.Value]:
    """Where the prompt tokens came from, and what was missed."""
    billed, sized = rows.billed, rows.prompt_tokens.notnull()
    split = billed & rows.hit.notnull()
    reported, predicted = rows.reported_hit_tokens.notnull(), rows.predicted_hit_tokens.notnull()
    return {
        "computed": _total(rows.computed, billed),
        "read": _total(rows.read, billed & sized),
        "written": _total(rows.wrote, billed & sized),
        "written_1h": _total(rows.written_1h_tokens, billed & sized),
        "hit_reported_rows": (billed & reported).sum(),
        "hit_estimated_rows": (split & ~reported).sum(),
        "hit_unknown_rows": (billed & rows.hit.isnull()).sum(),
        "reported_hit": _total(rows.reported_hit_tokens, billed & sized),
        "reported_of": _total(rows.prompt_tokens, billed & reported),
        "predicted_hit": _total(rows.predicted_hit_tokens, billed & sized),
        "predicted_of": _total(rows.prompt_tokens, billed & predicted),
        "best": _total(rows.best_hit_tokens, split & rows.missed.notnull()),
        "best_of": _total(rows.prompt_tokens, split & rows.missed.notnull()),
        "missed": _total(rows.missed, billed),
        "missed_written": _total(rows.missed_written, billed & rows.missed.notnull()),
        "missed_requests": (billed & (rows.missed > 0)).sum(),
        "best_unknown_rows": (billed & rows.missed.isnull()).sum(),
    }


def _output_sums(rows: ir.Table) -> dict[str, ir.Value]:
    """What was generated, and what of it without a bound."""
    billed, answered = rows.billed, rows.output_tokens.notnull()
    unbounded = rows.output_bound.isnull() & ~rows.failed
    return {
        "output": _total(rows.output_tokens, billed),
        "output_rows": (billed & answered).sum(),
        "output_reported_rows": (billed & answered & (rows.output_tokens_source != "estimated").fill_null(True)).sum(),
        "output_unknown_rows": (billed & ~answered).sum(),
        "unbounded": unbounded.sum(),
        "unbounded_output": _total(rows.output_tokens, unbounded),
        "unbounded_output_rows": (unbounded & answered).sum(),
        "unbounded_max": rows.output_tokens.max(where=unbounded),
        "cut_off": (rows.finish_reason.lower().isin(("length", "max_tokens", "max_output_tokens")))
        .fill_null(False)
        .sum(),
    }


def _size_sums(rows: ir.Table) -> dict[str, ir.Value]:
    """Parts of the prompt, retrieval, KV memory."""
    billed = rows.billed
    return {
        "parts_rows": (billed & rows.messages_tokens.notnull()).sum(),
        "tools": _total(rows.tools_tokens, billed),
        "system": _total(rows.system_tokens, billed),
        "messages": _total(rows.messages_tokens, billed),
        "retrieved": _total(rows.retrieved_tokens, billed),
        "retrieved_rows": (billed & (rows.retrieved_tokens > 0)).sum(),
        "retrieved_of": _total(rows.prompt_tokens, billed & (rows.retrieved_tokens > 0)),
        "retrieved_max": rows.retrieved_tokens.max(where=billed),
        "passages": _total(rows.retrieved_passages, billed),
        "passages_rows": (billed & (rows.retrieved_tokens > 0) & rows.retrieved_passages.notnull()).sum(),
        "passages_max": rows.retrieved_passages.max(where=billed),
        "hashed_rows": rows.block_size.notnull().sum(),
        "hashed_blocks": _total(rows.prompt_tokens // rows.block_size, rows.block_size > 0),
        "kv_bytes": _total(rows.kv_bytes, rows.kv_bytes.notnull()),
        "kv_rows": rows.kv_bytes.notnull().sum(),
        "kv_max": rows.kv_bytes.max(),
        "kv_in_flight_max": rows.kv_in_flight_bytes.max(),
        "kv_pool": rows.kv_pool_bytes.max(),
        "kv_pool_rows": (rows.kv_in_flight_bytes.notnull() & rows.kv_pool_bytes.notnull()).sum(),
        "kv_over": (rows.kv_in_flight_bytes > rows.kv_pool_bytes).fill_null(False).sum(),
    }


def priced(
    table: ir.Table, engine: Engine, period: Period, book: PriceBook
) -> tuple[ir.Table, dict[str, Rates | None]]:
    """The cells with their costs, in 1e-10 USD, and the rates by price key; costs are null where no price is known."""
    ibis = load_ibis()
    import pyarrow as pa

    keys = engine.run(table.select(*PRICE_KEYS).distinct())
    start, end = period.history_start.astimezone(UTC), period.end.astimezone(UTC)
    found: dict[str, Rates | None] = {}
    lines: list[dict[str, object]] = []
    for key in keys:
        moment, size = Band.of(int(key["price_band"])).asked(book, start, end)
        rates = book.rates(
            Priced(key["provider"], key["served_by"], key["model"], key["service_tier"].lower(), moment, size)
        )
        name = "\0".join(str(key[column]) for column in PRICE_KEYS)
        found[name] = rates
        if rates is not None:
            lines.append(
                {
                    **key,
                    "r_input": rates.input,
                    "r_read": rates.read,
                    "r_write_5m": rates.write_5m,
                    "r_write_1h": rates.write_1h,
                    "r_output": rates.output,
                }
            )
    text = [pa.field(column, pa.string()) for column in PRICE_KEYS[:-1]]
    numbers = ("price_band", "r_input", "r_read", "r_write_5m", "r_write_1h", "r_output")
    schema = pa.schema([*text, *(pa.field(name, pa.int64()) for name in numbers)])
    rates_table = engine.from_arrow(pa.Table.from_pylist(lines, schema=schema), "rates")
    joined = table.left_join(rates_table, list(PRICE_KEYS))
    joined = joined.select(*table.columns, *(joined[name] for name in numbers[1:]))
    write_5m = joined.written - joined.written_1h
    joined = joined.mutate(
        cost_computed=joined.computed * joined.r_input,
        cost_read=joined.read * joined.r_read,
        cost_written=write_5m * joined.r_write_5m + joined.written_1h * joined.r_write_1h,
        cost_output=joined.output * joined.r_output,
        write_surcharge=write_5m * (joined.r_write_5m - joined.r_input)
        + joined.written_1h * (joined.r_write_1h - joined.r_input),
        read_discount=joined.read * (joined.r_input - joined.r_read),
        cost_missed=(joined.missed - joined.missed_written) * (joined.r_input - joined.r_read)
        + joined.missed_written * (joined.r_write_5m - joined.r_read),
        cost_unbounded=joined.unbounded_output * joined.r_output,
        unpriced_requests=ibis.ifelse(joined.r_input.isnull(), joined.billed_requests, 0),
    )
    cost = joined.cost_computed + joined.cost_read + joined.cost_written + joined.cost_output
    return joined.mutate(cost=cost, saved=joined.read_discount - joined.write_surcharge), found


def usd(units: int | None) -> float | None:
    """A cost in USD; None stays unknown."""
    return None if units is None else int(units) / UNITS_PER_USD


def _names(rows: ir.Table) -> dict[str, ir.Value]:
    ibis = load_ibis()

    named = {column: rows[column].coalesce("") for column in (*LABELS, "provider", "served_by", "service_tier")}
    model = rows.served_model.coalesce(rows.model).coalesce("")
    # A prefix that was equal and came too late has no divergence: the fault is the expiry.
    expiry = ibis.ifelse(rows.expired.fill_null(False), EXPIRED, "")
    return {**named, "model": model, "rule": rows.divergence_rule.coalesce(expiry)}


def _flags(rows: ir.Table) -> dict[str, ir.Value]:
    failed = ((rows.status >= 400) | (rows.status.isnull() & rows.error.notnull())).fill_null(False)
    # A failed request is not billed unless the provider reported tokens for it (a stream that broke off).
    return {"failed": failed, "billed": ~failed | (rows.prompt_tokens_source == "reported").fill_null(False)}


def _local_day(at_s: ir.IntegerValue, period: Period) -> ir.IntegerValue:
    ibis = load_ibis()

    *changes, (_, last) = period.offsets()
    offset: ir.Value = ibis.literal(last, "int64")
    for until, before in reversed(changes):
        offset = ibis.ifelse(at_s < until, ibis.literal(before, "int64"), offset)
    return _whole(at_s + offset, DAY_S)


def _whole(number: ir.NumericValue, divisor: int) -> ir.IntegerValue:
    """Division rounded down, the same on every engine: the numbers are below 2**53."""
    result: ir.IntegerValue = (number.cast("float64") / divisor).floor().cast("int64")
    return result


def _band(rows: ir.Table, period: Period, book: PriceBook) -> ir.IntegerValue:
    ibis = load_ibis()

    def steps(value: ir.NumericValue, edges: list[int], strict: bool) -> ir.IntegerValue:
        count: ir.IntegerValue = ibis.literal(0, "int64")
        for edge in edges:
            above = (value > edge) if strict else (value >= edge)
            count = count + above.fill_null(False).cast("int64")
        return count

    dates = [
        int(step.timestamp())
        for step in book.date_steps(period.history_start.astimezone(UTC), period.end.astimezone(UTC))
    ]
    prompt = steps(rows.prompt_tokens, book.prompt_steps(), strict=True)
    day = steps(rows.at_s % DAY_S, book.day_steps_s(), strict=False)
    return prompt * 10_000 + day * 100 + steps(rows.at_s, dates, strict=False)


def _least(left: ir.IntegerValue, right: ir.IntegerValue) -> ir.IntegerValue:
    ibis = load_ibis()

    result: ir.IntegerValue = ibis.least(left, right)
    return result


def _total(value: ir.IntegerValue, where: ir.BooleanValue) -> ir.IntegerScalar:
    """The sum over the rows where the condition holds; 0 where there is none.

    Nulls in place of a filtered aggregate: DuckDB takes less than half of the time for it.
    """
    return load_ibis().ifelse(where, value, None).sum().coalesce(0)
