"""Every way to run it: forward, TLS to the upstream, as a script of a stock mitmdump; and what cannot work is said."""

from __future__ import annotations

import asyncio
import datetime
import json
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import proxy_harness
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from proxy_harness import body_of, post, proxy

import promptlint_proxy
from promptlint_core.errors import PromptlintError
from promptlint_proxy import capture
from promptlint_proxy.analyst_process import AnalystProcess
from promptlint_proxy.master import KNOWN_HOSTS, Sidecar, check
from promptlint_proxy.records.read import view
from promptlint_proxy.settings import ProxySettings
from promptlint_proxy.simulated.server import SimulatedUpstream
from promptlint_proxy.simulated.wire import HttpReply, read_request

CHAT = "/v1/chat/completions"
REQUEST = b'{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":5}'


def certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1 that signs itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "upstream.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


async def over_tls(pem: Path, **settings: Any) -> bytes:
    """An exchange through the proxy with an upstream that speaks TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await read_request(reader) is not None:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    try:
        upstream = (f"https://localhost:{port}",)
        async with proxy(lambda request: HttpReply(200, [], b""), upstream=upstream, **settings) as running:
            return await running.exchange(post(CHAT, REQUEST))
    finally:
        server.close()


def test_an_upstream_whose_certificate_is_not_trusted_gets_nothing(tmp_path: Path) -> None:
    answer = asyncio.run(over_tls(certificate(tmp_path)))
    assert answer.startswith(b"HTTP/1.1 502")
    assert "ertificate" in json.loads(body_of(answer))["error"]["message"]


def test_an_upstream_is_verified_with_the_ca_that_is_named(tmp_path: Path) -> None:
    pem = certificate(tmp_path)
    answer = asyncio.run(over_tls(pem, upstream_ca=pem))
    assert answer.startswith(b"HTTP/1.1 200")


def test_forward_mode_passes_on_what_clients_ask_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        analyst = proxy_harness.Collecting()
        upstream = proxy_harness.WireServer(answer_ok)
        _, port = await upstream.start()
        sidecar = Sidecar(ProxySettings(mode="forward", listen="127.0.0.1:0", ca_dir=tmp_path), analyst)
        run = asyncio.create_task(sidecar.run())
        while not sidecar.proxyserver.listen_addrs():
            await asyncio.sleep(0.001)
        raw = post(f"http://127.0.0.1:{port}{CHAT}?key=planted", REQUEST)
        answer = await proxy_harness.exchange(sidecar.listen_address[1], raw)
        assert body_of(answer) == b'{"ok":1}'
        await asyncio.sleep(0.1)
        started = analyst.all(proxy_harness.Started)
        assert (started[0].host, started[0].path) == ("client.example", CHAT)
        assert "planted" not in repr(analyst.messages)
        assert list(sidecar.options.allow_hosts) == list(KNOWN_HOSTS)
        sidecar.shutdown()
        await run
        await upstream.close()

    asyncio.run(scenario())


async def answer_ok(request: Any) -> HttpReply:
    return HttpReply(200, [("content-type", "application/json")], b'{"ok":1}')


def test_a_port_that_is_taken_is_a_sentence() -> None:
    async def scenario() -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            listen = f"127.0.0.1:{taken.getsockname()[1]}"
            sidecar = Sidecar(
                ProxySettings(upstream=("http://127.0.0.1:9",), listen=listen), proxy_harness.Collecting()
            )
            with pytest.raises(PromptlintError, match="cannot listen on"):
                await sidecar.run()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (ProxySettings(), "--upstream"),
        (ProxySettings(mode="transparent"), "reverse or forward"),
        (ProxySettings(mode="forward", upstream=("http://a",)), "takes no --upstream"),
        (ProxySettings(upstream=("http://a",), upstream_ca=Path("nowhere.pem")), "no such file"),
    ],
)
def test_settings_that_cannot_work_together_are_a_sentence(settings: ProxySettings, sentence: str) -> None:
    with pytest.raises(PromptlintError, match=sentence):
        check(settings)


def test_a_store_that_cannot_be_written_is_a_sentence_and_status_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-m", "promptlint_cli", "proxy", "--isolated", "--upstream", "http://127.0.0.1:9"]
    command += ["--listen", "127.0.0.1:0", "--metrics-listen", "off", "--store", str(tmp_path / "file" / "store")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("promptlint: ")
    assert "Traceback" not in done.stderr


def test_a_stock_mitmdump_takes_the_script(tmp_path: Path) -> None:
    """Also: the script's folder, which mitmproxy leaves on the import path, holds nothing but the script."""
    script = Path(promptlint_proxy.__file__).parent / "script" / "promptlint_script.py"
    assert [path.name for path in script.parent.iterdir() if path.suffix == ".py"] == [script.name]
    config = tmp_path / "promptlint.toml"
    config.write_text('[proxy]\nstore = "store"\nmetrics-listen = "off"\nprovider = "vllm"\n')

    async def scenario() -> None:
        upstream = SimulatedUpstream()
        url = await upstream.start()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [str(Path(sys.executable).with_name("mitmdump")), "-q", "-s", str(script), "--mode", f"reverse:{url}"]
        command += ["--listen-host", "127.0.0.1", "-p", str(port), "--set", f"confdir={tmp_path}"]
        environment = {"PROMPTLINT_CONFIG": str(config), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        process = subprocess.Popen(command, env=environment)
        try:
            answer = await asyncio.to_thread(ask, port)
            assert b'"usage"' in answer
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
            await upstream.close()

    asyncio.run(scenario())
    assert view(tmp_path / "store").table("exchanges")["provider"].to_pylist() == ["vllm"]


def ask(port: int) -> bytes:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{CHAT}", REQUEST, {"content-type": "application/json"})
    for _ in range(200):
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return bytes(answer.read())
        except OSError:
            time.sleep(0.1)
    raise AssertionError("mitmdump did not listen")


def test_an_analysis_that_dies_is_started_again(tmp_path: Path) -> None:
    process = AnalystProcess(ProxySettings(store=tmp_path / "store", metrics_listen="off"))
    process.start()
    assert process._process is not None
    process._process.kill()
    process._process.wait()
    started = capture.Started("1", 1_790_000_000.0, "POST", "127.0.0.1:8000", CHAT, (), REQUEST)
    process.send([started, capture.Finished("1", 200, (), [])])
    process.close()
    assert process.restarts == 1
    assert view(tmp_path / "store").table("exchanges")["exchange_id"].to_pylist() == ["1"]
