from promptlint_proxy.mitmdump import addon

addons = [addon()]
