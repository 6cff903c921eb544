"""An engine in a child process: its answers, its errors, its death and its hanging."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from a2m_gateway.errors import (
    ConfigurationError,
    StoreCorrupt,
    StoreRefused,
    StoreTimeout,
    StoreUnavailable,
)
from a2m_gateway.store.worker_child import Child
from a2m_gateway.store.worker_main import HEADER, frame
from a2m_gateway.store.worker_process import WorkerProcess

ENGINE = '''
"""An engine for tests."""
import os, sys, time
from pathlib import Path
from a2m_gateway.errors import ConfigurationError, StoreRefused

class Engine:
    def __init__(self, folder="", trouble=""):
        self.folder = Path(folder)
        self.served = 0
        if trouble == "setup":
            raise ConfigurationError("no such thing", setting="STORE")
        if trouble == "once" and (self.folder / "started").exists():
            raise ConfigurationError("locked by another")
        if trouble == "exit":
            os._exit(7)
        if trouble == "slow":
            wait_for(self.folder / "go")
        if folder:
            (self.folder / "started").touch()

    def echo(self, value):
        self.served += 1
        return value

    def count(self):
        return self.served

    def refuse(self):
        raise StoreRefused("not that", retry_after=3)

    def fail(self):
        raise ZeroDivisionError("secret text")

    def shout(self):
        print("on standard output")
        os.write(1, b"on descriptor 1\\n")
        return sys.stdin.read()

    def wait(self):
        wait_for(self.folder / "go")
        return os.getpid()

    def environment(self):
        return dict(os.environ)

    def _hidden(self):
        return 1

    def close(self):
        if str(self.folder) != ".":
            (self.folder / "closed").touch()

def wait_for(file):
    (file.parent / "waiting").touch()
    until = time.monotonic() + 60
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.01)
'''

Make = Callable[..., WorkerProcess]


@pytest.fixture
async def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Make]:
    (tmp_path / "worker_test_engine.py").write_text(ENGINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    made: list[WorkerProcess] = []

    def worker(*, call_timeout: float = 20.0, **arguments: Any) -> WorkerProcess:
        made.append(
            WorkerProcess(
                "worker_test_engine:Engine", arguments, name="engine", call_timeout=call_timeout
            )
        )
        return made[-1]

    yield worker
    for one in made:
        await one.aclose()


async def until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    """Poll until ``holds``, or fail."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - it is a process that is waited for
            await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def pid_of(worker: WorkerProcess) -> int:
    assert worker.pid is not None
    return worker.pid


async def test_values_cross_unchanged(make: Make) -> None:
    worker = make()
    values = [
        None, True, 0, -1, 2**63, 10**40, 0.1, 1e-320, -0.0, "", "Ωμέγα 🦜", "\x00\n", [], {},
        {"a": [1, {"b": None}], "": "x"}, ["x" * 3_000_000],
    ]  # fmt: skip
    for value in values:
        found = await worker.call("echo", value=value)
        assert repr(found) == repr(value)
    assert await worker.call("echo", value=float("nan")) is None


async def test_half_a_surrogate_pair_is_refused_and_the_worker_lives(make: Make) -> None:
    worker = make()
    with pytest.raises(StoreRefused, match="surrogate"):
        await worker.call("echo", value="\ud800")
    assert worker._child is not None
    assert worker._child._watch is None, "or it would be killed for a call that it never got"
    assert await worker.call("echo", value=1) == 1


async def test_calls_at_once_each_get_their_own_answer(make: Make) -> None:
    worker = make()
    answers = await asyncio.gather(*(worker.call("echo", value=n) for n in range(200)))
    assert answers == list(range(200))


async def test_errors_keep_their_class_message_and_data(make: Make) -> None:
    worker = make()
    with pytest.raises(StoreRefused, match="not that") as caught:
        await worker.call("refuse")
    assert caught.value.data == {"retry_after": 3}
    assert await worker.call("count") == 0


async def test_an_unexpected_error_is_named_and_not_quoted(make: Make) -> None:
    worker = make()
    with pytest.raises(StoreCorrupt, match="ZeroDivisionError") as caught:
        await worker.call("fail")
    assert "secret text" not in str(caught.value)


@pytest.mark.parametrize("method", ["_hidden", "no_such_method", "__init__"])
async def test_only_public_methods_are_called(make: Make, method: str) -> None:
    with pytest.raises(StoreCorrupt, match="AttributeError"):
        await make().call(method)


async def test_what_the_engine_prints_reaches_no_standard_output(
    make: Make, capfd: pytest.CaptureFixture[str]
) -> None:
    assert await make().call("shout") == "", "its standard input is empty"
    out, err = capfd.readouterr()
    assert out == ""
    assert "on descriptor 1" in err


async def test_the_child_sees_no_secret(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """It unpickles what others wrote."""
    for name in ("A2M_STORE_SECRET", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "MY_OWN"):
        monkeypatch.setenv(name, f"s3cret of {name}")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    seen = await make().call("environment")
    assert "s3cret" not in repr(seen)
    assert (seen["TZ"], seen["OMP_NUM_THREADS"]) == ("Asia/Tokyo", "1")


async def test_a_factory_that_refuses_says_why(make: Make) -> None:
    worker = make(trouble="setup")
    with pytest.raises(ConfigurationError, match="STORE: no such thing"):
        await worker.start()
    assert worker.pid is None


async def test_a_child_that_ends_before_it_is_ready(make: Make) -> None:
    with pytest.raises(StoreUnavailable, match="code 7"):
        await make(trouble="exit").start()


async def test_a_refusal_at_a_restart_is_no_setup_error(make: Make, tmp_path: Path) -> None:
    worker = make(folder=str(tmp_path), trouble="once")
    await worker.start()
    os.kill(pid_of(worker), signal.SIGKILL)
    await until(lambda: worker.pid is None)
    with pytest.raises(StoreUnavailable, match="locked by another"):
        await worker.call("count")


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b"x",
        b'{"result": 1}',
        b'{"id": "0"}',
        b'{"id": [0]}',
        b'{"id": 0, "error": {}}',
    ],
)
async def test_a_child_that_answers_what_is_no_answer_is_ended(body: bytes) -> None:
    """Its code may come from anywhere: what a library writes to the pipe is not ours."""
    script = (
        "import sys; sys.stdin.buffer.read(4); "
        f"sys.stdout.buffer.write({HEADER.pack(len(body)) + body!r}); "
        "sys.stdout.flush(); sys.stdin.read()"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    child = Child(process, "engine", call_timeout=20)
    async with asyncio.timeout(10):
        with pytest.raises(StoreUnavailable, match="-9"):
            await child.call("echo", {})
        await child.ended.wait()
    assert not child.alive
    await child._reader  # ended without an exception
    await child.aclose()


async def test_killed_in_a_call_then_restarted_by_the_next(make: Make, tmp_path: Path) -> None:
    worker = make(folder=str(tmp_path))
    await worker.start()
    first = pid_of(worker)
    call = asyncio.create_task(worker.call("wait"))
    await until((tmp_path / "waiting").exists)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(StoreUnavailable, match="-9"):
        await call
    assert await worker.call("echo", value="again") == "again"
    assert pid_of(worker) != first


async def test_stopped_in_a_call_then_restarted_by_the_next(make: Make) -> None:
    worker = make(call_timeout=1.0)
    await worker.start()
    first = pid_of(worker)
    os.kill(first, signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(StoreTimeout, match="within 1 s"):
        await worker.call("echo", value=1)
    assert time.monotonic() - began < 3.0
    await until(lambda: not is_running(first))
    await worker.start()
    assert await worker.call("echo", value=2) == 2


async def test_a_hanging_call_is_killed_though_its_caller_has_gone(
    make: Make, tmp_path: Path
) -> None:
    worker = make(folder=str(tmp_path), call_timeout=1.5)
    await worker.start()
    first = pid_of(worker)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await worker.call("wait")
    await until(lambda: not is_running(first))


async def test_calls_behind_a_hanging_one_fail_as_unavailable(make: Make, tmp_path: Path) -> None:
    worker = make(folder=str(tmp_path), call_timeout=1.5)
    await worker.start()
    hanging = asyncio.create_task(worker.call("wait"))
    await until((tmp_path / "waiting").exists)
    behind = asyncio.create_task(worker.call("echo", value=1))
    with pytest.raises(StoreTimeout):
        await hanging
    with pytest.raises(StoreUnavailable):
        await behind


async def test_a_cancelled_call_harms_no_other(make: Make, tmp_path: Path) -> None:
    worker = make(folder=str(tmp_path))
    await worker.start()
    first = pid_of(worker)
    working = asyncio.create_task(worker.call("wait"))
    await until((tmp_path / "waiting").exists)
    waiting = [asyncio.create_task(worker.call("echo", value=n)) for n in range(10)]
    await asyncio.sleep(0)
    for task in [working, *waiting[:5]]:
        task.cancel()
    (tmp_path / "go").touch()
    assert await asyncio.gather(*waiting[5:]) == [5, 6, 7, 8, 9]
    assert await worker.call("count") == 5, "those cancelled while they waited were not served"
    assert pid_of(worker) == first


async def test_a_caller_waits_no_longer_for_a_start_than_for_a_call(
    make: Make, tmp_path: Path
) -> None:
    worker = make(folder=str(tmp_path), trouble="slow", call_timeout=0.5)
    with pytest.raises(StoreTimeout):
        await worker.call("count")
    (tmp_path / "go").touch()
    await worker.start()
    assert await worker.call("count") == 0


async def test_one_start_serves_all_who_wait_for_it(make: Make) -> None:
    worker = make()
    await asyncio.gather(*(worker.call("echo", value=n) for n in range(10)))
    assert await worker.call("count") == 10


async def test_closing_lets_the_engine_close_and_ends_it(make: Make, tmp_path: Path) -> None:
    worker = make(folder=str(tmp_path))
    await worker.start()
    child = pid_of(worker)
    await worker.aclose()
    await worker.aclose()
    assert not is_running(child)
    assert (tmp_path / "closed").exists()
    with pytest.raises(StoreUnavailable, match="closed"):
        await worker.call("count")


async def test_closing_ends_a_stopped_child_and_the_calls_to_it(make: Make) -> None:
    worker = make()
    await worker.start()
    child = pid_of(worker)
    os.kill(child, signal.SIGSTOP)
    call = asyncio.create_task(worker.call("count"))
    await asyncio.sleep(0)
    await worker.aclose()
    assert not is_running(child)
    with pytest.raises(StoreUnavailable):
        await call


async def test_closing_during_a_start(make: Make, tmp_path: Path) -> None:
    worker = make(folder=str(tmp_path), trouble="slow")
    start = asyncio.create_task(worker.start())
    await until((tmp_path / "waiting").exists)
    await worker.aclose()
    with pytest.raises((StoreUnavailable, asyncio.CancelledError)):
        await start


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
async def test_the_child_ends_with_its_parent(make: Make, tmp_path: Path, end: int) -> None:
    """SIGKILL to the parent; or SIGINT to both, as Ctrl-C sends it, which only the parent takes."""
    make()  # writes the engine's module
    script = (
        "import asyncio, sys\n"
        "from a2m_gateway.store.worker_process import WorkerProcess\n"
        "async def main():\n"
        "    w = WorkerProcess('worker_test_engine:Engine', {}, name='e', call_timeout=20)\n"
        "    await w.start()\n"
        "    print(w.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    assert is_running(child)
    if end == signal.SIGINT:
        os.kill(child, end)
    parent.send_signal(end)
    await parent.wait()
    await until(lambda: not is_running(child))


async def test_an_answer_that_nobody_reads_any_more_is_no_error(make: Make, tmp_path: Path) -> None:
    """As when the parent was killed in a call: the engine closes, and nothing is printed."""
    make()  # writes the engine's module
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "a2m_gateway.store.worker_main"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    arguments = {"folder": str(tmp_path)}
    process.stdin.write(frame({"factory": "worker_test_engine:Engine", "arguments": arguments}))
    async with asyncio.timeout(20):
        await process.stdout.readexactly(HEADER.size)
    process.stdin.write(frame({"id": 1, "method": "wait", "arguments": {}}))
    await until((tmp_path / "waiting").exists)
    process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
    process.stdin.close()
    (tmp_path / "go").touch()
    async with asyncio.timeout(20):
        _, printed = await process.communicate()
    assert (process.returncode, printed) == (0, b"")
    assert (tmp_path / "closed").exists()
