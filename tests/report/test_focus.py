"""The FOCUS file holds what the specification demands: columns, types, nulls, allowed values and products.

Source of the table: FOCUS specification 1.2, column definitions. The file was also read by `focus-validator` 1.0.0.
That validator has rules of its own for columns which the published 1.0 renamed (Provider, Publisher, InvoiceIssuer,
ResourceID, ChargeType); all its other rules hold.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from report_golden import NOW, asked
from report_traffic import PRICES, at, record, write, write_prices

from promptlint_report.document import Report
from promptlint_report.make import Asked, make_report
from promptlint_report.material import Options
from promptlint_report.period import find_period, zone
from promptlint_report.render import render
from promptlint_report.render.focus import COLUMNS

Line = dict[str, str]
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def number(cell: str) -> bool:
    return bool(_NUMBER.fullmatch(cell))


def moment(cell: str) -> bool:
    return bool(_MOMENT.fullmatch(cell))


def text(cell: str) -> bool:
    return bool(cell.strip())


def one_of(*allowed: str) -> Callable[[str], bool]:
    return lambda cell: cell in allowed


def null(cell: str) -> bool:
    return cell == ""


def flat_object(cell: str) -> bool:
    tags = json.loads(cell)
    return isinstance(tags, dict) and all(isinstance(value, str | bool) for value in tags.values())


MANDATORY: dict[str, Callable[[str], bool]] = {
    "BilledCost": number,
    "BillingAccountId": text,
    "BillingAccountName": text,
    "BillingCurrency": one_of("USD"),
    "BillingPeriodEnd": moment,
    "BillingPeriodStart": moment,
    "ChargeCategory": one_of("Usage", "Purchase", "Tax", "Credit", "Adjustment"),
    "ChargeClass": null,
    "ChargeDescription": text,
    "ChargePeriodEnd": moment,
    "ChargePeriodStart": moment,
    "ContractedCost": number,
    "EffectiveCost": number,
    "InvoiceIssuerName": text,
    "ListCost": number,
    "PricingQuantity": number,
    "PricingUnit": one_of("Tokens"),
    "ProviderName": text,
    "PublisherName": text,
    "ServiceCategory": one_of("AI and Machine Learning"),
    "ServiceName": text,
}
"""Columns of the feature level Mandatory and what a charge for usage holds in them."""
OF_USAGE: dict[str, Callable[[str], bool]] = {
    "ChargeFrequency": one_of("One-Time", "Recurring", "Usage-Based"),
    "ConsumedQuantity": number,
    "ConsumedUnit": one_of("Tokens"),
    "ContractedUnitPrice": number,
    "ListUnitPrice": number,
    "PricingCategory": one_of("Standard", "Dynamic", "Committed", "Other"),
    "ResourceId": text,
    "ResourceType": text,
    "ServiceSubcategory": one_of("Generative AI"),
    "SkuId": text,
    "SkuMeter": text,
    "SkuPriceId": text,
    "Tags": flat_object,
}
"""Conditional and recommended columns that may not be null where the charge is for usage of a known route."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return make_report(asked(tmp_path_factory.mktemp("focus"), charges=True))


def lines_of(report: Report) -> list[Line]:
    return list(csv.DictReader(io.StringIO(render(report, "focus"))))


@pytest.mark.parametrize(("column", "holds"), [*MANDATORY.items(), *OF_USAGE.items()])
def test_a_column_holds_what_the_specification_allows(
    report: Report, column: str, holds: Callable[[str], bool]
) -> None:
    lines = lines_of(report)

    assert lines
    assert [line[column] for line in lines if not holds(line[column])] == []


def test_columns_are_those_of_the_header_and_no_other(report: Report) -> None:
    lines = lines_of(report)

    assert tuple(lines[0]) == COLUMNS
    assert len(set(COLUMNS)) == len(COLUMNS)
    assert all(column[0].isupper() for column in COLUMNS), "custom columns would begin with x_"
    assert list(COLUMNS) == sorted(COLUMNS), "in alphabetical order, as the specification lists them"


def test_costs_are_quantity_times_unit_price_on_every_line(report: Report) -> None:
    for line in lines_of(report):
        product = Decimal(line["PricingQuantity"]) * Decimal(line["ListUnitPrice"])
        costs = {Decimal(line[name]) for name in ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost")}
        assert costs == {product}
        assert line["ListUnitPrice"] == line["ContractedUnitPrice"]
        assert line["ConsumedQuantity"] == line["PricingQuantity"]


def test_charges_add_up_to_the_spend_by_meter(report: Report) -> None:
    lines = lines_of(report)

    assert sum(Decimal(line["BilledCost"]) for line in lines) == Decimal("0.1196")
    by_meter: Counter[str] = Counter()
    for line in lines:
        by_meter[line["SkuMeter"]] += int(Decimal(line["ConsumedQuantity"]))
    assert dict(by_meter) == {
        "input tokens": 5900,
        "cache read tokens": 5100,
        "cache write, 5 minutes tokens": 600,
        "cache write, 1 hour tokens": 400,
        "output tokens": 800,
    }


def test_a_charge_lies_inside_its_billing_period_and_lasts_a_day(report: Report) -> None:
    for line in lines_of(report):
        assert line["BillingPeriodStart"] == "2026-11-01T00:00:00Z"
        assert line["BillingPeriodStart"] <= line["ChargePeriodStart"] < line["ChargePeriodEnd"]
        assert line["ChargePeriodEnd"] <= line["BillingPeriodEnd"]


def test_a_price_has_one_sku_and_one_amount(report: Report) -> None:
    parents: dict[str, set[tuple[str, str]]] = {}
    for line in lines_of(report):
        parents.setdefault(line["SkuPriceId"], set()).add((line["SkuId"], line["ListUnitPrice"]))

    assert all(len(found) == 1 for found in parents.values())


def test_tokens_of_two_prices_on_a_day_are_two_charges(tmp_path: Path) -> None:
    night = (
        PRICES + '\n[[price]]\nmodel = "test-model"\nfrom = "20:00"\ninput_usd_per_mtok = 5\noutput_usd_per_mtok = 25\n'
    )
    write(tmp_path / "store", "exchanges", [record("day", at(0, 12)), record("night", at(0, 22))])
    period = find_period("2026-W48", zone("UTC"), NOW)
    report = make_report(
        Asked(tmp_path / "store", period, Options(now=NOW), (write_prices(tmp_path, night),), charges=True)
    )

    lines = [line for line in lines_of(report) if line["SkuMeter"] == "input tokens"]

    assert [("400.0", "0.000005", "0.002"), ("400.0", "0.00001", "0.004")] == sorted(
        (line["ConsumedQuantity"], line["ListUnitPrice"], line["BilledCost"]) for line in lines
    )


def test_what_no_label_tells_is_null_and_no_placeholder(tmp_path: Path) -> None:
    bare = dict.fromkeys(("environment", "team", "route", "prompt_group", "provider"))
    write(tmp_path / "store", "exchanges", [record("x", at(0), **bare)])
    period = find_period("2026-W48", zone("UTC"), NOW)
    report = make_report(Asked(tmp_path / "store", period, Options(now=NOW), (write_prices(tmp_path),), charges=True))

    (line, *_) = lines_of(report)

    assert ("", "", "", "Unknown") == tuple(
        line[name] for name in ("ResourceId", "ResourceType", "Tags", "ProviderName")
    )


def test_a_file_without_charges_has_its_header(report: Report) -> None:
    assert render(replace(report, charges=()), "focus") == ",".join(COLUMNS) + "\r\n"
