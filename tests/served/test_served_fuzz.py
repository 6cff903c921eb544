"""Random and mutated messages to real collections, the same answers on every transport."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import answers
import pytest
from fuzz_messages import SEED, messages, on_one_line
from gateway import Gateway
from served_passages import Corpus

from a2m_gateway.memory import Endpoint
from a2m_gateway.memory.opening import MemorySettings, open_memory
from a2m_gateway.store import StoreURL

COUNT = 1_000
LARGEST = 4 * 1024 * 1024


@pytest.fixture(scope="session")
def few(corpus: Corpus) -> Corpus:
    """So few that no message takes long."""
    return dataclasses.replace(corpus, passages=corpus.passages[:60], vectors=corpus.vectors[:60])


@pytest.fixture(params=["chroma", "qdrant"])
def urls(request: pytest.FixtureRequest, few: Corpus) -> tuple[str, str]:
    """For this process, and for another."""
    if request.param == "chroma":
        from served_passages import in_chroma

        server = request.getfixturevalue("chroma_server")
        url = in_chroma(server, few, name="few")
        return url, url
    request.getfixturevalue("needs_qdrant")
    from served_passages import in_qdrant

    folder = request.getfixturevalue("tmp_path")
    return in_qdrant(folder / "here", few), in_qdrant(folder / "there", few)


@pytest.mark.requirement("8.3-notification-202")
@pytest.mark.requirement("8.3-protocol-error-200")
@pytest.mark.requirement("8.3-request-200")
async def test_every_message_gets_one_answer_everywhere(
    urls: tuple[str, str], start_gateway: Callable[[str], Gateway]
) -> None:
    opened = await open_memory(MemorySettings(url=StoreURL.parse(urls[0])))
    endpoint = Endpoint(opened.memory)
    gateway = start_gateway(urls[1])
    answered = 0
    try:
        for number, message in enumerate(map(on_one_line, messages(SEED + 1, COUNT))):
            if not message.strip():
                continue  # a blank line on stdio
            told = f"message {number}: {message[:300]!r}"
            here = await endpoint.answer(message)
            answers.check(message, here, largest=LARGEST)
            response = gateway.post(message)
            assert response.status_code == (202 if here is None else 200), told
            if here is None:
                assert response.content == b"", told
                gateway.tell(message)  # an answer to it would come in place of the next
                continue
            assert canonical(here) == canonical(response.content), told
            assert canonical(here) == canonical(gateway.ask(message)), told
            answered += 1
    finally:
        await opened.aclose()
    assert answered > COUNT // 2
    assert gateway.end() == 0, gateway.log


def canonical(answer: bytes) -> str:
    """The text with the members of objects in one order, and every number as it was written."""
    value = json.loads(answer, parse_float=lambda text: ["float", text])
    return json.dumps(value, sort_keys=True)
