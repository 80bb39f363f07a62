"""The contract of all formats, tested on Paimon, Iceberg and a toy format that the product does not know."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.analysis.expiration_dates import expiries
from core.catalog import list_tables
from core.errors import Conflict, NotFound
from core.execution.apply import apply
from core.execution.recovery import undo
from core.formats import registry
from core.formats.iceberg.format import IcebergFormat
from core.formats.paimon.format import PaimonFormat
from core.formats.table_format import TableFormat
from core.model.actions import Change, Expire
from core.model.effects import CheckTable, DeleteUnreferencedFiles
from core.storage.store import Store
from core.table import Table, open_table, resolve
from tests.support.execution import ground, iceberg_ground
from tests.support.formats import ledger
from tests.support.formats.ledger import LedgerFormat

LATE_MS = 4_000_000_000_000  # long after every commit here


@dataclasses.dataclass(frozen=True)
class Case:
    """How to create a table of one format, and the expiry that removes as much as possible."""

    of: type[TableFormat]
    make: Callable[[Path], object]
    expire: Change


CASES = {
    "paimon": Case(PaimonFormat, ground.small_table, Expire(retain_max=1, retain_min=1)),
    "iceberg": Case(IcebergFormat, iceberg_ground.small_table, Expire(retain_min=1, older_than_ms=LATE_MS)),
    "toy": Case(
        LedgerFormat,
        lambda root: ledger.write(root, {1: ["a"], 2: ["a", "bb"], 3: ["bb", "ccc"], 4: ["ccc"]}),
        Expire(retain_max=1),
    ),
}


@pytest.mark.parametrize("name", CASES)
class TestEveryFormat:
    @pytest.fixture(autouse=True)
    def _knows_the_toy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(registry, "FORMATS", (*registry.FORMATS, ledger.ENTRY))

    @pytest.fixture
    def table(self, name: str, tmp_path: Path) -> Table:
        CASES[name].make(tmp_path / "shop.db" / "t")
        return open_table(str(tmp_path / "shop.db" / "t"))

    def test_it_is_found_and_opened_by_its_place(self, name: str, table: Table, tmp_path: Path) -> None:
        (found,) = list_tables(str(tmp_path)).tables
        assert (found.database, found.name) == ("shop", "t")
        assert found.format == table.capabilities.format == CASES[name].of.capabilities.format
        assert isinstance(table.format, CASES[name].of)
        assert open_table(found.location).heads() == table.heads()
        (tmp_path / "other").mkdir()
        with pytest.raises(NotFound, match=r"neither Paimon's .*, Iceberg's .* nor Ledger's ") as error:
            open_table(str(tmp_path / "other"))
        assert "lists the tables" in str(error.value.remedy)

    def test_no_other_format_takes_it_for_its_own(self, name: str, table: Table) -> None:
        store = Store(table.location)
        assert [each.format for each in registry.FORMATS if each.format.is_table(store)] == [CASES[name].of]
        assert not any(each.claims(table.location) or each.is_name(table.location) for each in registry.FORMATS)

    def test_references_tell_their_bytes_and_their_format(self, name: str, table: Table) -> None:
        heads = table.heads()
        assert registry.of(heads) is CASES[name].of
        history = table.history(heads)
        assert {holder.path for holder in history.holders if holder.exists} <= heads.references.keys()
        if table.capabilities.references_are_files:
            for path, content in heads.references.items():
                assert (Path(table.location) / path).read_bytes() == content

    def test_what_a_point_holds_is_there(self, name: str, table: Table) -> None:
        history = table.history()
        assert not history.incomplete
        at = resolve(history.heads, "latest")
        assert at.snapshot == history.heads.main.latest
        assert resolve(history.heads, str(at.snapshot.id)).snapshot == at.snapshot
        assert history.files_at(history.require(at.point)).num_rows > 0
        assert table.missing_files(history, at.point) == []
        with pytest.raises(NotFound):
            resolve(history.heads, "99999999")

    def test_what_goes_by_itself_is_a_point(self, name: str, table: Table) -> None:
        history = table.history()
        points = {holder.point for holder in history.holders} | {f"tag:{tag.name}" for tag in history.heads.main.tags}
        assert expiries(history.heads, LATE_MS).keys() <= points
        going = CASES[name].of.expiring(history, LATE_MS)
        assert len(going) == len(history.holders)
        assert not (going & ~history.existing).any()

    def test_a_plan_frees_what_nothing_holds_afterwards(self, name: str, table: Table) -> None:
        history = table.history()
        plan = table.preview(CASES[name].expire, LATE_MS, history)
        gone = {verdict.point for verdict in plan.deleted_points}
        assert gone
        after = np.array([each.exists and each.point not in gone for each in history.holders])
        stays = set(history.objects["path"].filter(history.held.over(after)).to_pylist())
        freed = set(plan.frees["path"].to_pylist())
        assert freed
        assert not freed & stays
        assert isinstance(plan.effects[-1], CheckTable)
        assert [each.files for each in plan.effects if isinstance(each, DeleteUnreferencedFiles)] == [len(freed)]
        assert table.preview(CASES[name].expire, LATE_MS).fingerprint == plan.fingerprint

    def test_a_plan_is_carried_out_exactly(self, name: str, table: Table) -> None:
        plan = table.preview(CASES[name].expire, LATE_MS)
        before = table.heads().references
        receipt = apply(table, plan, settle_s=0)
        assert receipt.outcome == "done", receipt.problems
        assert not receipt.kept_back
        root = Path(table.location)
        freed = plan.frees["path"].to_pylist()
        assert not [path for path in freed if (root / path).exists()]
        assert set(freed) <= set(receipt.deleted)
        history = table.history()
        assert not history.incomplete
        assert all(table.missing_files(history, holder.point) == [] for holder in history.holders)
        assert {path for path, _ in plan.removes} == before.keys() - history.heads.references.keys()

    def test_what_was_cut_off_before_files_went_is_taken_back(self, name: str, table: Table) -> None:
        before = table.heads().references
        receipt = apply(table, table.preview(CASES[name].expire, LATE_MS), settle_s=0, cancelled=lambda: True)
        assert receipt.outcome == "cancelled"
        undo(receipt.run, open_table=open_table)
        history = table.history()
        points = [path for path in before if history.heads.references.get(path) != before[path]]
        assert not [path for path in points if "#" not in path or "/snapshots/" in path or "/refs/" in path]
        assert all(table.missing_files(history, holder.point) == [] for holder in history.holders)

    def test_a_plan_of_another_state_is_refused(self, name: str, table: Table) -> None:
        plan = table.preview(CASES[name].expire, LATE_MS)
        apply(table, plan, settle_s=0)
        with pytest.raises(Conflict):
            apply(open_table(table.location), plan, settle_s=0)


def test_a_format_that_leaves_out_an_answer_cannot_be_opened(tmp_path: Path) -> None:
    """It would otherwise return None in the middle of its first deletion."""
    unfinished = type("Unfinished", (LedgerFormat,), {"examine": TableFormat.examine})
    with pytest.raises(TypeError, match="examine"):
        unfinished(Store(str(tmp_path)))
