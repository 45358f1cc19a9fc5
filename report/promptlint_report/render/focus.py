"""The spend in the columns of FOCUS 1.2 (FinOps Open Cost and Usage Specification), a charge a line.

Source: focus.finops.org, FOCUS specification 1.2, column and attribute definitions. Null is an empty cell. What FOCUS
demands and a proxy cannot know is told by what it does know: the account billed and the issuer of the invoice are the
provider. Columns that no charge of tokens has (commitments, regions, sub-accounts) are there and null, because tools
and validators of FOCUS 1.0 want to see them.
"""

from __future__ import annotations

import csv
import io
from decimal import Decimal

from promptlint_report.document import Charge, Report
from promptlint_report.render.as_csv import safe

COLUMNS: tuple[str, ...] = (
    "AvailabilityZone",
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
    "CommitmentDiscountCategory",
    "CommitmentDiscountId",
    "CommitmentDiscountName",
    "CommitmentDiscountStatus",
    "CommitmentDiscountType",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "ContractedUnitPrice",
    "EffectiveCost",
    "InvoiceIssuerName",
    "ListCost",
    "ListUnitPrice",
    "PricingCategory",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "RegionId",
    "RegionName",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "ServiceSubcategory",
    "SkuId",
    "SkuMeter",
    "SkuPriceId",
    "SubAccountId",
    "SubAccountName",
    "Tags",
)
UNKNOWN = "Unknown"
"""For a column that may not be null, where the records do not tell."""


def render(report: Report) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\r\n", restval="")
    writer.writeheader()
    for charge in report.charges:
        writer.writerow(_line(charge))
    return out.getvalue()


def _line(charge: Charge) -> dict[str, str]:
    cost, unit_price, quantity = _decimal(charge.usd), _decimal(charge.unit_usd), _decimal(Decimal(charge.tokens))
    provider, model, route = safe(charge.provider or UNKNOWN), safe(charge.model or UNKNOWN), safe(charge.route)
    sku = safe(f"{charge.provider or UNKNOWN}/{charge.model or UNKNOWN}/{charge.meter}")
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
        "ConsumedQuantity": quantity,
        "ConsumedUnit": "Tokens",
        "ContractedCost": cost,
        "ContractedUnitPrice": unit_price,
        "EffectiveCost": cost,
        "InvoiceIssuerName": provider,
        "ListCost": cost,
        "ListUnitPrice": unit_price,
        "PricingCategory": "Standard",
        "PricingQuantity": quantity,
        "PricingUnit": "Tokens",
        "ProviderName": provider,
        "PublisherName": provider,
        "ResourceId": route,
        "ResourceType": "Route" if route else "",
        "ServiceCategory": "AI and Machine Learning",
        "ServiceName": model,
        "ServiceSubcategory": "Generative AI",
        "SkuId": sku,
        "SkuMeter": f"{charge.meter} tokens",
        "SkuPriceId": f"{sku}/{charge.tier or 'standard'}/{unit_price}",
        "Tags": charge.tags,
    }


def _decimal(value: Decimal) -> str:
    """Plain notation with a point, so that a reader which guesses types takes whole numbers for decimals too.

    >>> _decimal(Decimal(1500)), _decimal(Decimal("0.00001250"))
    ('1500.0', '0.0000125')
    """
    text = f"{value:f}"
    whole, _, rest = text.partition(".")
    return f"{whole}.{rest.rstrip('0') or '0'}"
