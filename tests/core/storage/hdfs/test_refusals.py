"""What errors of HDFS's client mean."""

from __future__ import annotations

import pytest

from core.errors import Unsupported
from core.storage.hdfs.refusals import not_identified, of_client


@pytest.mark.parametrize(
    ("error", "place", "said"),
    [
        (RuntimeError('RPCError("org.apache.hadoop.ipc.StandbyException", "…")'), "ns", "No NameNode of ns is active"),
        (OSError("Connection refused (os error 111)"), "ns", "No NameNode of ns is active"),
        (OSError("failed to lookup address information: …"), "ns:8020", "ns is neither a host"),
        (RuntimeError('OperationFailed("Failed to load libgssapi_krb")'), "ns", "library of this machine"),
        (RuntimeError(r'GSSAPIError(X, 1, "no cache\n\tat a.b(C.java:1)")'), "ns", "ns asks for Kerberos"),
        (OSError("Connection refused (os error 111)"), "host:8020", None),
        (OSError("RPC listener disconnected"), "host:8020", None),
        (RuntimeError("BlocksNotFound"), "ns", None),
    ],
)
def test_an_error_says_what_to_do(error: Exception, place: str, said: str | None) -> None:
    found = of_client(error, place, "/t")
    assert (None if found is None else said and said in found.message) in (None, True)
    assert (found is None) == (said is None)
    assert found is None or found.remedy


def test_a_trace_of_java_is_left_out() -> None:
    found = of_client(RuntimeError(r'GSSAPIError(X, 1, "no cache\n\tat a.b(C.java:1)")'), "ns", "/t")
    assert found is not None
    assert "C.java" not in found.message


def test_a_server_that_hangs_up_on_a_client_without_kerberos_may_ask_for_it() -> None:
    found = of_client(OSError("RPC listener disconnected"), "host:8020", "/t", is_kerberos=False)
    assert found is not None
    assert "kinit" in str(found.remedy)


def test_a_missing_package_is_named() -> None:
    found = not_identified("host:9870", "/t", "requests-kerberos")
    assert isinstance(found, Unsupported)
    assert "requests-kerberos" in str(found.remedy)
    assert "delegation" in str(not_identified("host:9870", "/t", None).remedy)
