"""Health of the files of one version: small files, skewed buckets, sorted runs, deleted rows. From metadata alone.

Invariant: every figure is exact over the live files; what the table's metadata does not state is None, never 0. A file
is small by the rule with which the engine picks files to compact: Paimon's `target-file-size` times
`compaction.small-file-ratio`, Iceberg's `write.target-file-size-bytes` times 0.75.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.formats import registry
from core.units import number

NO_BUCKET = -(2**31)  # grouping does not work on null


@dataclass(frozen=True, slots=True)
class Small:
    """File sizes by the table's options: the target, and the size in bytes below which compaction picks a file."""

    target_bytes: int
    below_bytes: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket of one partition, with the figure that makes it stand out. `bucket` None: the format has none."""

    partition: str
    bucket: int | None
    amount: int


@dataclass(frozen=True)
class Health:
    """Figures of the data files live at one version. A place is a bucket of a partition; in Iceberg, a partition.

    runs: sorted runs that a reader merges in the place with most, None where rows are not merged by key
    delete_rows: rows that delete other rows (retractions, deletion vectors, position deletes); None if some file does
                 not state them
    equality_deletes: rows of Iceberg's equality deletes, each of which deletes all rows with its key
    partitions: partition, files, bytes, small_files, small_bytes; most small files first
    """

    files: int
    bytes: int
    rows: int
    small: Small
    small_files: int
    small_bytes: int
    places: int
    median_files: float | None
    fullest: Bucket | None
    median_bytes: float | None
    largest: Bucket | None
    level0: int | None
    runs: Bucket | None
    trigger: int | None
    delete_rows: int | None
    equality_deletes: int
    partitions: pa.Table = field(repr=False)

    @property
    def skew(self) -> float | None:
        """The size of the largest place relative to the median, in bytes."""
        return self.largest.amount / self.median_bytes if self.largest and self.median_bytes else None

    @property
    def delete_ratio(self) -> float | None:
        """Deleting rows per row in data files."""
        return None if self.delete_rows is None or not self.rows else self.delete_rows / self.rows


def small(form: str, options: Mapping[str, str], *, keyed: bool = False) -> Small:
    """The threshold by the table's options or the engine's defaults. Raises `Invalid` for an unreadable option."""
    target, ratio = registry.named(form).target_size(options, keyed=keyed)
    return Small(target, int(target * ratio), ratio)


def health(
    files: pa.Table, form: str, options: Mapping[str, str], *, keyed: bool = False, retractions: int | None = 0
) -> Health:
    """The health of files given as rows of `History.files_at`.

    `retractions`: rows deleted by deletion vectors and row kinds in Paimon's files; None if some file does not state
    them.
    """
    by = small(form, options, keyed=keyed)
    equality, delete_rows = 0, retractions
    if "content" in files.column_names:
        is_data = pc.equal(files["content"], "data")
        deletes = files.filter(pc.invert(is_data))
        by_key = pc.equal(deletes["content"], "equality-deletes")
        equality = _sum(deletes.filter(by_key)["deletes"])
        delete_rows = _sum(deletes.filter(pc.invert(by_key))["deletes"])
        files = files.filter(is_data)
    is_small = pc.less(files["bytes"], by.below_bytes)
    places = _places(files)
    counts, sizes = (places[name].to_numpy() for name in ("path_count", "bytes_sum"))
    runs = level0 = None
    if keyed:
        level0 = _sum(pc.equal(files["level"], 0).cast(pa.int64()))
        runs = _most_runs(files)
    return Health(
        files=len(files),
        bytes=_sum(files["bytes"]),
        rows=_sum(files["rows"]),
        small=by,
        small_files=_sum(is_small.cast(pa.int64())),
        small_bytes=_sum(files.filter(is_small)["bytes"]),
        places=len(places),
        median_files=float(np.median(counts)) if len(places) else None,
        fullest=_most(places, "path_count"),
        median_bytes=float(np.median(sizes)) if len(places) else None,
        largest=_most(places, "bytes_sum"),
        level0=level0,
        runs=runs,
        trigger=number(options, "num-sorted-run.compaction-trigger", 5) if keyed else None,
        delete_rows=delete_rows,
        equality_deletes=equality,
        partitions=_partitions(files, is_small),
    )


def _sum(values: pa.ChunkedArray) -> int:
    return int(pc.sum(values).as_py() or 0)


def _places(files: pa.Table) -> pa.Table:
    keyed = _with_bucket(files)
    return keyed.group_by(["partition", "bucket"]).aggregate([("path", "count"), ("bytes", "sum")])


def _with_bucket(files: pa.Table) -> pa.Table:
    at = files.schema.get_field_index("bucket")
    return files.set_column(at, "bucket", pc.fill_null(files["bucket"], NO_BUCKET))


def _most(places: pa.Table, by: str) -> Bucket | None:
    """The place with the highest value; the first by name if several have it."""
    if not len(places):
        return None
    row = places.sort_by([(by, "descending"), ("partition", "ascending"), ("bucket", "ascending")]).slice(0, 1)
    found = row.to_pylist()[0]
    bucket = None if found["bucket"] == NO_BUCKET else found["bucket"]
    return Bucket(found["partition"], bucket, found[by])


def _most_runs(files: pa.Table) -> Bucket | None:
    """The place with most sorted runs: each file of level 0 is one, and each other level is one."""
    keyed = _with_bucket(files)
    is_first = pc.equal(keyed["level"], 0)
    first = keyed.filter(is_first).select(["partition", "bucket"])
    others = keyed.filter(pc.invert(is_first)).group_by(["partition", "bucket", "level"]).aggregate([])
    every = pa.concat_tables([first, others.select(["partition", "bucket"])])
    counted = every.append_column("runs", pa.array(np.ones(len(every), dtype=np.int64)))
    return _most(counted.group_by(["partition", "bucket"]).aggregate([("runs", "sum")]), "runs_sum")


def _partitions(files: pa.Table, is_small: pa.ChunkedArray) -> pa.Table:
    one = is_small.cast(pa.int64())
    counted = pa.table(
        {
            "partition": files["partition"],
            "bytes": files["bytes"],
            "small_files": one,
            "small_bytes": pc.multiply(files["bytes"], one),
        }
    )
    names = ["bytes", "small_files", "small_bytes"]
    found = counted.group_by(["partition"]).aggregate([("partition", "count"), *((name, "sum") for name in names)])
    found = found.select(["partition", "partition_count", *(f"{name}_sum" for name in names)])
    found = found.rename_columns(["partition", "files", *names])
    return found.sort_by([("small_files", "descending"), ("partition", "ascending")])
