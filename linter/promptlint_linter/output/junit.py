"""JUnit XML: one test suite a file, one failing test a finding."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree as ET

from promptlint_linter.check import Outcome
from promptlint_linter.output.characters import without_control


def render(outcome: Outcome) -> str:
    total = len(outcome.findings)
    suites = ET.Element("testsuites", name="promptlint", tests=str(total or 1), failures=str(total))
    for file, findings in groupby(outcome.findings, key=lambda finding: finding.path):
        found, path = list(findings), without_control(file)
        suite = ET.SubElement(suites, "testsuite", name=path, tests=str(len(found)), failures=str(len(found)))
        for finding in found:
            case = ET.SubElement(
                suite,
                "testcase",
                name=f"{finding.rule} {finding.name}",
                classname=path,
                file=path,
                line=str(finding.line),
            )
            where = f"{path}:{finding.line}:{finding.column}: "
            message = without_control(finding.message)
            failure = ET.SubElement(case, "failure", type=finding.severity.value, message=message)
            failure.text = without_control(where + finding.message + (f"\n{finding.advice}" if finding.advice else ""))
    if not total:
        suite = ET.SubElement(suites, "testsuite", name="promptlint", tests="1", failures="0")
        ET.SubElement(suite, "testcase", name=f"{outcome.summary.files} files", classname="promptlint")
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True)
