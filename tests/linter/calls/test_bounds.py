"""Where a call to a model may bound its output, and where no bound on tokens makes the answer shorter."""

from __future__ import annotations

import pytest
from linter_reading import read

from promptlint_core.prompt import BoundKind

CALL = (
    "from google import genai\nfrom google.genai import types\nclient = genai.Client()\n"
    "def ask(prompt):\n    return client.models.generate_content(model='m', contents=prompt, config={config})\n"
)
CONFIGURATIONS = {
    "a class without a bound": ("types.GenerateContentConfig(temperature=0)", BoundKind.ABSENT),
    "a dict without a bound": ("{'temperature': 0}", BoundKind.ABSENT),
    "a bound": ("types.GenerateContentConfig(max_output_tokens=9)", BoundKind.LIMITED),
    "text only": ("types.GenerateContentConfig(response_modalities=['TEXT'])", BoundKind.ABSENT),
    "a picture": ("types.GenerateContentConfig(response_modalities=['IMAGE'])", BoundKind.UNKNOWN),
    "a picture and text": ("{'response_modalities': ['Text', 'Image']}", BoundKind.UNKNOWN),
    "a recording": ("{'response_modalities': ['AUDIO']}", BoundKind.UNKNOWN),
}


@pytest.mark.parametrize(("config", "expected"), CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_what_a_call_asks_for_decides_whether_its_answer_has_a_bound(config: str, expected: BoundKind) -> None:
    unit = read(CALL.replace("{config}", config))

    assert [expected] == [call.bound.kind for call in unit.calls if call.kind == "model"]
