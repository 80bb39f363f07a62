"""Benchmark the decoding of manifests in Avro, ORC and Parquet side by side: entries per second, and the ratio to Avro.

    python benchmarks/manifests.py [--entries 60000] [--rounds 7]

The same entries are written in each format, once into manifests of 5,000 entries and once into manifests of 5 (as small
commits leave them; a tenth as many entries). In every round each format is decoded once, in turn, and its bytes are
read by pyarrow alone: the same columns in as many threads, without checks. Output: median entries per second with the
spread, and the median of the rounds' speeds relative to Avro's (0.5: half as fast).
"""

from __future__ import annotations

import argparse
import io
import os
import platform
import statistics
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet

from core.formats.paimon import binary_row
from core.formats.paimon.manifests import ENTRY, PaimonManifests
from core.formats.paimon.write import manifest_encoding
from core.storage.store import Store
from support import ratios

FORMS = ("avro", "orc", "parquet")
SHAPES = {"5,000 entries per manifest": (5000, 1), "5 entries per manifest": (5, 10)}
_SIMPLE = {"int": pa.int32(), "long": pa.int64(), "string": pa.string(), "bytes": pa.binary()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    versions = f"Python {platform.python_version()}, pyarrow {pa.__version__}"
    print(f"{os.cpu_count()} cores ({platform.machine()}), {versions}, {args.rounds} rounds")
    for shape, (per_file, divided) in SHAPES.items():
        count = args.entries // divided // per_file * per_file
        with tempfile.TemporaryDirectory(prefix="snapscope-bench-") as folder:
            for form in FORMS:
                build(Path(folder) / form, form, count, per_file)
            timings: dict[str, list[float]] = {form: [] for form in FORMS}
            for _ in range(args.rounds + 1):
                answers = {}
                for form in FORMS:
                    answers[form], seconds = decoded(Path(folder) / form)
                    timings[form].append(seconds)
                for form in FORMS[1:]:
                    timings.setdefault(f"{form}, pyarrow alone", []).append(bare(Path(folder) / form, form))
                if len(answers["avro"]) != count or any(each != answers["avro"] for each in answers.values()):
                    raise SystemExit("the formats gave different entries")
        print(f"{shape}, {count:,} entries in {count // per_file:,} manifests")
        timings = {form: seconds[1:] for form, seconds in timings.items()}  # the first round includes lazy imports
        report(timings, count)
        ratios.add(
            f"decode {count:,} entries, {per_file:,} a manifest",
            "ms",
            {f"Snapscope, {form}": [second * 1000 for second in seconds] for form, seconds in timings.items()},
        )


def report(timings: Mapping[str, Sequence[float]], count: int) -> None:
    for form, seconds in timings.items():
        spread = f"[{count / max(seconds):,.0f}..{count / min(seconds):,.0f}]"
        ratios = [avro / own for avro, own in zip(timings["avro"], seconds, strict=True)]
        ratio = f"{statistics.median(ratios):.2f} [{min(ratios):.2f}..{max(ratios):.2f}]"
        speed = f"{count / statistics.median(seconds):>10,.0f} entries/s"
        print(f"  {form:22} {speed} {spread:>22}   {ratio} of Avro's speed")


def decoded(table: Path) -> tuple[pa.Table, float]:
    """Decode all manifests of a table as a history does, in the order of their numbers."""
    sizes = {path.name: path.stat().st_size for path in (table / "manifest").iterdir()}
    names = sorted(sizes)
    manifests = PaimonManifests(Store(str(table)))
    started = time.perf_counter()
    loaded = manifests.load(names, ENTRY, sizes)
    seconds = time.perf_counter() - started
    if loaded.errors:
        raise SystemExit(f"not decoded: {next(iter(loaded.errors.values()))}")
    return loaded.rows, seconds


def bare(table: Path, form: str) -> float:
    """Return the seconds that pyarrow takes to open all manifests of a table and to read the same columns."""
    contents = [path.read_bytes() for path in (table / "manifest").iterdir()]
    column_names = [".".join(map(str, column.path)) for column in ENTRY]

    def read(some: Sequence[bytes]) -> None:
        for content in some:
            if form == "orc":
                orc.ORCFile(pa.BufferReader(content)).read(columns=column_names)
            else:
                opened = parquet.ParquetFile(pa.BufferReader(content), pre_buffer=False)
                opened.read(columns=column_names, use_threads=False)

    started = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(read, [contents[first : first + 16] for first in range(0, len(contents), 16)]))
    return time.perf_counter() - started


def build(table: Path, form: str, count: int, per_file: int) -> None:
    """Write manifests with the same entries in any format."""
    (table / "manifest").mkdir(parents=True)
    for number in range(count // per_file):
        records = [entry(each) for each in range(number * per_file, (number + 1) * per_file)]
        avro = manifest_encoding.manifest(f"manifest-{number}", records)
        data = avro if form == "avro" else columnar(avro, form)
        (table / "manifest" / f"manifest-{number:07}").write_bytes(data)


def columnar(data: bytes, form: str) -> bytes:
    """Write the records of an Avro manifest as ORC or Parquet, compressed as Paimon does."""
    reader = fastavro.reader(io.BytesIO(data))
    schema: Any = reader.writer_schema
    rows = pa.Table.from_pylist(list(reader), pa.schema(list(arrow(schema))))
    out = io.BytesIO()
    if form == "orc":
        orc.write_table(rows, out, compression="zstd")
    else:
        parquet.write_table(rows, out, compression="zstd")
    return out.getvalue()


def arrow(of: Any) -> pa.DataType:
    """Return the Arrow type of an Avro type that a manifest has."""
    if isinstance(of, list):
        of = next(branch for branch in of if branch != "null")
    if isinstance(of, str):
        return _SIMPLE[of]
    if of["type"] == "record":
        return pa.struct([(field["name"], arrow(field["type"])) for field in of["fields"]])
    if of["type"] == "array":
        return pa.list_(arrow(of["items"]))
    return pa.timestamp("ms") if of.get("logicalType") == "timestamp-millis" else arrow(of["type"])


def entry(number: int) -> dict[str, Any]:
    day = f"2026-{number % 12 + 1:02d}-{number % 28 + 1:02d}"
    types = ["BIGINT", "STRING"]
    file = manifest_encoding.NewDataFile(
        partition=binary_row.encode([day], ["STRING"]),
        path=f"dt={day}/bucket-0/data-{uuid.UUID(int=number)}-0.parquet",
        size_bytes=1000 + number,
        rows=10,
        schema_id=0,
        stats=manifest_encoding.SimpleStats([number, day], [number + 9, day], [0, 0]),
        source=0,
        created_ms=0,
    )
    return manifest_encoding.added(file, types)


if __name__ == "__main__":
    main()
