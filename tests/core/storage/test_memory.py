"""A table that does not fit into memory is refused before it is decoded; one that fits is not."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest

from core.errors import Unsupported
from core.storage import memory
from core.table import open_table
from tests.support.places import SMALL_TABLES

MB = 1 << 20


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with 8 GB available and 1 GB of swap, whose other files a test writes."""
    monkeypatch.setattr(memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    write(tmp_path / "proc" / "meminfo", "MemTotal: 9 kB\nMemAvailable:  8388608 kB\nSwapFree: 1048576 kB\n")
    write(tmp_path / "proc" / "self" / "status", "Name:\tpython\nVmSize:\t  102400 kB\nVmData:\t  51200 kB\n")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_what_the_machine_leaves(system: Path) -> None:
    assert memory.available() == 9 << 30
    (system / "proc" / "meminfo").unlink()
    assert memory.available() is None


def test_what_control_groups_leave(system: Path) -> None:
    write(system / "proc" / "self" / "cgroup", "0::/a/b\n")
    write(system / "groups" / "a" / "b" / "memory.max", "max\n")
    write(system / "groups" / "a" / "b" / "memory.current", f"{100 * MB}\n")
    assert memory.available() == 9 << 30
    write(system / "groups" / "a" / "memory.max", f"{1000 * MB}\n")
    write(system / "groups" / "a" / "memory.current", f"{700 * MB}\n")
    write(system / "groups" / "a" / "memory.stat", f"anon {300 * MB}\nfile {400 * MB}\nshmem {50 * MB}\n")
    assert memory.available() == 650 * MB


def test_what_an_older_control_group_leaves_inside_a_container(system: Path) -> None:
    """Where the group's own path is not visible, the root of the mount is the container's group."""
    write(system / "proc" / "self" / "cgroup", "5:cpu:/x\n4:memory:/docker/0f\n")
    write(system / "groups" / "memory" / "memory.limit_in_bytes", f"{500 * MB}\n")
    write(system / "groups" / "memory" / "memory.usage_in_bytes", f"{600 * MB}\n")
    assert memory.available() == 0


def test_what_the_limits_of_the_process_leave(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {resource.RLIMIT_AS: 900 * MB, resource.RLIMIT_DATA: 300 * MB}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limits[which], 0))
    assert memory.available() == 250 * MB


def test_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 1_000 * MB)
    sizes = np.array([100 * MB, 100 * MB])
    memory.require(np.array([600_000, 400_000]), sizes, 1_000, "/t")
    with pytest.raises(Unsupported, match=r"2,000,000 entries of files, which need about 2\.0 GB of memory") as refused:
        memory.require(np.array([1_600_000, 400_000]), sizes, 1_000, "/t")
    assert "more memory" in str(refused.value.remedy)
    memory.require(np.array([1 << 60, 400_000]), np.array([MB, 100 * MB]), 1_000, "/t")  # a list that lies
    monkeypatch.setattr(memory, "available", lambda: 0)
    memory.require(np.array([200_000]), sizes[:1], 1_000, "/t")
    monkeypatch.setattr(memory, "available", lambda: None)
    memory.require(np.array([10**9]), np.array([10**12]), 1_000, "/t")


@pytest.mark.parametrize("place", ["paimon/default.db/pk_tags_expired", "iceberg/java_random/t01_v1_linear"])
def test_a_table_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    table = open_table(str(SMALL_TABLES / place))
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available", lambda: 1_000)
    with pytest.raises(Unsupported, match="entries of files"):
        table.history()
    monkeypatch.setattr(memory, "available", lambda: MB)
    assert len(table.history().files)
