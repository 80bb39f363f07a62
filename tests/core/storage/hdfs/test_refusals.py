"""What errors of HDFS's client mean."""

from __future__ import annotations

import pytest

from core.storage.hdfs.refusals import of_client


@pytest.mark.parametrize(
    ("error", "place", "said"),
    [
        (RuntimeError('RPCError("org.apache.hadoop.ipc.StandbyException", "…")'), "ns", "No NameNode of ns is active"),
        (OSError("Connection refused (os error 111)"), "ns", "No NameNode of ns is active"),
        (OSError("failed to lookup address information: …"), "ns:8020", "ns is neither a host"),
        (OSError("Connection refused (os error 111)"), "host:8020", None),
        (RuntimeError("BlocksNotFound"), "ns", None),
    ],
)
def test_an_error_says_what_to_do(error: Exception, place: str, said: str | None) -> None:
    found = of_client(error, place, "/t")
    assert (None if found is None else said and said in found.message) in (None, True)
    assert (found is None) == (said is None)
    assert found is None or found.remedy
