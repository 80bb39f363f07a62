"""A model of Alibaba Cloud's OSS, of which there is no server to run, by its documentation: objects of one bucket.

It knows GET, HEAD, PUT, DELETE and ListObjectsV2, and differs from S3 where OSS does: a range that ends after the
object is ignored unless the request asks for the standard behaviour, a name is protected by `x-oss-forbid-overwrite`,
and not even by that while the bucket keeps versions, or once did. Signatures are not checked.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET = "lake"
_TIME = "Thu, 01 Jan 2026 00:00:00 GMT"
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
_META = "x-oss-meta-"


@dataclass
class Server(ThreadingHTTPServer):
    """Holds objects, and their metadata by header, by key. `versioning`: "Enabled", "Suspended" or nothing.

    `denied`: prefixes whose listing is not allowed. `signed`: who signed requests, and with which token."""

    objects: dict[str, bytes] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    versioning: str = ""
    denied: tuple[str, ...] = ()
    signed: set[tuple[str, str]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.daemon_threads = True
        super().__init__(("127.0.0.1", 0), Handler)

    __hash__ = object.__hash__

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        if not self.key:
            self.of_bucket({name: values[0] for name, values in query.items()})
            return
        if (data := self.server.objects.get(self.key)) is None:
            self.refuse(404, "NoSuchKey")
            return
        status, headers, begin, end = 200, {}, 0, len(data)
        if asked := _RANGE.fullmatch(self.headers.get("Range", "")):
            first, last = int(asked[1]), int(asked[2] or len(data) - 1)
            if self.headers.get("x-oss-range-behavior") == "standard":
                if first >= len(data):
                    self.refuse(416, "InvalidRange")
                    return
                last = min(last, len(data) - 1)
            if first <= last < len(data):
                status, begin, end = 206, first, last + 1
                headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        self.answer(status, data[begin:end], {**headers, **self.described(data)})

    def do_HEAD(self) -> None:
        if (data := self.server.objects.get(self.key)) is None:
            self.answer(404, b"", {})
        else:
            self.answer(200, data, {**self.described(data), **self.server.metadata.get(self.key, {})})

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_protected = self.headers.get("x-oss-forbid-overwrite") == "true" and not self.server.versioning
        with self.server.lock:
            if is_protected and self.key in self.server.objects:
                self.refuse(409, "FileAlreadyExists")
                return
            self.server.objects[self.key] = data
            kept = {name.lower(): text for name, text in self.headers.items() if name.lower().startswith(_META)}
            self.server.metadata[self.key] = kept
        self.answer(200, b"", {"ETag": _etag(data)})

    def do_DELETE(self) -> None:
        self.server.objects.pop(self.key, None)
        self.answer(204, b"", {})

    @property
    def key(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix(f"/{BUCKET}").removeprefix("/")

    def described(self, data: bytes) -> dict[str, str]:
        return {"ETag": _etag(data), "Last-Modified": _TIME, "x-oss-object-type": "Normal"}

    def of_bucket(self, query: Mapping[str, str]) -> None:
        if "versioning" in query:
            status = f"<Status>{self.server.versioning}</Status>" if self.server.versioning else ""
            self.answer(200, f"<VersioningConfiguration>{status}</VersioningConfiguration>".encode(), {})
            return
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        if prefix.startswith(self.server.denied or ("\0",)):
            self.refuse(403, "AccessDenied")
            return
        after, most = query.get("continuation-token", ""), int(query.get("max-keys", 100))
        shown = dict[str, str]()
        for key in sorted(each for each in list(self.server.objects) if each.startswith(prefix)):
            rest, mark, _ = key.removeprefix(prefix).partition(delimiter) if delimiter else (key, "", "")
            name = f"{prefix}{rest}{mark}" if mark else key
            if name > after and name not in shown:
                shown[name] = "" if mark else key
        names = list(shown)[:most]
        is_cut = len(shown) > most
        contents = "".join(self.listed(name) if shown[name] else "" for name in names)
        below = [f"<Prefix>{quote(name)}</Prefix>" for name in names if not shown[name]]
        prefixes = "".join(f"<CommonPrefixes>{each}</CommonPrefixes>" for each in below)
        token = f"<NextContinuationToken>{quote(names[-1])}</NextContinuationToken>" if is_cut else ""
        body = (f"<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>{str(is_cut).lower()}</IsTruncated>"
                f"{token}{contents}{prefixes}</ListBucketResult>")  # fmt: skip
        self.answer(200, body.encode(), {})

    def listed(self, key: str) -> str:
        data = self.server.objects[key]
        return (f"<Contents><Key>{quote(key)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
                f"<ETag>{escape(_etag(data))}</ETag><Type>Normal</Type><Size>{len(data)}</Size>"
                "<StorageClass>Standard</StorageClass></Contents>")  # fmt: skip

    def refuse(self, status: int, code: str) -> None:
        body = f"<Error><Code>{code}</Code><Message>{code}</Message><RequestId>1</RequestId></Error>"
        self.answer(status, body.encode(), {})

    def answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        signer = self.headers.get("Authorization", "").partition(":")[0]
        self.server.signed.add((signer, self.headers.get("x-oss-security-token", "")))
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        self.send_header("x-oss-request-id", "1")
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Server]:
    """Serve an empty bucket until the block ends."""
    with Server() as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield found
        finally:
            found.shutdown()
            thread.join()


def _etag(data: bytes) -> str:
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest().upper()}"'
