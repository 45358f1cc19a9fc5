"""KV308."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class ChangingImage(Rule):
    """An old image comes back under another address or with other bytes.

    ## What it does
    Finds images of the history whose address differs in its signature or expiry, or whose data was encoded anew.

    ## Why it costs
    Providers and engines key an image by its address or its bytes. A new one is fetched and encoded again, and
    everything behind it is computed again.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": [
        {"type": "text", "text": "What is on the photo?"},
        {"type": "image_url", "image_url": {"url": "https://files.example/88.jpg?Expires=1790000000&Signature=aZ3"}}]}]}}
    {"t": 33, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": [
        {"type": "text", "text": "What is on the photo?"},
        {"type": "image_url", "image_url": {"url": "https://files.example/88.jpg?Expires=1790000033&Signature=pQ8"}}]},
      {"role": "assistant", "content": "A blue coat."},
      {"role": "user", "content": "Any damage?"}]}}
    ```

    ## Limits
    Whether two addresses show the same picture is not looked up.
    """

    id = "KV308"
    severity = Severity.WARNING

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.IMAGE):
            what = {
                "signature": "its address differs only in its query (signature or expiry)",
                "bytes": "its bytes differ",
            }
            yield of_pair(
                type(self),
                pair,
                f"`{pair.path}`: an old image is sent again and {what.get(pair.detail, 'its address differs')}",
            )
