"""The client and the authentication classes with a real agent and a server of FastAPI."""
from __future__ import annotations

import asyncio
import io
import itertools
from typing import Any, Callable, Dict, Iterator, Tuple

import httpx
import pytest
import requests

from authd_client import AgentError, AsyncClient, Client, Token
from authd_client import httpx_auth, requests_auth

_numbers = itertools.count(1)


@pytest.fixture
def session(live: Dict[str, Any]) -> Iterator[str]:
    """A session that was signed in just now. The server ends the access tokens of all others."""
    name = f"one{next(_numbers)}"
    with Client() as client:
        step = client.call("login.start", {
            "provider": live["provider"], "session": name, "fields": {"user": "ada", "password": live["password"]},
        })
        assert step["kind"] == "done", step["kind"]
        yield name
        client.call("session.logout", {"session": name})


def revoke(live: Dict[str, Any]) -> None:
    requests.post(live["url"] + "/control/revoke").raise_for_status()


def test_calls(live: Dict[str, Any], session: str) -> None:
    with Client() as client:
        token = client.token(session, origin=live["url"], min_valid=1)
        assert (token.session, token.token_type.lower()) == (session, "bearer") and token.access_token not in repr(token)
        status = client.status(session)
        assert (status.session, status.provider, status.state, status.renews) == (session, live["provider"], "active", True)
        assert session in [one.session for one in client.sessions()]
        assert client.request("GET", "/users/me", session=session).json()["username"] == "ada"
        assert client.request("POST", "/size", session=session, content=b"12345").json() == {"size": 5}
        with pytest.raises(AgentError) as unknown:
            client.token("nobody")
        assert unknown.value.kind == "unknown_session" and "authc list" in str(unknown.value)
        with pytest.raises(AgentError) as elsewhere:
            client.token(session, origin="https://elsewhere.example")
        assert (elsewhere.value.kind, elsewhere.value.cause) == ("denied", "other_origin")
        revoke(live)
        assert client.reject(token).state == "active"
        assert client.token(session).access_token != token.access_token


def test_asynchronous_calls(live: Dict[str, Any], session: str) -> None:
    async def play() -> None:
        async with AsyncClient() as client:
            tokens = await asyncio.gather(*[client.token(session) for _ in range(50)])
            assert len({token.access_token for token in tokens}) == 1
            assert (await client.status(session)).state == "active"
            assert (await client.request("GET", "/users/me", session=session)).json()["username"] == "ada"
            revoke(live)
            await client.reject(tokens[0])
            assert (await client.token(session)).access_token != tokens[0].access_token
            assert session in [one.session for one in await client.sessions()]
            with pytest.raises(AgentError):
                await client.token("nobody")
            async with client.events(["session"], session) as events:
                first = await events.__anext__()
                assert first.name == "snapshot" and session in [one.session for one in first.sessions]
                await client.call("session.refresh", {"session": session})
                async for event in events:
                    if event.name == "renewed":
                        assert event.status is not None and event.status.state == "active"
                        break

    asyncio.run(play())


def test_events(session: str) -> None:
    with Client() as client, client.events(["session"], session) as events:
        assert next(events).name == "snapshot"
        client.call("session.refresh", {"session": session})
        assert next(event for event in events if event.name == "renewed").session == session


Send = Callable[..., Tuple[int, str]]


def with_httpx(session: str) -> Send:
    def send(method: str, url: str, **more: Any) -> Tuple[int, str]:
        with httpx.Client(auth=httpx_auth.SessionAuth(session), follow_redirects=True, trust_env=False) as http:
            response = http.request(method, url, **more)
            return response.status_code, response.text
    return send


def with_async_httpx(session: str) -> Send:
    async def ask(method: str, url: str, more: Dict[str, Any]) -> Tuple[int, str]:
        async with httpx.AsyncClient(auth=httpx_auth.SessionAuth(session), follow_redirects=True, trust_env=False) as http:
            response = await http.request(method, url, **more)
            return response.status_code, response.text
    return lambda method, url, **more: asyncio.run(ask(method, url, more))


def with_requests(session: str) -> Send:
    def send(method: str, url: str, **more: Any) -> Tuple[int, str]:
        if "content" in more:
            more["data"] = more.pop("content")
        with requests.Session() as http:
            http.trust_env = False
            http.auth = requests_auth.SessionAuth(session)
            response = http.request(method, url, **more)
            return response.status_code, response.text
    return send


@pytest.fixture(params=[with_httpx, with_async_httpx, with_requests])
def send(request: pytest.FixtureRequest, session: str) -> Send:
    made: Send = request.param(session)
    return made


def current(session: str) -> Token:
    with Client() as client:
        return client.token(session)


def test_a_refused_token_is_replaced_and_the_body_sent_again(live: Dict[str, Any], session: str, send: Send) -> None:
    assert send("GET", live["url"] + "/users/me")[0] == 200
    before = current(session)
    revoke(live)
    status, text = send("POST", live["url"] + "/size", content=b"12345")
    assert (status, text) == (200, '{"size":5}')
    assert current(session).access_token != before.access_token


def test_a_body_that_is_read_once_is_not_sent_again(live: Dict[str, Any], session: str, send: Send) -> None:
    async def pieces() -> Any:
        yield b"12345"

    revoke(live)
    content: Any = (piece for piece in [b"12345"])
    if "ask" in send.__code__.co_freevars:
        content = pieces()
    assert send("POST", live["url"] + "/size", content=content)[0] == 401
    # The token was reported all the same.
    assert send("GET", live["url"] + "/users/me")[0] == 200


def test_a_file_is_read_again(live: Dict[str, Any], session: str) -> None:
    revoke(live)
    file = io.BytesIO(b"12345")
    response = requests.post(live["url"] + "/size", data=file, auth=requests_auth.SessionAuth(session))
    assert (response.status_code, response.text) == (200, '{"size":5}')


def test_no_other_origin_gets_the_token(live: Dict[str, Any], session: str, send: Send) -> None:
    other = live["url"].replace("127.0.0.1", "localhost")
    assert send("GET", live["url"] + "/away?to=" + live["url"] + "/users/me")[0] == 200
    for url in (other + "/seen", live["url"] + "/away?to=" + other + "/seen"):
        status, text = send("GET", url)
        assert status == 200 and "user-agent" in text
        assert "authorization" not in text and current(session).access_token not in text
    # Its 401 says nothing about the token.
    before = current(session)
    assert send("GET", live["url"] + "/away?to=" + other + "/users/me")[0] == 401
    assert current(session).access_token == before.access_token


def test_a_session_is_found_by_the_origin(live: Dict[str, Any], session: str) -> None:
    with Client() as client:
        client.call("session.use", {"session": session})
    with httpx.Client(auth=httpx_auth.SessionAuth(), trust_env=False) as http:
        assert http.get(live["url"] + "/users/me").json()["username"] == "ada"
    assert requests.get(live["url"] + "/users/me", auth=requests_auth.SessionAuth()).json()["username"] == "ada"


def test_a_second_401_is_the_response(live: Dict[str, Any], send: Send) -> None:
    # No token opens this door.
    assert send("GET", live["url"] + "/places/query?api_key=wrong")[0] == 401
