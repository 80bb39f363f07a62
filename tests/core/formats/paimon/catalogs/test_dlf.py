"""Signed requests to DLF: the signatures that pypaimon makes of the same requests; Java's server in tests/interop."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest

from core import settings_file
from core.errors import Corrupt, SnapscopeError, Unsupported
from core.formats.paimon.catalogs import dlf, rest
from core.formats.paimon.catalogs.dlf import AccessKey
from core.settings_file import NamedCatalog
from tests.support.formats.paimon.rest_catalog import serving

SECRET = "marker-secret"
REQUESTS: list[tuple[str, dict[str, str]]] = [
    ("/v1/config", {"warehouse": "a%26b%20c"}),
    ("/v1/lake/databases/my%20db/tables", {"pageToken": "2%2F%C3%BC", "a": ""}),
    ("/v1/a%2Fb/databases", {}),
]
# Made by `DLFDefaultSigner` and `DLFOpenApiSigner` of pypaimon 2.1.0: key-id, key-secret, cn-hangzhou, nonce-1.
SIGNATURES = """
66020eeed3ab9f2702ad6b2d4c336fcda9d546a1896a11677c66747961d0d9f4 jOafVatimlWC3uEHTEG2sW6N8HA=
afe0b1e213fb7552595caab575dce89400f18dafa2d90dfeb3aa09b67ee43a0b dDNYW64aop99x3fXcR4BPqLGlN0=
ca86a84ea62bc1a2d44d096e9a5a187e6c128672ea83c6511079f854c0943365 6OoB5xZaNxKIVf6o+Ytcj+i8qhc=
3856798503c99d83406dd6101ed25dd33c8e935e5c28ff6aed4d16d7f568a5cc s4vnH1N2ruVNl3w6U5jxNaLtNFg=
9b96d446162180fd3d9c773cdee8c2ae07f465b3cd2aa7ab9d21325942786f9e rUcvxJb1zrMRSNv0YzLUyYXQLtk=
9893a38512a2d5b6550201f44213c116aa3cdbdb1c2b032b1a0a133991a04537 v9EiJNBi0LojSIdI+tAxxR9Vg7c=
""".split()
SIGNED = [
    (request, session, own, public)
    for (request, session), own, public in zip(
        itertools.product(REQUESTS, (None, "sts-token")),
        SIGNATURES[::2],
        SIGNATURES[1::2],
        strict=True,
    )
]


@pytest.mark.parametrize(("request_of", "session", "own", "public"), SIGNED)
def test_signatures_are_those_of_pypaimon(
    request_of: tuple[str, dict[str, str]], session: str | None, own: str, public: str
) -> None:
    key = AccessKey("key-id", "key-secret", session)
    signed = dlf.dlf4(key, "cn-hangzhou", *request_of, "20261130T071500Z")
    scope = "key-id/20261130/cn-hangzhou/DlfNext/aliyun_v4_request"
    assert signed["Authorization"] == f"DLF4-HMAC-SHA256 Credential={scope},Signature={own}"
    assert signed.get("x-dlf-security-token") == session
    signed = dlf.openapi(key, *request_of, "Mon, 30 Nov 2026 07:15:00 GMT", "nonce-1")
    assert signed["Authorization"] == f"acs key-id:{public}"
    assert signed.get("x-acs-security-token") == session


@pytest.mark.parametrize(
    ("session", "own", "public"),
    [
        (None, "cc4813da2b425940fa82e9a46d40031ba572be63b9277efd2a92b7a0df554527", "p0jjvIEdrjPoVjjXNC0KeIfOUC0="),
        ("sts", "c32097620cdf071abfd7daf56466d332b88f1d77b6c52bf61a3245f58ae328c4", "Fe10mEMliB8o3WVbuD8+YXtU1kg="),
    ],
)
def test_signatures_of_a_commit_are_those_of_pypaimon(session: str | None, own: str, public: str) -> None:
    key = AccessKey("key-id", "key-secret", session and "sts-token")
    path, body = "/v1/lake/databases/db/tables/t%24branch_dev/commit", '{"snapshot": {"id": 1, "note": "ü"}}'.encode()
    signed = dlf.dlf4(key, "cn-hangzhou", path, {}, "20261130T071500Z", body)
    assert signed["Authorization"].endswith(f",Signature={own}")
    signed = dlf.openapi(key, path, {}, "Mon, 30 Nov 2026 07:15:00 GMT", "nonce-1", body)
    assert signed["Authorization"] == f"acs key-id:{public}"


def _configured(*lines: str) -> NamedCatalog:
    path = Path(os.environ["SNAPSCOPE_CONFIG"])
    path.write_text("\n".join(["[catalog.cloud]", "type = 'paimon-rest'", *lines]))
    path.chmod(0o600)
    return settings_file.current().catalogs["cloud"]


KEY = ("access-key = 'key-id'", f"secret-key = '{SECRET}'")


def test_the_server_and_the_region_decide_about_the_signature() -> None:
    def kind(uri: str, *more: str) -> str:
        return dlf.headers(_configured(f"uri = '{uri}'", *KEY, *more), "/v1/config", {})["Authorization"]

    assert "/cn-hangzhou/" in kind("https://cn-hangzhou-vpc.dlf.aliyuncs.com")
    assert "/us-east-1/" in kind("https://cn-hangzhou-vpc.dlf.aliyuncs.com", "region = 'us-east-1'")
    assert kind("https://dlfnext.cn-hangzhou.aliyuncs.com").startswith("acs key-id:")
    with pytest.raises(Unsupported, match="region of the catalog cloud") as error:
        kind("http://127.0.0.1:1")
    assert "cn-hangzhou" in str(error.value.remedy)


def test_each_request_is_signed_and_no_message_has_the_secret() -> None:
    def answer(path: str, _: dict[str, str]) -> tuple[int, object]:
        return (200, {"defaults": {}}) if path == "/v1/config" else (403, {"message": f"not {SECRET}", "code": 403})

    with serving(answer) as server:
        catalog = _configured(
            f"uri = '{server.url}'", *KEY, "session-token = 'sts'", "region = 'r'", "warehouse = 'a b'"
        )
        client = rest.Client(catalog)
        with pytest.raises(SnapscopeError) as error:
            client.databases()
    assert SECRET not in f"{error.value} {vars(error.value)} {server.asked}"
    assert [path for _, path, _ in server.asked] == ["/v1/config?warehouse=a%20b", "/v1/databases"]
    assert all(each["Authorization"].startswith("DLF4-HMAC-SHA256 Credential=key-id/") for _, _, each in server.asked)
    sent = {name.lower(): value for name, value in server.asked[0][2].items()}
    wanted = dlf.dlf4(AccessKey("key-id", SECRET, "sts"), "r", "/v1/config", {"warehouse": "a%20b"}, sent["x-dlf-date"])
    assert {name.lower(): value for name, value in wanted.items()}.items() <= sent.items()


def test_a_key_in_a_file_is_read_for_each_request(tmp_path: Path) -> None:
    """Whoever renews it replaces the file."""
    file = tmp_path / "key.json"
    catalog = _configured("uri = 'https://cn-hangzhou-vpc.dlf.aliyuncs.com'", f"credentials-file = '{file}'")
    for content in ("", "{", "[]", '{"AccessKeyId": "a"}', f'{{"AccessKeyId": 1, "AccessKeySecret": "{SECRET}"}}'):
        file.write_text(content)
        with pytest.raises(Corrupt, match="AccessKeyId, AccessKeySecret") as error:
            dlf.headers(catalog, "/v1/config", {})
        assert error.value.path == str(file)
        assert SECRET not in f"{error.value} {error.value.__cause__} {error.value.__context__}"
    for name in ("first", "second"):
        file.write_text(json.dumps({"AccessKeyId": name, "AccessKeySecret": SECRET, "SecurityToken": f"of {name}"}))
        found = dlf.headers(catalog, "/v1/config", {})
        assert f"Credential={name}/" in found["Authorization"]
        assert found["x-dlf-security-token"] == f"of {name}"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((*KEY, "token = 't'"), "only one way to identify yourself"),
        ((*KEY, "credentials-file = '/k'"), "only one way to identify yourself"),
        (KEY[:1], "secret-key beside it"),
        (("session-token = 's'",), "access-key beside it"),
    ],
)
def test_contradictions_in_the_settings_are_refused(lines: tuple[str, ...], expected: str) -> None:
    with pytest.raises(SnapscopeError, match=expected):
        _configured("uri = 'http://h'", *lines)
