"""The independent judges, started once per run. Where one cannot be had, its tests are skipped with the reason; the
root conftest makes that a failure where `SNAPSCOPE_REQUIRE` names engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.engines import iceberg_java, paimon_catalogs, paimon_java, pypaimon_env
from tests.engines.java import Missing
from tests.engines.metastore import Metastore
from tests.support.interop import iceberg_history


def _java(version: str) -> Iterator[paimon_java.PaimonJudge]:
    if lack := paimon_java.missing(version):
        pytest.skip(f"engines: {lack}")
    with paimon_java.PaimonJudge(version) as judge:
        yield judge


@pytest.fixture(scope="session")
def java_judge() -> Iterator[paimon_java.PaimonJudge]:
    """The newest Java Paimon that resolves."""
    yield from _java(paimon_java.NEWEST)


@pytest.fixture(scope="session")
def java_1x_judge() -> Iterator[paimon_java.PaimonJudge]:
    """The last 1.x: another rule of ages, rollback that keeps files."""
    yield from _java("1.4.2")


@pytest.fixture(scope="session")
def java_09_judge() -> Iterator[paimon_java.PaimonJudge]:
    """The release that wrote the shared tables and their goldens."""
    yield from _java("0.9.0")


@pytest.fixture(scope="session")
def pypaimon_judge() -> Iterator[pypaimon_env.PypaimonJudge]:
    if lack := pypaimon_env.missing():
        pytest.skip(f"engines: {lack}")
    with pypaimon_env.PypaimonJudge() as judge:
        yield judge


@pytest.fixture(scope="session")
def iceberg_judge() -> Iterator[iceberg_java.IcebergJudge]:
    if lack := iceberg_java.missing():
        pytest.skip(f"engines: {lack}")
    with iceberg_java.IcebergJudge() as judge:
        yield judge


@pytest.fixture(scope="session")
def paimon_engine() -> Iterator[paimon_catalogs.Catalogs]:
    """Java Paimon with its catalogs."""
    try:
        with paimon_catalogs.Catalogs() as engine:
            yield engine
    except Missing as lack:
        pytest.skip(f"engines: {lack}")


@pytest.fixture(scope="session")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """A Hive Metastore. Each test has databases or warehouses of its own."""
    try:
        with Metastore(tmp_path_factory.mktemp("hive") / "metastore") as running:
            yield running
    except Missing as lack:
        pytest.skip(f"engines: {lack}")


@pytest.fixture(scope="session")
def history_of(
    iceberg_judge: iceberg_java.IcebergJudge, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[int], iceberg_history.History]:
    """The random history of a seed, made once. Read only: copies of an Iceberg table are other tables."""
    directory = tmp_path_factory.mktemp("iceberg")
    made: dict[int, iceberg_history.History] = {}

    def of(seed: int) -> iceberg_history.History:
        if seed not in made:
            made[seed] = iceberg_history.make(iceberg_judge, directory / f"h{seed}", seed)
        return made[seed]

    return of
