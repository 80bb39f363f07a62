"""What one version of a table consists of, in any format: manifests, their entries, and their column statistics.

The command line and the dashboard both call this module.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc

from core.analysis import file_health as judging
from core.analysis.file_health import Health
from core.errors import Invalid, NotFound
from core.model.column_bounds import Bounds
from core.model.history import History
from core.model.time_travel import AsOf
from core.table import Table

MOST_FILES = 20_000  # whose statistics are decoded at once


def manifests(table: Table, history: History, point: AsOf) -> pa.Table:
    """Every manifest that a point's lists name: list, list_path, list_bytes, path, bytes, added, deleted, existing,
    schema_id. What the format does not tell is null."""
    return table.format.manifest_list(history, point)


def entries(table: Table, history: History, point: AsOf, manifest: str) -> pa.Table:
    """The entries of one of a point's manifests: change, kind, path, bytes, rows, partition, bucket, level,
    min_sequence, max_sequence, schema_id, source, delete_rows. `NotFound` for a path that is none of them."""
    known = manifests(table, history, point)
    row = known.filter(pc.equal(known["path"], manifest)).slice(0, 1).to_pylist()
    if not row:
        raise NotFound(
            "{point} names no manifest {name!r}.",
            point=point.point,
            name=PurePosixPath(manifest).name,
            path=manifest,
            remedy="Choose one of its manifests; another point may name it.",
        )
    return table.format.manifest_entries(history, point, row[0])


def statistics(table: Table, history: History, point: AsOf, files: pa.Table) -> tuple[Bounds, ...]:
    """What manifests say of the point's columns in these files of it. `Invalid` for more than `MOST_FILES`."""
    if len(files) > MOST_FILES:
        raise Invalid(
            "Statistics of {files:,} files were asked for; at most {most_files:,} are decoded at once.",
            files=len(files),
            most_files=MOST_FILES,
            remedy="Name a partition, or one file.",
        )
    return table.format.statistics(history, point, files)


def health(table: Table, history: History, point: AsOf) -> Health:
    """Figures of the files live at a point, by the options it was written under."""
    files = history.files_at(history.require(point.point))
    by = table.format.health_of(history, point, files)
    return judging.health(files, history.heads.format, by.options, keyed=by.keyed, retractions=by.retractions)


def analyzed(table: Table, history: History, point: AsOf) -> dict[str, str]:
    """What the last ANALYZE that a point names has counted, by name; empty where it names none."""
    return table.format.analyzed(history, point)
