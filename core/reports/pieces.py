"""Parts that all reports share: commits, files, versions, and what the report was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version

import pyarrow as pa

from core.messages import counted, message
from core.model.references import Heads, Snapshot
from core.model.time_travel import AsOf
from core.reports.page import Fragment, Piece, count, html, moment, mono, signed, size, table

FILES_LISTED = 5_000
POINTS_LISTED = 1_000


def commits(found: Sequence[tuple[str, Snapshot]], zone: str, ends: dict[str, str] | None = None) -> Fragment:
    rows: list[tuple[Piece, ...]] = []
    for point, each in found[:POINTS_LISTED]:
        who, own = mono(each.commit_user or "—"), (ends.get(point, "—"),) if ends else ()
        when, changed = moment(each.time_ms, zone), signed(each.delta_rows)
        rows.append((mono(point), when, each.kind, who, count(each.total_rows), changed, *own))
    heads = ("Snapshot", "Committed", "Commit", "By", "#Rows", "#Rows ±", *(("Expires automatically",) if ends else ()))
    return table(heads, rows, of=len(found), what="snapshots")


def listed(files: pa.Table, columns: Sequence[str]) -> Fragment:
    rows = [file({name: each[name] for name in columns}) for each in files.slice(0, FILES_LISTED).to_pylist()]
    heads = [f"{'#' if name in ('rows', 'bytes') else ''}{name.capitalize()}" for name in columns]
    return table(heads, rows, of=len(files), what="files")


def file(each: dict[str, object]) -> tuple[Piece, ...]:
    cells: list[Piece] = []
    for name, value in each.items():
        if isinstance(value, int):
            cells.append(size(value) if name == "bytes" else count(value))
        else:
            cells.append("—" if value is None else mono(value) if name in ("path", "partition") else str(value))
    return tuple(cells)


def sums(total: Mapping[str, int], name: str) -> tuple[Piece, ...]:
    return count(total[f"{name}_files"]), count(total[f"{name}_rows"]), size(total[f"{name}_bytes"])


def point(at: AsOf, zone: str) -> Fragment:
    details = message("(snapshot {id}, committed {at})", id=at.snapshot.id, at=moment(at.snapshot.time_ms, zone))
    return html(mono(at.point), " ", details)


def snapshots(heads: Heads) -> dict[str, Snapshot]:
    found: dict[str, Snapshot] = {}
    for line in heads.lines:
        prefix = before(line.branch, heads)
        found |= {f"{prefix}{each.id}": each for each in line.snapshots}
        found |= {f"{prefix}tag:{tag.name}": tag.snapshot for tag in line.tags}
        found |= {f"{prefix}changelog:{each.id}": each for each in line.changelogs}
    return found


def before(branch: str, heads: Heads) -> str:
    """The prefix of a POINT on this branch."""
    return "" if branch == heads.main.branch else f"branch:{branch}/"


def foot(heads: Heads) -> str:
    """What the report was made from, so that reports of the same state can be distinguished from those of others."""
    digest = hashlib.sha256()
    for path, content in sorted(heads.references.items()):
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return message(
        "Snapscope {version}. Sizes in decimal units: 1 kB is 1,000 bytes. Rows as files hold them, before keys are "
        "merged. State of the table's references: SHA-256 {digest}.",
        version=version("snapscope"),
        digest=digest.hexdigest(),
    )


def files(number: int) -> str:
    return counted(number, "{count} file", "{count} files")
