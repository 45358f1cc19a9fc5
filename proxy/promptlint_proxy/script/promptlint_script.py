"""mitmdump -s: adds the analysis to a stock mitmdump."""

from promptlint_proxy.mitmdump import addon

addons = [addon()]
