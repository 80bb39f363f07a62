"""No secret is shown, in whatever form a client shows it."""

from __future__ import annotations

from urllib.parse import quote, quote_plus

import pytest

from core.credentials import Secret, masked, without


@pytest.mark.parametrize("written", ["se cret/1\n", "\tse cret/1", "se cret/1"])
def test_a_credential_of_the_environment_has_no_space_around_it(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    """Files that are mounted into the environment often end with a line break."""
    monkeypatch.setenv("TEST_SECRET", written)
    assert Secret("env", "TEST_SECRET", "config.toml").value() == "se cret/1"


@pytest.mark.parametrize("secret", ["line\nbreak", "slash/and+plus", "ümlaut", "trailing\n"])
def test_every_form_that_a_client_shows_is_left_out(secret: str) -> None:
    for shown in (secret, repr(secret), quote(secret, safe=""), quote_plus(secret.strip()), repr(secret.strip())):
        left = without(f"Invalid header value {shown}!", [secret])
        assert secret.strip()[:4] not in left
        assert secret.strip()[-4:] not in left


@pytest.mark.parametrize(
    "text",
    [
        "https://h/x?sv=1&sig=HUNTER2",
        "https://h/x?access_token=HUNTER2&page=2",
        "jdbc:postgresql://h/db?sslpassword=HUNTER2",
        "jdbc:mysql://(host=h,password=HUNTER2)/db",
        "http://user:HUNTER2/x@h/path",
        "http://h?X-Amz-Signature=HUNTER2",
        "AWS4-HMAC-SHA256 SignedHeaders=host, Signature=HUNTER2",
        "sig=HUNTER2&sv=1",
    ],
)
def test_credentials_of_urls_are_left_out(text: str) -> None:
    assert "HUNTER2" not in masked(text)


def test_other_text_stays() -> None:
    text = "abfs://container@account/x, hdfs://host:8020/a@b, hdfs://user@host/y, t?prefix=a&limit=2, dt=1,hour=2"
    assert masked(text) == text
