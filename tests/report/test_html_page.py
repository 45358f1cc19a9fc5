"""The HTML report in a real Chromium: no request, no console error, sortable, readable by assistive technology."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_golden import asked

from promptlint_report.document import Advice, Report
from promptlint_report.make import make_report
from promptlint_report.render import render

AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
"""`make test-browser` installs it."""
pytestmark = [pytest.mark.browser, pytest.mark.skipif(not AXE.is_file(), reason="make test-browser")]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    made = make_report(asked(tmp_path_factory.mktemp("html")))
    advice = Advice(
        "g1",
        "KV101",
        "system",
        "app/" + "a_long_name/" * 12 + "prompts.py:12",
        "<b>480 tokens</b> stand behind",
        "-old\n+new\n kept\n",
    )
    sections = [replace(section, advice=(advice,)) if section.id == "missed" else section for section in made.sections]
    return replace(made, sections=tuple(sections), notes=("A <script>alert(1)</script> note.",))


@pytest.fixture(scope="module")
def page(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(report, "html"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1200,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser: Any, page: Path) -> Any:
    browser.get_log("performance")
    browser.get(page.as_uri())
    return browser


def _scheme(browser: Any, name: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": name}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "screen", "features": features})


def _screenshot(browser: Any, name: str) -> None:
    """Kept where PROMPTLINT_SCREENSHOTS names a folder, to be looked at."""
    folder = os.environ.get("PROMPTLINT_SCREENSHOTS")
    if folder:
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png"})
        Path(folder, f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


def test_the_page_asks_the_network_for_nothing_and_logs_no_error(opened: Any, page: Path) -> None:
    import json

    events = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked_for = {
        event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"
    }

    assert {url for url in asked_for if not url.startswith("data:")} == {page.as_uri()}
    assert opened.get_log("browser") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened: Any, scheme: str) -> None:
    _scheme(opened, scheme)
    _screenshot(opened, scheme)
    opened.execute_script(AXE.read_text(encoding="utf-8"))
    found = opened.execute_async_script("const done = arguments[0]; axe.run().then(done);")
    told = [(item["id"], item["nodes"][0]["html"], item["nodes"][0]["failureSummary"]) for item in found["violations"]]

    assert told == []


def test_the_schemes_differ(opened: Any) -> None:
    papers = set()
    for scheme in ("light", "dark"):
        _scheme(opened, scheme)
        papers.add(opened.execute_script("return getComputedStyle(document.body).backgroundColor"))

    assert len(papers) == 2


def test_a_table_is_sorted_by_keyboard_and_says_so(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    (table,) = [
        table
        for table in opened.find_elements("css selector", "table")
        if table.find_element("css selector", "caption").text == "Missed savings by fault"
    ]
    head = table.find_elements("css selector", "thead th")[5]
    button = head.find_element("css selector", "button")

    def values() -> list[float]:
        cells = table.find_elements("css selector", "tbody tr td:nth-child(6)")
        return [float(cell.get_attribute("data-sort")) for cell in cells]

    button.send_keys(Keys.ENTER)
    assert values() == sorted(values(), reverse=True)
    assert head.get_attribute("aria-sort") == "descending"

    button.send_keys(Keys.ENTER)
    assert values() == sorted(values())
    assert "ascending" in opened.find_element("id", "sorted").get_attribute("textContent")


def test_nothing_but_tables_runs_over_a_narrow_page(opened: Any) -> None:
    opened.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    try:
        wide, page_width = opened.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    assert wide <= page_width == 360


def test_every_link_leads_to_something_on_the_page(opened: Any) -> None:
    broken = opened.execute_script(
        "return [...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))"
        ".filter((href) => !href.startsWith('#') || !document.getElementById(href.slice(1)))"
    )

    assert broken == []


def test_every_figure_links_to_its_definition(opened: Any, report: Report) -> None:
    links = opened.execute_script(
        "return [...document.querySelectorAll('.figures dt a')].map((a) => a.getAttribute('href'))"
    )

    assert [f"#def-{figure.id}" for _, figure in report.figures()] == links


def test_the_strip_is_to_scale(opened: Any) -> None:
    widths = opened.execute_script(
        "return [...document.querySelectorAll('.strip rect')].map((rect) => Number(rect.getAttribute('width')))"
    )

    assert [25.0, 600.0, 375.0] == widths


def test_text_from_records_is_text_and_never_markup(opened: Any) -> None:
    assert "<script>alert(1)</script>" in opened.find_element("css selector", "header .note").text
    assert opened.find_elements("css selector", ".advice b") == []


def test_it_fits_a_narrow_window(opened: Any) -> None:
    opened.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )
    _screenshot(opened, "narrow")
    wide = opened.execute_script("return document.documentElement.scrollWidth")
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    assert wide <= 400


def test_it_prints_without_navigation(opened: Any) -> None:
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = opened.execute_script("return getComputedStyle(document.querySelector('nav')).display")
    printed = opened.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

    assert shown == "none"
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
