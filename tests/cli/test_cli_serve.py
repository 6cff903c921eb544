"""``serve`` as it is started and ended."""

from __future__ import annotations

import hashlib
import json
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import command_corpora
import httpx
import pytest
from chroma_server import free_port
from forked_commands import ForkedCommands
from gateway import command_line, request
from running_command import RunningCommand

STORE = "memory:///example"
WITH_CORPORA = [sys.executable, command_corpora.__file__]


def describe(url: str, **headers: str) -> httpx.Response:
    headers = {"content-type": "application/json", **headers}
    content = request("describe", {"protocol": "a2m/0.1"})
    with httpx.Client(trust_env=False, timeout=60) as client:
        return client.post(url, content=content, headers=headers)


def ask(file: Any, message: bytes) -> dict[str, Any]:
    file.write(message + b"\n")
    file.flush()
    answer: dict[str, Any] = json.loads(file.readline())
    return answer


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.parametrize(("number", "listen"), [("SIGTERM", "127.0.0.1:0"), ("SIGINT", "[::1]:0")])
def test_http_until_a_signal(number: str, listen: str) -> None:
    if listen.startswith("[") and not has_ipv6():
        pytest.skip("this machine has no IPv6 loopback")
    with RunningCommand("serve", STORE, "--http", listen) as command:
        (url,) = command.places()
        assert url.startswith(f"http://{listen.removesuffix('0')}")
        assert not url.endswith(":0/")
        assert describe(url).json()["result"]["read_only"] is True
        command.send(signal.Signals[number])
        assert command.wait() == 0
        assert (command.out(), command.log.count("\n")) == (b"", 1)


def test_the_usual_address_is_on_the_loopback(command: ForkedCommands) -> None:
    """Without starting a server there: another may have it, which the error names."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            other.bind(("127.0.0.1", 8778))
        except OSError:
            pytest.skip("127.0.0.1:8778 is somebody else's here")
        other.listen()
        done = command("serve", "memory:///plain")
    assert (done.code, done.out) == (3, "")
    assert "http.listen: 127.0.0.1:8778 is in use" in done.err


def test_several_at_once_end_with_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    args = ("serve", STORE, "--http", "127.0.0.1:0", "--unix", str(path), "--stdio")
    with RunningCommand(*args) as command:
        url, unix, stdio = command.places()
        assert (unix, stdio) == (f"unix:{path}", "stdio")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        message = request("timeline", {"limit": 2})
        with httpx.Client(trust_env=False, timeout=60) as client:
            headers = {"content-type": "application/json"}
            over_http = client.post(url, content=message, headers=headers).json()
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(60)
            peer.connect(str(path))
            with peer.makefile("rwb") as file:
                over_unix = ask(file, message)
        assert command.process.stdin is not None
        assert command.process.stdout is not None
        command.process.stdin.write(message + b"\n")
        command.process.stdin.flush()
        over_stdio = json.loads(command.process.stdout.readline())
        assert over_http == over_unix == over_stdio
        assert len(over_http["result"]["records"]) == 2
        command.process.stdin.close()
        assert command.wait() == 0
        assert command.out() == b""
        assert not path.exists()


def test_stdio_alone_serves_nothing_else() -> None:
    with RunningCommand("serve", STORE, "--stdio", "--log-level", "info") as command:
        assert command.places() == ["stdio"]
        assert "http.listening" not in command.log
        assert command.process.stdin is not None
        command.process.stdin.close()
        assert command.wait() == 0


def test_a_file_is_enough(settings_file: Path) -> None:
    digest = hashlib.sha256(b"right").hexdigest()
    settings_file.write_text(
        f'[store]\nurl = "{STORE}"\n[server]\nname = "our memory"\n[limits]\nmax_recall_limit = 7\n'
        f'[http]\nlisten = "127.0.0.1:0"\n[[http.tokens]]\nname = "a"\nsha256 = "{digest}"\n'
    )
    with RunningCommand("serve", "--config", str(settings_file)) as command:
        (url,) = command.places()
        assert describe(url).status_code == 401
        result = describe(url, authorization="Bearer right").json()["result"]
        assert (result["name"], result["limits"]["max_recall_limit"]) == ("our memory", 7)


def test_the_command_line_goes_before_the_file(settings_file: Path) -> None:
    settings_file.write_text(
        f'[store]\nurl = "memory:///nothing"\n[http]\nlisten = "127.0.0.1:{free_port()}"\n'
    )
    args = ("serve", "memory:///ambiguous?text_field=body", "-c", str(settings_file))
    here = ("--http", "localhost:0", "--text-field", "summary")
    with RunningCommand(*args, *here, program=WITH_CORPORA) as command:
        (url,) = command.places()
        assert url.startswith("http://localhost:")
        with httpx.Client(trust_env=False, timeout=60) as client:
            headers = {"content-type": "application/json"}
            answer = client.post(url, content=request("recall", {"limit": 1}), headers=headers)
        (record,) = answer.json()["result"]["records"]
        assert record["content"].startswith("In short: ")


def test_strangers_are_served_when_it_is_said() -> None:
    args = ("serve", STORE, "--http", "0.0.0.0:0", "--allow-unauthenticated", "--read-only")
    with RunningCommand(*args) as command:
        (url,) = command.places()
        port = url.rstrip("/").rpartition(":")[2]
        assert describe(f"http://127.0.0.1:{port}/").status_code == 200
        assert "http.unauthenticated" in command.log


def test_a_reader_of_the_log_may_leave() -> None:
    """``serve … 2>&1 | grep -m1 serving`` in a script: the server goes on."""
    args = ("serve", STORE, "--http", "127.0.0.1:0", "--log-level", "info")
    with subprocess.Popen([*command_line(), *args], stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        serving = next(line for line in process.stderr if line.startswith(b"serving "))
        process.stderr.close()
        url = serving.decode().rpartition(" read-only on ")[2].strip()
        try:
            for _ in range(3):
                assert describe(url).status_code == 200
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()


@pytest.mark.parametrize("second", ["SIGINT", "SIGTERM"])
def test_a_signal_before_it_serves_ends_it(second: str, embedding_service: Any) -> None:
    service = embedding_service(held=True)
    args = ("serve", "memory:///vectors", "--stdio", "--embedder", f"openai:m@{service.loopback}")
    with RunningCommand(*args, program=WITH_CORPORA) as command:
        assert service.arrived.wait(60)
        command.send(signal.Signals[second])
        assert command.wait() == {"SIGINT": 130, "SIGTERM": 0}[second]
        assert "Traceback" not in command.log
