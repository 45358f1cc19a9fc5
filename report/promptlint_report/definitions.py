"""What every figure and column of the report means, in one table: the report links to it, the page is made of it."""

from __future__ import annotations

DEFINITIONS: dict[str, str] = {
    # spend
    "spend": "Tokens of the week's billed requests times their price: input computed, read from the cache and written "
    "to it, and output. A request is billed unless it failed without reported usage. Where the hit is not reported the "
    "predicted one is priced; where neither is known the whole prompt counts as computed. Requests without a known "
    "price are left out and listed.",
    "spend_last_week": "The same for the week before.",
    "spend_share": "This row's spend ÷ the week's spend.",
    "spend_running_share": "Spend of this row and of all rows above it ÷ the week's spend.",
    "projection_week": "Spend so far ÷ the share of the week that is over.",
    "projection_month": "The projected week × 365.25 / 12 / 7 (4.35 weeks a month).",
    "budget": "What a week may cost, as given with --budget.",
    "budget_used": "Spend ÷ budget.",
    "requests": "Recorded requests, each once although two sidecars may have seen it; failed ones too.",
    "prompt_tokens": "All input tokens of billed requests, also those read from a cache, as reported, or else as "
    "estimated by promptlint's tokenizers.",
    "output_tokens": "Generated tokens of billed requests, reasoning included. Requests without a count are not in it.",
    "hit_rate": "Tokens read from the cache ÷ prompt tokens; read as reported, or else as predicted.",
    "missed_usd": "Missed tokens × the difference between what they cost and what reading them would have cost: input "
    "price − read price, or write price − read price for those that were written again.",
    "missed_usd_last_week": "The same for the week before.",
    "unpriced": "Models for which no price is known, by provider and tier. They are in no figure in money.",
    "provider": "Who serves the model.",
    "model": "The model told in the answer, or else the one asked for.",
    "service_tier": "The service tier asked for or told; empty is the standard one.",
    # cache
    "computed_tokens": "Prompt tokens neither read from the cache nor written to it: prompt − read − written.",
    "read_tokens": "Prompt tokens read from the cache, as reported, or else as predicted.",
    "written_tokens": "Prompt tokens written to the cache at a price or by order, as reported.",
    "written_1h_tokens": "Of these, tokens written with a life of an hour or more.",
    "reported_hit_rate": "Read tokens as reported ÷ prompt tokens of the requests that report them.",
    "predicted_hit_rate": "Tokens that promptlint's model of the provider's cache gives back ÷ prompt tokens of the "
    "requests for which it can say.",
    "best_hit_rate": "Tokens that the cache would have given back with the best order of the same prompts ÷ prompt "
    "tokens of the requests for which that is known.",
    "saved": "What reading from the cache saved: read tokens × (input price − read price), less the surcharge on "
    "writes. Negative when more is written than pays back.",
    "write_surcharge": "Written tokens × (write price − input price), by the life of the write.",
    "write_amplification": "Written tokens ÷ read tokens. Above 1, more is written than ever read back.",
    "expired_requests": "Requests whose prefix was equal to an earlier one, but whose cache's life was over.",
    "expired_tokens": "Tokens that these missed.",
    "gap_up_to_1h": "Of these, requests that came within an hour: a life of an hour would have served them.",
    "gap_median": "The upper end of the class (5, 10, 30, 60, 240, 1,440 minutes) in which the median gap lies.",
    # missed
    "missed_tokens": "For each request: tokens that the best order of its prompt would have read from the cache, less "
    "those that were read; never below 0. Not known where neither a hit nor the best order is known.",
    "missed_tokens_last_week": "The same for the week before.",
    "missed_requests": "Requests that missed at least one token.",
    "wire_path": "The place in the request where prompts of the group first differed: the one with most missed tokens.",
    "source_line": "The line whose template is in the group's prompts and for which the linter finds the same rule; "
    "found by the share of the template's word shingles in the group's keyed sketch.",
    "rule": "The rule that names the fault; `promptlint rule ID` prints its page. (unnamed): the proxy saw the miss "
    "and could not name its cause.",
    "prompt_group": "Keyed hash of the stable head: requests that come from the same template.",
    # outputs
    "unbounded_requests": "Requests, failed ones left out, that sent no bound on output tokens.",
    "unbounded_share": "Those ÷ requests that did not fail.",
    "unbounded_output": "Output tokens of those.",
    "unbounded_usd": "Output tokens of those × the output price.",
    "unbounded_max": "The longest output among those.",
    "unbounded_mean": "Output tokens of those ÷ those with a known output.",
    "cut_off": "Answers that ended because their bound was reached.",
    # growth
    "prompt_mean": "Prompt tokens ÷ billed requests with a known prompt size.",
    "prompt_max": "The longest prompt.",
    "prompt_slope": "Median slope between all pairs of days (Theil–Sen) of the group's mean prompt.",
    "change_day": "The day from which the daily mean stands at another level: the split into two levels with the least "
    "squares, if the step is at least 5 % and four times the spread within the levels, and a straight line fits worse.",
    "change_share": "The step ÷ the level before it.",
    "change_part": "The part of the prompt (tools, system, messages) whose mean moved most in that direction.",
    "retrieved_requests": "Requests that hold retrieved passages.",
    "retrieved_mean": "Retrieved tokens ÷ these requests.",
    "retrieved_max": "The most retrieved tokens in one request.",
    "retrieved_share": "Retrieved tokens ÷ prompt tokens of the requests that hold any.",
    "passages_mean": "Retrieved passages ÷ those of these requests whose passages were counted.",
    "passages_max": "The most passages in one request.",
    # latency
    "ttft_p50": "Time from sending the request to the first generated content that half of the requests do not exceed.",
    "ttft_p95": "The same for 95 % of the requests.",
    "ttft_p99": "The same for 99 % of the requests.",
    "ttft_within": "Share of requests whose TTFT is within the objective of --ttft-objective.",
    "ttft_samples": "Requests with a measured TTFT.",
    "itl_p50": "Gap between events with generated content that half of the gaps do not exceed.",
    "itl_p95": "The same for 95 % of the gaps.",
    "itl_p99": "The same for 99 % of the gaps.",
    "itl_within": "Share of gaps within the objective of --itl-objective.",
    "itl_samples": "Measured gaps.",
    "hit_kind": "hit: something was read from the cache; miss: nothing; unknown: neither reported nor predicted.",
    "route": "The label of the route, or the upstream's name and path.",
    # memory
    "kv_mean": "Projected KV memory ÷ requests for which it is known.",
    "kv_max": "The most projected KV memory of one request.",
    "kv_in_flight_max": "The most KV memory of all requests in flight when one started, shared blocks counted once.",
    "kv_pool": "The configured pool of KV memory.",
    "preemption_risk": "Requests that started while more than the pool was in flight ÷ requests for which both are "
    "known: there the engine must preempt or queue.",
    # failures
    "failed": "Requests with status 400 or above, or without an answer.",
    "failed_share": "Those ÷ requests.",
    "retries": "Requests that repeat an identical earlier one that failed.",
    "retry_tokens": "Prompt tokens of the retries.",
    "status": "HTTP status.",
    "error": "Kind of error.",
    # anomalies
    "anomalies": "Days of a group on which a measure lies more than five robust standard deviations (1.4826 × median "
    "distance) and more than 20 % from the median of the group's earlier days.",
    "anomaly_what": "The measure: requests, spend per request, hit rate, mean prompt, mean output, share that failed.",
    "anomaly_value": "Its value on that day.",
    "anomaly_usual": "The median of the earlier days.",
    "anomaly_days": "Earlier days with enough requests.",
    "day": "A day in the report's time zone.",
    # fleet
    "fleet_hit_rate_1h": "Share of prompt blocks that some sidecar's request touched within the hour before: the hit "
    "rate of one cache for the whole fleet.",
    "fleet_hit_rate_unlimited": "The same for a cache that forgets nothing, counted from the first recorded week on.",
    "sidecar_hit_rate_1h": "Share of prompt blocks that the same sidecar touched within the hour before.",
    "sidecar_hit_rate_unlimited": "The same for a cache that forgets nothing.",
    "fleet_hit_rate": "Share of blocks touched before by any sidecar within the life.",
    "sidecar_hit_rate": "Share of blocks touched before by the same sidecar within the life.",
    "cache_life": "How long a block stays after it was last touched.",
    # changes
    "faults_new": "Faults of a prompt group that missed tokens this week and not last week.",
    "faults_worse": "Faults that missed at least a tenth more tokens than last week.",
    "faults_gone": "Faults that missed tokens last week and not this week.",
    "faults_better": "Faults that missed at least a tenth fewer tokens than last week.",
    "change": "new, worse, gone or better.",
    "findings": "Findings of the proxy this week, each (exchange, rule, place) once.",
    "findings_last_week": "The same for the week before.",
    "finding_groups": "Prompt groups that show it.",
    "name": "What the row is of.",
}


LEGEND = (
    "Each number is marked: **r** reported by the provider or engine or measured by the proxy, **e** estimated by "
    "promptlint, **m** of rows of both kinds, **u** unknown. Unknown is shown as –, never as 0."
)


def definition(figure: str) -> str:
    """Raises KeyError for a figure that nobody defined."""
    return DEFINITIONS[figure]


def render_page() -> str:
    """The definitions as a page of the documentation."""
    lines = [
        "# Definitions of the report's figures",
        "",
        "<!-- Made by `python -m promptlint_report.definitions`; edit report/promptlint_report/definitions.py. -->",
        "",
        LEGEND,
        "",
    ]
    for name, text in DEFINITIONS.items():
        lines += [f'<a id="{name}"></a>', "", f"**{name}**: {text}", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(render_page())
