"""The guard, without a socket: whatever a request looks like, it needs the secret."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dashboard.formatting import language
from dashboard.request_guard import Guard
from tests.support.hostile_requests import (  # fmt: skip
    COOKIE,
    COOKIES,
    FORWARDED,
    HOSTS,
    METHODS,
    ORIGINS,
    OWN,
    PATHS,
    PORT,
    QUERIES,
    SECRET,
    SITES,
    Behind,
    ask,
    may_pass,
)

NAMES = st.sampled_from(HOSTS) | st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=20)


def some(values: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(values, min_size=1, max_size=1) | st.lists(values, max_size=2)


@given(
    st.sampled_from(["http", "websocket"]),
    st.sampled_from(METHODS), some(NAMES), some(st.sampled_from(ORIGINS)), some(st.sampled_from(SITES)),
    some(st.sampled_from(COOKIES)), st.sampled_from(QUERIES), st.sampled_from([(), (FORWARDED,)]),
)  # fmt: skip
@example("http", "GET", [OWN[0]], [], ["none"], [COOKIE], "", ())
@example("websocket", "GET", [OWN[0]], [f"http://{OWN[0]}"], [], [COOKIE], "", ())
@example("websocket", "GET", [OWN[0]], [], [], [COOKIE], "", ())
@example("websocket", "GET", [OWN[0]], [f"http://{OWN[0]}"], [], [], f"token={SECRET}", ())
def test_nobody_passes_whom_the_rule_written_twice_would_not_let(
    kind: str, method: str, hosts: list[str], origins: list[str], sites: list[str], cookies: list[str], query: str,
    allowed: tuple[str, ...],
) -> None:  # fmt: skip
    named = {"host": hosts, "origin": origins, "sec-fetch-site": sites, "cookie": cookies}
    headers = [(name, value) for name, values in named.items() for value in values]
    found = ask(headers, kind=kind, method=method, query=query, hosts=allowed)
    assert found.passed == may_pass(kind, method, query, headers, allowed)
    if found.passed:
        assert [key for key, _ in found.behind.scopes[0]["headers"] if key == b"origin"] == []
    elif kind == "websocket":
        assert found.messages == [{"type": "websocket.close", "code": 1008}]
    else:
        assert found.status in (200, 303, 403)
        assert SECRET.encode() not in found.body
        if found.status != 403:
            assert query in (f"token={SECRET}", f"table=a&token={SECRET}", "token=old")
            assert SECRET not in "".join(found.all("location"))


@pytest.mark.parametrize("path", PATHS)
def test_every_path_is_behind_the_guard(path: str) -> None:
    for method in ("GET", "HEAD", "POST", "OPTIONS", "DELETE", "PUT"):
        origin = [("origin", f"http://{OWN[0]}")]
        assert ask([("host", OWN[0]), *origin], path=path, method=method).status == 403
        assert ask([("host", OWN[0]), *origin, ("cookie", COOKIE)], path=path, method=method).passed
    socket = [("host", OWN[0]), ("origin", f"http://{OWN[0]}")]
    assert not ask(socket, kind="websocket", path=path).passed


def test_the_secret_leaves_the_address_and_all_else_of_it_stays() -> None:
    query = f"table=a.b&sql=select+%26%C3%A4&token={SECRET}&x=&x=token"
    found = ask([("host", OWN[1]), ("sec-fetch-site", "none")], path="/query/%C3%A4", query=query)
    assert found.status == 303
    assert found.all("location") == ["/query/%C3%A4?table=a.b&sql=select+%26%C3%A4&x=&x=token"]
    assert found.all("set-cookie") == [f"{COOKIE}; Path=/; HttpOnly; SameSite=Strict"]
    assert found.all("cache-control") == ["no-store"]
    old = ask([("host", OWN[0]), ("cookie", COOKIE)], query="token=of-the-start-before&table=a")
    assert (old.status, old.all("location")) == (303, ["/?table=a"])


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_on_another_page_leads_on_by_a_page_of_ours(site: str) -> None:
    """A redirect would still be marked as the other page's request, and be rejected."""
    found = ask([("host", OWN[0]), ("sec-fetch-site", site)], path="/query", query=f"token={SECRET}&sql=%22%3E%3Cx")
    assert (found.status, found.all("location")) == (200, [])
    assert found.all("set-cookie") == [f"{COOKIE}; Path=/; HttpOnly; SameSite=Strict"]
    assert b'content="0;url=/query?sql=%22%3E%3Cx"' in found.body
    assert SECRET.encode() not in found.body


def test_a_forwarded_port_has_a_cookie_of_its_own() -> None:
    """Two servers forwarded to two ports of one's own machine may both listen on 8501 remotely."""
    found = ask([("host", FORWARDED)], query=f"token={SECRET}", hosts=(FORWARDED,))
    assert found.all("set-cookie")[0].startswith("snapscope-9000=")


@pytest.mark.parametrize(
    "path", ["//evil.example/", "///evil.example", "/\\evil.example", "\\\\evil.example", "//a@b/%0d%0a"]
)
def test_no_redirection_leads_to_another_server(path: str) -> None:
    [to] = ask([("host", OWN[0])], path=path, query=f"token={SECRET}").all("location")
    assert to.startswith("/")
    assert not to.startswith(("//", "/\\"))
    assert "\\" not in to
    assert not {"\r", "\n"} & set(to)


def test_every_answer_forbids_frames_and_referrers() -> None:
    for headers in ([], [("host", OWN[0])], [("host", OWN[0]), ("cookie", COOKIE)], [("host", "evil.example:8501")]):
        for query in ("", f"token={SECRET}"):
            found = ask(headers, query=query)
            said = found.all("content-security-policy")[-1]
            assert {"frame-ancestors 'none'", "img-src 'self' data: blob:"} <= set(said.split("; "))
            assert found.all("x-frame-options") == ["DENY"]
            assert found.all("referrer-policy") == ["no-referrer"]
            assert found.all("cross-origin-opener-policy") == ["same-origin"]


def test_the_page_of_a_refusal_says_what_to_open_and_runs_nothing() -> None:
    found = ask([("host", OWN[0]), ("accept-language", "de,en;q=0.8")]).body.decode()
    assert "<code>snapscope serve</code>" in found
    assert "<script" not in found
    chinese = ask([("host", OWN[0]), ("accept-language", "zh-CN,zh;q=0.9")]).body.decode()
    assert "snapscope serve" in chinese
    assert 'lang="zh"' in chinese
    assert language.chosen() == language.ENGLISH, "one request's language is nobody else's"
    hostile = ask([("host", '"><script>alert(1)</script>')]).body.decode()
    assert "<script" not in hostile
    assert "--allow-host" in hostile


def test_a_secret_that_can_be_guessed_guards_nothing() -> None:
    for secret in ("", "short"):
        with pytest.raises(ValueError, match="secret"):
            Guard(Behind(), secret, PORT)


def test_port_80_is_named_by_nobody() -> None:
    guard = Guard(Behind(), SECRET, 80)
    assert set(guard.origins) == {b"127.0.0.1:80", b"localhost:80", b"127.0.0.1", b"localhost"}
