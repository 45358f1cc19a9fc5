"""The spend in the columns of FOCUS 1.2 (FinOps Open Cost and Usage Specification), a charge a line.

Only what the records tell is filled; the columns that FOCUS demands and a proxy cannot know (billing account, invoice)
hold the provider's name or stay empty, as the specification allows for null.
Source: focus.finops.org, FOCUS specification 1.2, column definitions.
"""

from __future__ import annotations

import csv
import io

from promptlint_report.document import Charge, Report
from promptlint_report.render.as_csv import safe

COLUMNS: tuple[str, ...] = (
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargeFrequency",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "EffectiveCost",
    "InvoiceIssuerName",
    "ListCost",
    "ListUnitPrice",
    "PricingCategory",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "ResourceId",
    "ServiceCategory",
    "ServiceName",
    "SkuId",
    "SkuMeter",
    "Tags",
)


def render(report: Report) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\r\n", restval="")
    writer.writeheader()
    for charge in report.charges:
        writer.writerow(_line(charge))
    return out.getvalue()


def _line(charge: Charge) -> dict[str, str]:
    cost = f"{charge.usd:.10f}"
    provider = safe(charge.provider)
    return {
        "BilledCost": cost,
        "BillingAccountId": provider,
        "BillingAccountName": provider,
        "BillingCurrency": "USD",
        "BillingPeriodStart": charge.month_starts_at,
        "BillingPeriodEnd": charge.month_ends_at,
        "ChargeCategory": "Usage",
        "ChargeDescription": safe(f"{charge.meter} tokens of {charge.model}"),
        "ChargeFrequency": "Usage-Based",
        "ChargePeriodStart": charge.starts_at,
        "ChargePeriodEnd": charge.ends_at,
        "ConsumedQuantity": str(charge.tokens),
        "ConsumedUnit": "Tokens",
        "ContractedCost": cost,
        "EffectiveCost": cost,
        "InvoiceIssuerName": provider,
        "ListCost": cost,
        "ListUnitPrice": f"{charge.usd / charge.tokens:.12f}",
        "PricingCategory": "Standard",
        "PricingQuantity": str(charge.tokens),
        "PricingUnit": "Tokens",
        "ProviderName": provider,
        "PublisherName": provider,
        "ResourceId": safe(charge.route),
        "ServiceCategory": "AI and Machine Learning",
        "ServiceName": safe(charge.model),
        "SkuId": safe(f"{charge.provider}/{charge.model}/{charge.tier or 'standard'}/{charge.meter}"),
        "SkuMeter": f"{charge.meter} tokens",
        "Tags": charge.tags,
    }
