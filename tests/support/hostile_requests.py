"""Arbitrary requests to the guard, without a socket, and a second implementation of its rule.

`may_pass` implements the rule with plain sets, from the texts of RFC 6265, RFC 6455 and Fetch Metadata, and without the
guard's own code.
"""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

import pytest

from dashboard.request_guard import Guard

SECRET = "s3cr3t-" * 6
PORT = 8501
OWN = ("127.0.0.1:8501", "localhost:8501")
FORWARDED = "localhost:9000"
COOKIE = f"snapscope-8501={SECRET}"
Headers = list[tuple[str, str]]

HOSTS = (
    *(*OWN, FORWARDED, "evil.example:8501", "evil.example", "127.0.0.1", "localhost", "LOCALHOST:8501", ""),
    *("127.0.0.1:8501.", "127.0.0.1.:8501", "localhost.:8501", "[::1]:8501", "0.0.0.0:8501", "127.1:8501"),
    *("user@127.0.0.1:8501", "127.0.0.1:8501@evil.example", "127.0.0.1:8502", "127.0.0.1:08501", "2130706433:8501"),
    *("127.0.0.1:8501,evil.example", " 127.0.0.1:8501", "127.0.0.1:8501\t", "localhost:8501/", "xn--localhost:8501"),
)
ORIGINS = (
    *(f"http://{host}" for host in (*OWN, FORWARDED)),
    *(f"https://{FORWARDED}", "https://127.0.0.1:8501", "null", "", "http://evil.example:8501"),
    *("http://127.0.0.1:9999", "HTTP://127.0.0.1:8501", "http://127.0.0.1:8501/"),
)
SITES = ("none", "same-origin", "same-site", "cross-site", "", "None", "same-origin, cross-site")
COOKIES = (
    *(COOKIE, f"a=b; {COOKIE}", f"{COOKIE}; snapscope-8501=old", "snapscope-8501=old", f"snapscope-9000={SECRET}"),
    *(f"snapscope-8502={SECRET}", "snapscope-8501=", "snapscope-8501", f"SNAPSCOPE-8501={SECRET}", COOKIE[:-1], ""),
    *(f'snapscope-8501="{SECRET}"', f"x={COOKIE}", f"token={SECRET}", "snapscope-8501=\xff"),
)
QUERIES = ("", "table=a.b", f"token={SECRET}", "token=old", f"table=a&token={SECRET}", f"Token={SECRET}")
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
PATHS = (
    *("/", "/timeline", "/_stcore/health", "/_stcore/host-config", "/_stcore/metrics", "/_stcore/script-health-check"),
    *("/media/a.csv", "/component/x/y.js", "/_stcore/bidi-components/x", "/_stcore/upload_file/a/b", "/static/x.js"),
    *("/app/static/x", "//", "//evil.example/", "/%2e%2e/_stcore/health", "/..;/", "/timeline/_stcore/health", "*"),
    *("", "http://127.0.0.1:8501/", "/\\evil.example"),
)


class Behind:
    """The app behind the guard; counts the requests that reach it."""

    def __init__(self) -> None:
        self.scopes: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"x-behind", b"1")]})
            await send({"type": "http.response.body", "body": b"behind"})


class Answer:
    def __init__(self, messages: list[Any], behind: Behind) -> None:
        self.messages, self.behind = messages, behind
        self.status = messages[0].get("status") if messages else None
        self.headers = [(key.decode(), value.decode()) for key, value in (messages or [{}])[0].get("headers", ())]
        self.body = b"".join(each.get("body", b"") for each in messages)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    @property
    def passed(self) -> bool:
        return bool(self.behind.scopes)


def ask(
    headers: Headers,
    *,
    kind: str = "http",
    method: str = "GET",
    path: str = "/",
    query: str = "",
    hosts: tuple[str, ...] = (),
) -> Answer:
    behind, messages = Behind(), []
    scope = {
        "type": kind,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(key.encode(), value.encode("latin-1")) for key, value in headers],
    } | ({"method": method} if kind == "http" else {})

    async def receive() -> Any:
        return {"type": f"{kind}.connect"}

    async def send(message: Any) -> None:
        messages.append(message)

    with pytest.raises(StopIteration):  # nothing is awaited, so no event loop is needed: a browser's may be running
        copy_context().run(Guard(behind, SECRET, PORT, hosts)(scope, receive, send).__await__().send, None)
    return Answer(messages, behind)


def may_pass(kind: str, method: str, query: str, headers: Headers, hosts: tuple[str, ...]) -> bool:
    def of(name: str) -> list[str]:
        return [value for key, value in headers if key == name]

    if len(of("host")) != 1 or of("host")[0] not in {*OWN, *hosts}:
        return False
    [host] = of("host")
    is_read = kind == "http" and method in {"GET", "HEAD"}
    schemes = ("http", "https") if host in hosts else ("http",)
    if of("origin") not in [[f"{scheme}://{host}"] for scheme in schemes] and not (is_read and not of("origin")):
        return False
    if "token" in [part.split("=")[0] for part in query.split("&")] and is_read:
        return False  # redirected or rejected
    if set(of("sec-fetch-site")) - {"same-origin", "none"}:
        return False
    port = host.split(":")[1]
    given = [pair.strip() for value in of("cookie") for pair in value.split(";")]
    return f"snapscope-{port}={SECRET}" in given
