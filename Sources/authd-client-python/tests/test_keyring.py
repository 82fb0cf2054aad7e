"""The backend for keyring, with keyring itself."""
from __future__ import annotations

import logging

import keyring.errors
import pytest
from keyring.backend import get_all_keyring
from keyring.backends.chainer import ChainerBackend

from authd_client.keyring_backend import AuthdKeyring

from conftest import SECRET, FakeAgent


@pytest.fixture
def backend(agent: FakeAgent, monkeypatch: pytest.MonkeyPatch) -> AuthdKeyring:
    monkeypatch.setenv("AUTHD_SOCKET", agent.path)
    agent.reply = lambda method, params: agent.token()
    return AuthdKeyring()


def test_keyring_finds_the_backend() -> None:
    assert any(isinstance(found, AuthdKeyring) for found in get_all_keyring())


@pytest.mark.parametrize("service, origin", [
    ("https://pypi.example.org/simple/", "https://pypi.example.org"),
    ("https://ada@pypi.example.org:8443/simple/?a=b", "https://pypi.example.org:8443"),
    ("http://[::1]:80/simple", "http://[::1]:80"),
])
def test_a_token_is_requested_for_the_origin(
    backend: AuthdKeyring, agent: FakeAgent, service: str, origin: str
) -> None:
    assert backend.get_password(service, "ada") == SECRET
    assert agent.requests[-1]["params"] == {"origin": origin, "min_valid_ms": 60000}
    found = backend.get_credential(service, None)
    assert found is not None and (found.username, found.password) == ("oauth2", SECRET)
    named = backend.get_credential(service, "ada")
    assert named is not None and named.username == "ada"


@pytest.mark.parametrize("service", ["pypi.example.org", "", "ftp://host/x", "https://", "https://host:x/", "mail/imap"])
def test_what_is_no_web_address_is_left_to_others(backend: AuthdKeyring, agent: FakeAgent, service: str) -> None:
    assert backend.get_password(service, "ada") is None
    assert backend.get_credential(service, None) is None
    assert agent.requests == []


def test_only_a_session_without_a_token_is_worth_a_warning(
    backend: AuthdKeyring, agent: FakeAgent, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING)
    agent.reply = lambda method, params: agent.error("denied")
    assert backend.get_password("https://elsewhere.example", "ada") is None
    assert caplog.records == []
    agent.reply = lambda method, params: agent.error("sign_in_required")
    assert backend.get_password("https://pypi.example.org", "ada") is None
    assert "https://pypi.example.org" in caplog.text
    monkeypatch.setenv("AUTHD_SOCKET", agent.path + "-gone")
    caplog.clear()
    assert backend.get_password("https://pypi.example.org", "ada") is None
    assert caplog.records == []


def test_it_stores_nothing(backend: AuthdKeyring) -> None:
    with pytest.raises(keyring.errors.PasswordSetError):
        backend.set_password("https://pypi.example.org", "ada", "secret")
    with pytest.raises(keyring.errors.PasswordDeleteError):
        backend.delete_password("https://pypi.example.org", "ada")


def test_keyrings_chain_asks_it(backend: AuthdKeyring) -> None:
    assert any(isinstance(found, AuthdKeyring) for found in ChainerBackend().backends)
    assert ChainerBackend().get_password("https://pypi.example.org/simple", "ada") == SECRET
