"""KV308."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class ChangingImage(Rule):
    """An old image comes back under another address or with other bytes.

    ## What it does
    Finds images of the history whose address differs in its signature or expiry, or whose data was encoded anew.

    ## Why it costs
    Providers and engines key an image by its address or its bytes. A new one is fetched and encoded again, and
    everything behind it is computed again.

    ## Example
    ```python
    import boto3
    from openai import OpenAI

    client = OpenAI()
    s3 = boto3.client("s3")


    def render(message: dict) -> dict:
        url = s3.generate_presigned_url("get_object", Params={"Bucket": "photos", "Key": message["key"]})
        return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}


    def turn(history: list[dict]):
        return client.chat.completions.create(
            model="gpt-5.4-mini", messages=[render(message) for message in history], max_tokens=300
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def render(message: dict) -> dict:
        return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": message["url"]}}]}


    def turn(history: list[dict]):
        return client.chat.completions.create(
            model="gpt-5.4-mini", messages=[render(message) for message in history], max_tokens=300
        )
    ```

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

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.CHANGING_IMAGE:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` signs the address of a stored image anew on each turn",
                "sign it once and store the address, or send the bytes",
            )

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
