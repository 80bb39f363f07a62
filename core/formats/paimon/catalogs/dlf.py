"""Requests to Alibaba Cloud's DLF, signed as Paimon signs them with `token.provider = dlf`.

Servers within a VPC take `DLF4-HMAC-SHA256`; those with a public name (`dlfnext.REGION.aliyuncs.com`) take the older
signature of the OpenAPI, HMAC-SHA1. A request with a body is a POST of JSON.
Source: `DLFAuthProvider` and the signers beside it, of Paimon 1.4 (first kind) and pypaimon 2.1 (both).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from urllib.parse import unquote, unquote_plus, urlsplit

from core.credentials import conceal
from core.errors import Corrupt, Unsupported
from core.messages import message
from core.settings_file import NamedCatalog

_SCHEME, _PRODUCT, _REQUEST = "DLF4-HMAC-SHA256", "DlfNext", "aliyun_v4_request"
_JSON = "application/json"
_PUBLIC = "dlfnext"  # in the names of servers outside a VPC
_REGION = re.compile(r"(?:pre-)?([a-z]+-[a-z]+(?:-\d+)?)")
_IN_FILE = ("AccessKeyId", "AccessKeySecret")
_VERSION_OF_API = "2026-01-18"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class AccessKey:
    """A key of Alibaba Cloud. `session_token`: of a key that expires."""

    id: str
    secret: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


def is_used(catalog: NamedCatalog) -> bool:
    """Return whether a catalog's requests are signed: its settings have an access key or a file with one."""
    return bool({"access-key", "credentials-file"} & catalog.options.keys())


def headers(
    catalog: NamedCatalog, path: str, parameters: Mapping[str, str], body: bytes | None = None
) -> dict[str, str]:
    """Return the headers that sign a request now. `path` and `parameters`: URL-encoded, without the server's part.

    Raises `Corrupt` if the file with the key cannot be read, `Unsupported` if the region is not known."""
    uri, key = catalog.text("uri"), _key(catalog)
    if is_public(uri):
        return openapi(key, path, parameters, formatdate(usegmt=True), str(uuid.uuid4()), body)
    region = catalog.text("region") or _region(uri)
    if not region:
        raise Unsupported(
            "The region of the catalog {name} is not in its uri.",
            name=catalog.name,
            path=uri,
            remedy=message("Write its region in the settings file: region = 'cn-hangzhou'."),
        )
    return dlf4(key, region, path, parameters, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()), body)


def is_public(uri: str) -> bool:
    """Return whether a server takes the OpenAPI's signature: it is reached from outside a VPC."""
    return _PUBLIC in (urlsplit(uri.lower()).hostname or "")


def dlf4(
    key: AccessKey, region: str, path: str, parameters: Mapping[str, str], now: str, body: bytes | None = None
) -> dict[str, str]:
    """Return the headers of `DLF4-HMAC-SHA256`. `now`: in UTC, as 20261130T071500Z."""
    signed = {"x-dlf-content-sha256": "UNSIGNED-PAYLOAD", "x-dlf-date": now, "x-dlf-version": "v1"}
    if key.session_token is not None:
        signed["x-dlf-security-token"] = key.session_token
    if body is not None:
        signed |= {"content-md5": _md5(body), "content-type": _JSON}
    query = "&".join(f"{name}={value}" if value else name for name, value in sorted(parameters.items()))
    lines = [f"{name}:{value.strip()}" for name, value in sorted(signed.items())]
    canonical = "\n".join([_method(body), path, query, *lines, signed["x-dlf-content-sha256"]])
    scope = [now[:8], region, _PRODUCT, _REQUEST]
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    signing_key = f"aliyun_v4{key.secret}".encode()
    for part in scope:
        signing_key = _hmac_sha256(signing_key, part)
    signature = _hmac_sha256(signing_key, "\n".join([_SCHEME, now, "/".join(scope), digest])).hex()
    credential = f"{_SCHEME} Credential={'/'.join([key.id, *scope])}"
    return {**signed, "Authorization": f"{credential},Signature={signature}"}


def openapi(
    key: AccessKey, path: str, parameters: Mapping[str, str], now: str, nonce: str, body: bytes | None = None
) -> dict[str, str]:
    """Return the headers of the OpenAPI's signature. `now`: as in the header Date. `nonce`: never used before."""
    own = {
        "x-acs-signature-method": "HMAC-SHA1",
        "x-acs-signature-nonce": nonce,
        "x-acs-signature-version": "1.0",
        "x-acs-version": _VERSION_OF_API,
    }
    if key.session_token is not None:
        own["x-acs-security-token"] = key.session_token
    query = "&".join(f"{name}={unquote(value)}" if value else name for name, value in sorted(parameters.items()))
    resource = unquote_plus(path) + (f"?{query}" if query else "")
    lines = "".join(f"{name}:{value.strip()}\n" for name, value in sorted(own.items()))
    of_body = {} if body is None else {"content-md5": _md5(body), "content-type": _JSON}
    text = "\n".join([_method(body), _JSON, *(of_body.values() or ("", "")), now, lines + resource])
    signature = base64.b64encode(hmac.new(key.secret.encode(), text.encode(), hashlib.sha1).digest()).decode()
    return {**own, **of_body, "Accept": _JSON, "Date": now, "Authorization": f"acs {key.id}:{signature}"}


def _method(body: bytes | None) -> str:
    return "GET" if body is None else "POST"


def _md5(body: bytes) -> str:
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


def _hmac_sha256(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def _region(uri: str) -> str | None:
    found = _REGION.search(uri)
    return found[1] if found else None


def _key(catalog: NamedCatalog) -> AccessKey:
    """Return the access key of the settings, or of the file that they name, which may be replaced at any time."""
    if "credentials-file" not in catalog.options:
        return AccessKey(catalog.text("access-key"), catalog.text("secret-key"), catalog.text("session-token") or None)
    path = Path(catalog.text("credentials-file")).expanduser()
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        found = None  # the error may quote the file
    fields = found if isinstance(found, dict) else {}
    key = [value for name in _IN_FILE if isinstance(value := fields.get(name), str) and value]
    if len(key) < len(_IN_FILE):
        raise Corrupt(
            "The file with the access key of the catalog {name} cannot be read: expected a JSON object with {fields}.",
            name=catalog.name,
            fields=", ".join(_IN_FILE),
            path=str(path),
            remedy=message("Correct credentials-file in the settings, or wait until the file has been written."),
        )
    token = fields.get("SecurityToken")
    session = token if isinstance(token, str) and token else None
    for secret in filter(None, (key[1], session)):
        conceal(secret)
    return AccessKey(key[0], key[1], session)
