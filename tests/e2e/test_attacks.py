"""Who would use somebody else's server: other websites, other programs of the machine, links. The server is the real
one, `snapscope serve LAKE --write`, the browser a real one, and what is not a browser speaks by raw sockets.

In every test somebody who may come in does so, too: a server that answers nobody would be safe for nothing.
"""

from __future__ import annotations

import base64
import contextlib
import http.server
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from dashboard import words
from tests.support.builders import TableBuilder
from tests.support.e2e.reader import PATIENCE_MS, Reader
from tests.support.places import ROOT
from tests.support.ports import free_port

SNAPSHOTS = 26
HEALTH, STREAM = "/_stcore/health", "/_stcore/stream"
CLI = "import sys; from core.cli import main; sys.exit(main())"


@dataclass
class Recorder:
    """Somebody else's server that records its callers; the pages it serves have another origin."""

    port: int
    pages: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    cookies: list[str] = field(default_factory=list)


@contextlib.contextmanager
def recording() -> Iterator[Recorder]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            found.asked.append(f"{self.command} {self.path}")
            page = found.pages.get(self.path.partition("?")[0])
            self.send_response(200 if page is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write((page or "").encode())

        do_GET = do_POST = do_PUT = do_CONNECT = answer

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Recorder(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Served:
    """A server as a user starts it. `calls` records whom it calls through any proxy."""

    address: str
    port: int
    lake: Path
    state: Path
    calls: Recorder

    @property
    def secret(self) -> str:
        return self.address.partition("?token=")[2]

    @property
    def base(self) -> str:
        return self.address.partition("?")[0]

    @property
    def cookie(self) -> str:
        return f"snapscope-{self.port}={self.secret}"

    def untouched(self) -> bool:
        return len(list((self.lake / "shop.db" / "clicks" / "snapshot").glob("snapshot-*"))) == SNAPSHOTS


@contextlib.contextmanager
def serving(lake: Path, state: Path, port: int, *more: str) -> Iterator[Served]:
    with recording() as calls:
        proxy = f"http://127.0.0.1:{calls.port}"
        environment = {
            **os.environ,
            "SNAPSCOPE_STATE": str(state),
            "SNAPSCOPE_CACHE": str(state.parent / "cache"),
            "http_proxy": proxy,
            "https_proxy": proxy,
            "AWS_ENDPOINT_URL": proxy,
            "no_proxy": "localhost",
        }
        environment.pop("SNAPSCOPE_WAREHOUSE", None)
        command = [sys.executable, "-c", CLI, "serve", str(lake), "--write", "--port", str(port), *more]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        try:
            said = process.stderr.readline()
            [address] = re.findall(r"http://\S+", said)
            yield Served(address, port, lake, state, calls)
        finally:
            process.send_signal(signal.SIGTERM)
            rest = process.stderr.read()
            status = process.wait(120)
            process.stderr.close()
        assert status == 0
        assert "token=" not in rest, "the secret is printed once"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("attacked")
    table = TableBuilder(root / "lake" / "shop.db" / "clicks")
    for _ in range(SNAPSHOTS):
        table.commit([table.file(10)])
    with serving(root / "lake", root / "state", free_port(), "--allow-host", "snapscope.example:9000") as found:
        yield found


@contextlib.contextmanager
def patient(browser: Browser, *, bypass_csp: bool = False) -> Iterator[BrowserContext]:
    with browser.new_context(bypass_csp=bypass_csp) as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context


@pytest.fixture
def stranger(browser: Browser) -> Iterator[Page]:
    """A browser that never saw the printed URL."""
    with patient(browser) as context:
        yield context.new_page()


@pytest.fixture
def owner(browser: Browser, served: Served) -> Iterator[BrowserContext]:
    """A browser that has opened it."""
    with patient(browser) as context:
        context.new_page().goto(served.address)
        yield context


# raw sockets ----------------------------------------------------------------------------------------------------------


def says(port: int, request: str) -> int:
    """Return the status that a server sends for these exact bytes; 0 if it closes the connection without a response."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request.encode("latin-1"))
        head = connection.recv(4096).split(b"\r\n")[0].split()
        return int(head[1]) if len(head) > 1 else 0


def request(line: str, *headers: str) -> str:
    return "\r\n".join([line, *headers, "Connection: close", "", ""])


def upgrade(target: str, *headers: str) -> str:
    key = base64.b64encode(b"0123456789abcdef").decode()
    lines = ["Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
    return "\r\n".join([f"GET {target} HTTP/1.1", *headers, *lines, "Sec-WebSocket-Protocol: streamlit", "", ""])


def test_without_the_secret_nothing_is_answered(served: Served) -> None:
    own = f"127.0.0.1:{served.port}"
    paths = [
        HEALTH,
        STREAM,
        "/",
        "/timeline",
        "/_stcore/host-config",
        "/_stcore/metrics",
        "/_stcore/allowed-message-origins",
    ]
    paths += ["/_stcore/script-health-check", "/healthz", "/media/a.csv", "/component/x/index.html", "/favicon.png"]
    paths += ["/_stcore/upload_file/a/b", "/_stcore/bidi-components/x/y.js", "/static/js/index.js", "/app/static/a"]
    paths += [
        "//",
        "//_stcore/health",
        "/./_stcore/health",
        "/%5fstcore/health",
        "/timeline/_stcore/health",
        "/%2e%2e/",
        "*",
    ]
    cookies = ["", f"snapscope-{served.port}=", f"snapscope-{served.port}={'x' * 43}", f"snapscope-1={served.secret}"]
    for path in paths:
        for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"):
            origin = f"Origin: http://{own}"
            assert says(served.port, request(f"{method} {path} HTTP/1.1", f"Host: {own}", origin)) == 403, (
                method,
                path,
            )
    for cookie in cookies:
        assert says(served.port, request(f"GET {HEALTH} HTTP/1.1", f"Host: {own}", f"Cookie: {cookie}")) == 403
        stream = upgrade(STREAM, f"Host: {own}", f"Origin: http://{own}", f"Cookie: {cookie}")
        assert says(served.port, stream) == 403
    assert says(served.port, request(f"GET {HEALTH}?token=old HTTP/1.1", f"Host: {own}")) == 403
    shown = upgrade(f"{STREAM}?token={served.secret}", f"Host: {own}", f"Origin: http://{own}")
    assert says(served.port, shown) == 403, "a stream is never opened by its address"
    assert says(served.port, request(f"GET {HEALTH} HTTP/1.1", f"Host: {own}", f"Cookie: {served.cookie}")) == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example:{port}", "evil.example", "127.0.0.1", "localhost", "LOCALHOST:{port}", "127.0.0.1:{port}."),
        *("127.0.0.1.:{port}", "localhost.:{port}", "a@127.0.0.1:{port}", "127.0.0.1:{port}@evil.example"),
        *(
            "[::1]:{port}",
            "0.0.0.0:{port}",
            "127.1:{port}",
            "2130706433:{port}",
            "127.0.0.1:1",
            "127.0.0.1:0{port}",
            "",
        ),
        *("127.0.0.1:{port}, evil.example", "snapscope.example:{port}", "snapscope.example"),
    ],
)
def test_another_name_is_not_answered_even_with_the_secret(served: Served, host: str) -> None:
    named, own = host.format(port=served.port), f"127.0.0.1:{served.port}"
    cookies = f"Cookie: {served.cookie}; snapscope-9000={served.secret}; snapscope-web={served.secret}"
    assert says(served.port, request(f"GET {HEALTH} HTTP/1.1", f"Host: {named}", cookies)) in (400, 403)
    assert says(served.port, request(f"GET /?token={served.secret} HTTP/1.1", f"Host: {named}")) in (400, 403)
    for origin in (named, own):
        assert says(served.port, upgrade(STREAM, f"Host: {named}", f"Origin: http://{origin}", cookies)) in (400, 403)


def test_hosts_that_no_browser_sends(served: Served) -> None:
    own, cookie = f"Host: 127.0.0.1:{served.port}", f"Cookie: {served.cookie}"
    line = f"GET {HEALTH} HTTP/1.1"
    assert says(served.port, request(line, cookie)) in (400, 403)
    assert says(served.port, request(f"GET {HEALTH} HTTP/1.0", cookie)) in (400, 403)
    assert says(served.port, request(line, own, "Host: evil.example", cookie)) in (400, 403)
    assert says(served.port, request(line, own, own, cookie)) in (400, 403)
    absolute = f"GET http://evil.example:{served.port}{HEALTH} HTTP/1.1"
    assert says(served.port, request(absolute, f"Host: evil.example:{served.port}", cookie)) in (400, 403)
    assert says(served.port, request(absolute, own)) in (400, 403)


def test_a_stream_is_opened_by_our_own_pages_alone(served: Served) -> None:
    host, own = f"Host: 127.0.0.1:{served.port}", f"127.0.0.1:{served.port}"
    cookie = f"Cookie: {served.cookie}"
    assert says(served.port, upgrade(STREAM, host, f"Origin: http://{own}", cookie)) == 101
    for origin in (
        "http://evil.example",
        "null",
        "",
        f"https://{own}",
        f"http://localhost:{served.port}",
        "http://127.0.0.1:1",
    ):
        assert says(served.port, upgrade(STREAM, host, f"Origin: {origin}", cookie)) == 403, origin
    assert says(served.port, upgrade(STREAM, host, cookie)) == 403, "no Origin, no browser"
    twice = [f"Origin: http://{own}", "Origin: http://evil.example"]
    assert says(served.port, upgrade(STREAM, host, *twice, cookie)) in (400, 403)
    foreign = upgrade(STREAM, host, f"Origin: http://{own}", cookie, "Sec-Fetch-Site: cross-site")
    assert says(served.port, foreign) == 403


def test_a_forwarded_name_that_was_allowed_is_answered_and_nobody_is_asked_who_that_is(served: Served) -> None:
    """Streamlit would ask an external server for its own IP, to compare it with an unknown Origin."""
    host, cookie = "Host: snapscope.example:9000", f"Cookie: snapscope-9000={served.secret}"
    assert says(served.port, upgrade(STREAM, host, "Origin: https://snapscope.example:9000", cookie)) == 101
    config = request("GET /_stcore/host-config HTTP/1.1", host, "Origin: http://snapscope.example:9000", cookie)
    assert says(served.port, config) == 200
    assert says(served.port, upgrade(STREAM, host, "Origin: http://evil.example", cookie)) == 403
    assert served.calls.asked == []


# in a browser ---------------------------------------------------------------------------------------------------------

TRIES = """async base => {
  const found = {};
  const within = (name, promise) => Promise.race([promise, new Promise(r => setTimeout(r, 10000, 'nothing'))])
    .then(told => { found[name] = told; });
  const read = options => fetch(base + '_stcore/health', options).then(a => a.text(), () => 'refused');
  await within('fetch', read({}));
  await within('fetch with cookies', read({credentials: 'include'}));
  await within('blind fetch', fetch(base + '_stcore/health', {mode: 'no-cors', credentials: 'include'})
    .then(a => a.text(), () => 'refused'));
  await within('post', fetch(base + '_stcore/upload_file/a/b', {method: 'POST', body: 'x', credentials: 'include',
    mode: 'no-cors'}).then(a => a.text(), () => 'refused'));
  await within('stream', new Promise(r => { const s = new WebSocket(base.replace('http', 'ws') + '_stcore/stream',
    ['streamlit']); s.onopen = () => r('open'); s.onerror = () => r('refused'); }));
  await within('script', new Promise(r => { const s = document.createElement('script');
    s.src = base + '_stcore/health'; s.onload = () => r('loaded'); s.onerror = () => r('refused');
    document.head.append(s); }));
  await within('frame', new Promise(r => { const f = document.createElement('iframe'); f.src = base;
    f.onload = () => r('loaded'); document.body.append(f); }));
  return found;
}"""


def test_a_rebound_name_gets_neither_page_nor_stream(served: Served, browser: Browser) -> None:
    """evil.example was this website's address and is 127.0.0.1 now: to the browser it is one origin all along.

    Its scripts were loaded before, so no rule of ours about them counts (`bypass_csp`)."""
    evil = f"http://evil.example:{served.port}/"
    with patient(browser, bypass_csp=True) as context:
        page = context.new_page()
        page.goto(served.address)  # the owner's own browser
        answer = page.goto(f"{evil}retention?table=shop.clicks&keep_max=1")
        assert answer is not None
        assert answer.status == 403
        assert page.locator("[data-testid=stApp]").count() == 0
        told = page.evaluate(TRIES, evil)
        assert told["stream"] == told["script"] == "refused"
        for name in ("fetch", "fetch with cookies", "blind fetch", "post"):
            assert "--allow-host" in told[name], "it may read this, its own origin, and is told nothing but that"
            assert served.secret not in told[name]
        assert page.evaluate("secret => fetch('/?token=' + secret).then(a => a.status)", served.secret) == 403
    assert served.untouched()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "evil.example"])
def test_a_page_of_another_server_reaches_nothing(served: Served, owner: BrowserContext, name: str) -> None:
    """On this machine it is even the same site: cookies are sent from one port to another."""
    with recording() as other:
        other.pages["/"] = "<!doctype html><title>other</title><body></body>"
        page = owner.new_page()
        page.goto(f"http://{name}:{other.port}/")
        told = page.evaluate(TRIES, served.base)
        assert {key: value for key, value in told.items() if key != "frame"} == {
            **dict.fromkeys(("fetch", "fetch with cookies", "stream", "script"), "refused"),
            **dict.fromkeys(("blind fetch", "post"), told["blind fetch"]),
        }
        assert told["blind fetch"] in ("", "refused"), "and whoever cannot read an answer has no answer"
        framed = page.frames[1]
        framed.wait_for_url(lambda url: url.startswith("chrome-error:"))
        assert framed.locator("[data-testid=stApp], main").count() == 0
    assert served.untouched()


def test_a_link_from_another_page_is_followed_on_a_click_of_our_own(served: Served, owner: BrowserContext) -> None:
    with recording() as other:
        where = f"{served.base}timeline?table=shop.clicks"
        other.pages["/"] = (
            f'<a href="{where}">look</a><form method="post" action="{where}"><button>send</button></form>'
        )
        page = owner.new_page()
        page.goto(f"http://127.0.0.1:{other.port}/")
        page.get_by_role("button").click()
        expect(page.get_by_text(words.REFUSED)).to_be_visible()
        page.goto(f"http://127.0.0.1:{other.port}/")
        page.get_by_role("link").click()
        expect(page.get_by_text(words.REFUSED_FOREIGN[0])).to_be_visible()
        page.get_by_role("link", name=words.REFUSED_AGAIN).click()
        expect(page.get_by_text("clicks").first).to_be_visible()
        assert page.evaluate("() => [document.referrer, window.opener]") == [where, None] or page.url == where


def test_a_deep_link_with_the_secret_loses_only_the_secret(served: Served, browser: Browser) -> None:
    with patient(browser) as context:
        page = context.new_page()
        page.goto("about:blank")
        asked = "table=shop.clicks&keep_max=7&tz=Asia%2FShanghai"
        page.goto(f"{served.base}retention?{asked}&token={served.secret}")
        expect(page.get_by_text("Asia/Shanghai").or_(page.get_by_role("combobox")).first).to_be_visible()
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        assert "token" not in page.url
        assert set(page.url.partition("?")[2].split("&")) >= set(asked.split("&"))
        kept = [each for each in context.cookies() if each["name"] == f"snapscope-{served.port}"]
        assert [(each["httpOnly"], each["sameSite"], each["path"], each["expires"]) for each in kept] == [
            (True, "Strict", "/", -1)
        ]
        assert served.secret not in page.evaluate("() => document.cookie + document.documentElement.outerHTML")
        loaded = page.evaluate("() => performance.getEntries().map(each => each.name).join(' ')")
        assert served.secret not in loaded
        page.go_back()
        assert page.url == "about:blank", "the address with the secret is no page to go back to"


def test_a_stranger_is_told_what_to_open(served: Served, stranger: Page) -> None:
    answer = stranger.goto(f"{served.base}retention?table=shop.clicks")
    assert answer is not None
    assert answer.status == 403
    expect(stranger.get_by_text("snapscope serve").first).to_be_visible()
    stranger.get_by_role("link", name=words.REFUSED_AGAIN).click()
    expect(stranger.get_by_text(words.REFUSED)).to_be_visible()


def test_the_cookie_of_an_earlier_start_opens_nothing(served: Served, browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    with patient(browser) as context:
        page = context.new_page()
        with serving(served.lake, tmp_path / "state", port) as first:
            page.goto(first.address)
            expect(page.get_by_text("clicks").first).to_be_visible()
        with serving(served.lake, tmp_path / "state", port) as second:
            answer = page.goto(second.base)
            assert answer is not None
            assert answer.status == 403
            expect(page.get_by_text("snapscope serve").first).to_be_visible()
            answer = page.goto(first.address)
            assert answer is not None
            assert answer.status == 403
            page.goto(second.address)  # replaces the old one
            expect(page.get_by_text("clicks").first).to_be_visible()
    assert second.secret != first.secret


def test_two_servers_of_one_machine_leave_each_other_signed_in(
    served: Served, owner: BrowserContext, tmp_path: Path
) -> None:
    with serving(served.lake, tmp_path / "state", free_port()) as second:
        page = owner.new_page()
        page.goto(second.address)
        expect(page.get_by_text("clicks").first).to_be_visible()
        page.goto(served.base)
        expect(page.get_by_text("clicks").first).to_be_visible()


# links ----------------------------------------------------------------------------------------------------------------


def test_a_link_makes_the_server_call_nobody_until_it_is_clicked(served: Served, owner: BrowserContext) -> None:
    with recording() as other:
        me = Reader(owner.new_page(), served.base, None)
        for place in ("s3://bucket/lake", "github://someone:repository@main/", "iceberg://prod"):
            me.page.goto(f"{served.base}timeline?warehouse={quote(place, safe='')}&table=a.b")
            expect(me.page.get_by_text(words.OPEN_TITLE)).to_be_visible()
            me.page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        for values in ("file={}", "point={}&folder={}&manifest={}&file={}"):
            asked = values.replace("{}", quote(f"webhdfs://127.0.0.1:{other.port}/lake", safe=""))
            me.page.goto(f"{served.base}files?table=shop.clicks&{asked}")
            me.settled()
        place = f"webhdfs://127.0.0.1:{other.port}/lake"
        me.page.goto(f"{served.base}timeline?warehouse={quote(place, safe='')}")
        expect(me.page.get_by_text(words.OPEN_TITLE)).to_be_visible()
        me.settled()
        assert other.asked + served.calls.asked == []
        me.page.locator(".st-key-entering-open button").click()
        expect(me.page.get_by_text(words.OPEN_TITLE)).to_have_count(0)
        me.settled()
        assert other.asked + served.calls.asked != [], "on a click it does, so the test would have seen it"
        served.calls.asked.clear()


def test_no_page_loads_a_picture_from_another_server(served: Served, owner: BrowserContext) -> None:
    """Not even if a name in a table became markup."""
    page = owner.new_page()
    page.goto(served.base)
    before = list(served.calls.asked)
    load = "at => new Promise(done => { const i = new Image(); i.onload = i.onerror = e => done(e.type); i.src = at })"
    assert page.evaluate(load, f"http://127.0.0.1:{served.calls.port}/picture.png") == "error"
    assert page.evaluate(load, "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=") == "load"
    assert served.calls.asked == before


def test_whoever_may_can_switch_changes_on_and_plan(served: Served, owner: BrowserContext) -> None:
    """Return the effect of the attack, by target."""
    me = Reader(owner.new_page(), served.base, None).open("retention?table=shop.clicks&keep_max=12&keep_min=1")
    me.allow_changes()
    expect(me.page.get_by_role("button", name=words.CARRY_OUT)).to_be_visible()
    me.check()
    assert served.untouched()


# the machine ----------------------------------------------------------------------------------------------------------


def test_what_the_server_keeps_is_closed_to_other_users(served: Served, owner: BrowserContext) -> None:
    Reader(owner.new_page(), served.base, None).open("timeline?table=shop.clicks")
    kept = [served.state, *served.state.rglob("*")]
    assert len(kept) > 2
    assert [each for each in kept if each.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)] == []


def test_a_port_in_use_ends_the_start(served: Served, tmp_path: Path) -> None:
    command = [sys.executable, "-c", CLI, "serve", str(served.lake), "--port", str(served.port)]
    ended = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert f"Port {served.port} is in use" in ended.stderr
    assert "--port" in ended.stderr
    assert "http://" not in ended.stderr


def test_no_list_of_processes_shows_the_secret(served: Served) -> None:
    shown = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or belongs to somebody else
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            assert served.secret.encode() not in told
            shown += b"dashboard.server" in told
    assert shown >= 1


def test_streamlit_alone_shows_nothing(served: Served, stranger: Page, tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "dashboard/app.py", f"--server.port={port}"]
    environment = {**os.environ, "SNAPSCOPE_WAREHOUSE": str(served.lake), "SNAPSCOPE_WRITE": "1"}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            wait_for(lambda: answers(port))
            stranger.goto(f"http://127.0.0.1:{port}/retention?table=shop.clicks")
            expect(stranger.get_by_text(words.UNGUARDED)).to_be_visible()
            assert stranger.get_by_text("clicks").count() == 0
            assert stranger.get_by_role("checkbox").count() == 0
        finally:
            process.terminate()
            process.wait(60)


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
        return True
    return False


def wait_for(done: Callable[[], bool], seconds: float = 120) -> None:
    waiting = threading.Event()
    for _ in range(int(seconds * 10)):
        if done():
            return
        waiting.wait(0.1)
    raise AssertionError("it did not come to pass")
