"""The access check of the dashboard's server: an ASGI layer in front of every page, file, stream and health check.

Invariant: a client that does not know the secret printed at startup gets no response from the application, whatever it
requests and however the request is encoded. A browser sends the secret once, in the URL that was printed, and as a
cookie from then on. Browsers also attach cookies to requests made by other sites, so a request is only accepted if its
Host is one of this server's own names and it was not sent by a page of another origin.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from dashboard.formatting import language, refusal_page
from dashboard.formatting.refusal_page import FOREIGN, HOST, SECRET

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

TOKEN = b"token"
READS = ("GET", "HEAD")
OWN_SITES = (b"same-origin", b"none")  # `none`: typed, bookmarked or opened from another program
_AS_IT_IS = "%/:@!$&'()*+,;=~-._?"
_OWN_ONLY = b"; ".join(
    [
        b"frame-ancestors 'none'",
        b"object-src 'none'",
        b"base-uri 'self'",
        *(kind + b"-src 'self' data: blob:" for kind in (b"img", b"media", b"font", b"frame")),
    ]
)
"""A name in a table may be Markdown for a picture on another server; no page loads it."""

_BEFORE_EACH = (
    (b"content-security-policy", _OWN_ONLY),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True, slots=True)
class RequestDecision:
    """A decision: `refused` is the reason for rejecting, `shown` means that the URL still holds a secret to be
    removed."""

    refused: str | None = None
    shown: bool = False


class Guard:
    """ASGI app that protects `app` with the secret. `port` is the server's port; `hosts` are additional names that
    browsers may use."""

    def __init__(self, app: App, secret: str, port: int, hosts: Iterable[str] = ()) -> None:
        if len(secret) < 32:
            raise ValueError("a guard needs a secret that cannot be guessed")
        self._app, self._secret = app, secret.encode()
        named = [f"127.0.0.1:{port}", f"localhost:{port}"]
        own = [*named, *(name.removesuffix(":80") for name in named if port == 80)]
        self.origins: dict[bytes, tuple[bytes, ...]] = {each.encode(): (f"http://{each}".encode(),) for each in own}
        for each in hosts:  # forwarded, possibly by a proxy that speaks https to the browser
            self.origins[each.encode()] = (f"http://{each}".encode(), f"https://{each}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        found = self.verdict(scope)
        if scope["type"] == "websocket" and found.refused:
            await receive()  # the connect event
            await send({"type": "websocket.close", "code": 1008})
        elif found.refused:
            await self._refuse(scope, send, found.refused)
        elif found.shown:
            await self._enter(scope, send)
        else:
            # The origin was checked above. Streamlit would query external servers for its own IP to compare.
            headers = [each for each in scope["headers"] if each[0] != b"origin"]
            await self._app({**scope, "headers": headers}, receive, _closed(send))

    def verdict(self, scope: Scope) -> RequestDecision:
        """Decide whether to accept this request or websocket."""
        headers: Headers = scope["headers"]
        reads = scope["type"] == "http" and scope["method"] in READS
        hosts = _all(headers, b"host")
        if len(hosts) != 1 or hosts[0] not in self.origins:
            return RequestDecision(HOST)
        origins = _all(headers, b"origin")
        if len(origins) > 1 or any(each not in self.origins[hosts[0]] for each in origins) or not (origins or reads):
            return RequestDecision(FOREIGN)
        shown = _tokens(scope["query_string"])[0] if reads else []
        if self._is_any(shown):
            return RequestDecision(shown=True)
        if any(each not in OWN_SITES for each in _all(headers, b"sec-fetch-site")):
            return RequestDecision(FOREIGN)
        name = _cookie(hosts[0])
        pairs = [pair.strip().partition(b"=") for each in _all(headers, b"cookie") for pair in each.split(b";")]
        if not self._is_any([value for key, _, value in pairs if key == name]):
            return RequestDecision(SECRET)
        return RequestDecision(shown=bool(shown))

    def _is_any(self, offered: Sequence[bytes]) -> bool:
        """Compare in constant time."""
        return any(hmac.compare_digest(each, self._secret) for each in offered)

    async def _enter(self, scope: Scope, send: Send) -> None:
        """Move the secret from the URL into a cookie and keep the rest of the URL.

        If a link on another site led here, a redirect would still count as that site's request and be rejected, so
        respond with an empty page of our own that navigates on.
        """
        rest = _tokens(scope["query_string"])[1]
        raw = scope.get("raw_path") or quote(scope["path"]).encode()
        path = "/" + quote(raw, safe=_AS_IT_IS.replace("?", "")).lstrip("/")  # two slashes would name another server
        to = path + (f"?{quote(rest, safe=_AS_IT_IS)}" if rest else "")
        (host,) = _all(scope["headers"], b"host")
        cookie = _cookie(host) + b"=" + self._secret + b"; Path=/; HttpOnly; SameSite=Strict"
        if all(each in OWN_SITES for each in _all(scope["headers"], b"sec-fetch-site")):
            return await _answer(send, 303, [(b"location", to.encode()), (b"set-cookie", cookie)], b"")
        kind = (b"content-type", b"text/html; charset=utf-8")
        return await _answer(send, 200, [kind, (b"set-cookie", cookie)], refusal_page.onward(to).encode())

    async def _refuse(self, scope: Scope, send: Send, why: str) -> None:
        languages = b",".join(_all(scope["headers"], b"accept-language")).decode("latin-1").split(",")
        language.choose(language.best(each.partition(";")[0] for each in languages))
        hosts = [each.decode("latin-1") for each in _all(scope["headers"], b"host")]
        page = refusal_page.page(why, hosts[0] if len(hosts) == 1 else "", next(iter(self.origins)).decode())
        kind = [(b"content-type", b"text/html; charset=utf-8")]
        kind += [(b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'")]
        await _answer(send, 403, kind, page.encode())


def _all(headers: Headers, name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]


def _cookie(host: bytes) -> bytes:
    """Return the cookie name, which contains the port: cookies are shared across ports, and two servers must not
    clash."""
    return b"snapscope-" + (host.rpartition(b":")[2] if b":" in host else b"web")


def _tokens(query: bytes) -> tuple[list[bytes], bytes]:
    """Return the secrets in a query string, and the query string without them."""
    parts = [(part, *part.partition(b"=")[::2]) for part in query.split(b"&")]
    return [value for _, key, value in parts if key == TOKEN], b"&".join(p for p, key, _ in parts if key != TOKEN)


def _closed(send: Send) -> Send:
    """Add headers that forbid framing and keep the URL out of the Referer header."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_BEFORE_EACH]
        await send(message)

    return sent


async def _answer(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    every = [*headers, (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
    await _closed(send)({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": body})
