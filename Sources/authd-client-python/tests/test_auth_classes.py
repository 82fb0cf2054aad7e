"""The classes for httpx and requests, with an agent made for the test: what the real one cannot be brought to."""
from __future__ import annotations

from typing import Any, Dict, Iterator

import httpx
import pytest

from authd_client import AgentError, Client
from authd_client.httpx_auth import SessionAuth
from conftest import FakeAgent, Reply


def test_proofs_of_bound_tokens(agent: FakeAgent) -> None:
    def reply(method: str, params: Dict[str, Any]) -> Reply:
        return {"proof": "a.b.c", "session": "one"} if method == "token.proof" else agent.token(token_type="DPoP")

    agent.reply = reply
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=dict(request.headers)))
    with httpx.Client(auth=SessionAuth(client=Client(agent.path)), transport=transport) as http:
        seen = http.get("https://api.example/x").json()
    assert seen["dpop"] == "a.b.c" and seen["authorization"].startswith("DPoP ")
    assert agent.requests[-1]["params"]["url"] == "https://api.example/x"


@pytest.mark.parametrize("renews", [True, False])
def test_a_refused_token_that_nothing_renews_is_not_reported(agent: FakeAgent, renews: bool) -> None:
    def reply(method: str, params: Dict[str, Any]) -> Reply:
        status = {"session": "one", "provider": "p", "state": "active", "renews": renews}
        return agent.token() if method == "token.get" else status

    agent.reply = reply
    transport = httpx.MockTransport(lambda request: httpx.Response(401))
    with httpx.Client(auth=SessionAuth(client=Client(agent.path)), transport=transport) as http:
        assert http.get("https://api.example/x").status_code == 401
    methods = [request["method"] for request in agent.requests]
    assert methods == ["token.get", "session.status"] + ["token.reject"] * renews + ["token.get"]


def test_errors_reach_the_caller_before_anything_is_sent(agent: FakeAgent) -> None:
    agent.reply = lambda method, params: agent.error("sign_in_required")
    sent = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200)

    transport = httpx.MockTransport(answer)
    with httpx.Client(auth=SessionAuth(client=Client(agent.path)), transport=transport) as http:
        with pytest.raises(AgentError):
            http.get("https://api.example/x")
    assert sent == []


def test_no_token_after_a_401_leaves_the_response(agent: FakeAgent) -> None:
    answers: Iterator[Reply] = iter([agent.token(), agent.error("offline", retryable=True)])
    agent.reply = lambda method, params: next(answers)
    transport = httpx.MockTransport(lambda request: httpx.Response(401))
    with httpx.Client(auth=SessionAuth(client=Client(agent.path)), transport=transport) as http:
        assert http.get("https://api.example/x").status_code == 401
