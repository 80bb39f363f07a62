"""What one version of a table consists of, in any format: manifests, their entries, and their column statistics.

The command line and the dashboard both use this module.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import pyarrow as pa

from core.analysis import file_health as judging
from core.analysis.file_health import Health
from core.errors import Invalid, NotFound
from core.model.column_bounds import Bounds
from core.model.history import History
from core.model.time_travel import AsOf
from core.table import Table

MOST_FILES = 20_000  # for how many files statistics are decoded at once


def manifests(table: Table, history: History, point: AsOf) -> pa.Table:
    """All manifests that a version's manifest lists name.

    Columns: list, list_path, list_bytes, path, bytes, added, deleted, existing, schema_id. What the format does not
    state is null.
    """
    return table.format.manifest_list(history, point)


def entries(table: Table, history: History, point: AsOf, manifest: str) -> pa.Table:
    """The entries of one of a version's manifests.

    Columns: change, kind, path, bytes, rows, partition, bucket, level, min_sequence, max_sequence, schema_id, source,
    delete_rows. Raises `NotFound` if the version has no manifest of that path.
    """
    known = manifests(table, history, point)
    row = [each for each in known.to_pylist() if each["path"] == manifest]
    if not row:
        raise NotFound(
            "{point} has no manifest {name!r}.",
            point=point.point,
            name=PurePosixPath(manifest).name,
            path=manifest,
            remedy="Choose one of its manifests; another snapshot or tag may have this one.",
        )
    return table.format.manifest_entries(history, point, row[0])


def statistics(table: Table, history: History, point: AsOf, files: pa.Table) -> tuple[Bounds, ...]:
    """Column statistics of these files of a version, from manifests. Raises `Invalid` for more than `MOST_FILES`."""
    if len(files) > MOST_FILES:
        raise Invalid(
            ("Statistics of {files:,} files were requested; at most {most_files:,} can be decoded at once."),
            files=len(files),
            most_files=MOST_FILES,
            remedy="Choose a partition, or a single file.",
        )
    return table.format.statistics(history, point, files)


def health(table: Table, history: History, point: AsOf) -> Health:
    """The health of the files live at a version, by the table options in force when it was written."""
    files = history.files_at(history.require(point.point))
    by = table.format.health_of(history, point, files)
    return judging.health(files, history.heads.format, by.options, keyed=by.keyed, retractions=by.retractions)


def analyzed(table: Table, history: History, point: AsOf) -> dict[str, str]:
    """The results of the last ANALYZE that a version refers to, by name; empty if there is none."""
    return table.format.analyzed(history, point)
