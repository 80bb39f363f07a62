"""Primary-key tables that we and a real engine write in turns, beside a twin that the engine alone writes."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import random
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from core.formats.paimon.types import arrow, parse
from core.formats.paimon.write import publish
from core.spark.write import append as write
from core.spark.write import compact, upsert
from core.storage.store import Store
from tests.engines.paimon_java import PaimonJudge
from tests.support.interop.keyed_tables import (
    AXES,
    COLUMNS,
    ENGINE_OPTIONS,
    Case,
    change,
    check_every_point,
    kind,
    value,
)

T0 = 1_790_000_000_000
ENGINES = list(ENGINE_OPTIONS)
KINDS = ("+I", "-U", "+U", "-D")


def frame(spark: SparkSession, columns: Sequence[tuple[str, Any]], rows: Sequence[Sequence[Any]], kinds: Sequence[str]
) -> DataFrame:  # fmt: skip
    """Rows as a judge takes them, in their order, with their kinds in the column `__k`."""
    made = [
        pa.array([python(row[at], of) for row in rows], arrow(parse(of), micros=True))
        for at, (_, of) in enumerate(columns)
    ]
    table = pa.table([*made, pa.array(kinds, pa.string())], names=[*(name for name, _ in columns), "__k"])
    return spark.createDataFrame(table)


def python(value: Any, of: Any) -> Any:
    if value is None:
        return None
    match parse(of).root:
        case "DECIMAL":
            return Decimal(value)
        case "DATE":
            return dt.date.fromisoformat(value)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return dt.datetime.fromisoformat(value)
        case "FLOAT" | "DOUBLE":
            return float(value)
        case "BINARY" | "VARBINARY":
            return bytes.fromhex(value)
        case _:
            return value


def stored(judge: PaimonJudge, location: str, **at: Any) -> list[str]:
    """What manifests say of the live files, but for names and sizes. The engine commits no snapshot without a file."""
    files = judge.files(location, detail=True, **at) if (Path(location) / "snapshot").exists() else []
    return sorted(json.dumps({k: v for k, v in file.items() if k not in ("path", "bytes")}) for file in files)


def sequence(spark: SparkSession, judge: PaimonJudge, folder: Path, seed: int, *, steps: int = 7) -> Counter[str]:
    """One random life of a table. Its rows are those of the twin after every step; its files too, unless the engine's
    writer compacts as it likes, which goes by their sizes. Nothing is deleted then: a compaction forgets a key that was
    only taken back, so that the engine's own rows depend on when it compacts."""
    choose = random.Random(seed)
    engine = ENGINES[seed % len(ENGINES)]
    partitions, schema = choose.choice(AXES["partitions"]), choose.choice(AXES["schema"])
    compaction = "as it comes" if engine != "first-row" and choose.random() < 0.3 else "never"
    deletes = "deletes and updates" if compaction == "never" else "none"
    case = Case(engine, "parquet", "2", "no", "none", schema, deletes, compaction, partitions)
    options = {**case.options(), "bucket": choose.choice(("1", "2", "3"))}
    keys, by = (["p", "id"], ["p"]) if partitions == "yes" else (["id"], [])
    ours, twin = (str(folder / "default.db" / name) for name in ("ours", "twin"))
    store, clock = Store(ours), itertools.count(T0, 60_000)
    upsert.create_table(store, COLUMNS, primary_keys=keys, partition_keys=by, options=options, time_ms=next(clock))
    judge.create(twin, COLUMNS, primary_keys=keys, partition_keys=by, options=options)
    done: Counter[str] = Counter()
    for number in range(steps):
        if number == steps // 2:
            for location in (ours, twin):
                change(judge, location, schema, [name for name, _ in COLUMNS])
            done[f"schemas {schema}"] += 1
        step = choose.choice(("our write", "our write", "their write", "our compaction", "their compaction"))
        if not number and "compaction" in step:
            step = "our write"
        if "write" in step:
            columns = [(field.name, field.type) for field in publish.read_head(store).schema.fields]
            values = ["more" if column == ("spare", "STRING") else column[0] for column in columns]
            ids = [choose.randrange(30) for _ in range(choose.choice((1, 4, 20)))]
            rows = [[value(choose, name, id) for name in values] for id in ids]
            kinds = [kind(choose, case) for _ in rows]
            judge.write(twin, rows, kinds=kinds)
            if step == "their write":
                judge.write(ours, rows, kinds=kinds)
            else:
                upsert.upsert(store, frame(spark, columns, rows, kinds), write.stamp(next(clock)), kinds="__k")
        else:
            judge.compact(twin, options={"write-only": "false"})
            if step == "their compaction":
                judge.compact(ours, options={"write-only": "false"})
            else:
                compact.compact(store, write.stamp(next(clock)), spark=spark)
        done[f"{step}s"] += 1
        assert judge.rows(ours) == judge.rows(twin), (seed, case, number, step)
        if compaction == "never":
            assert stored(judge, ours) == stored(judge, twin), (seed, case, number, step)
            done["steps with the engine's files"] += 1
    done["versions read by us"] += check_every_point(spark, judge, ours)
    before = judge.rows(ours)
    judge.expire(ours, retain_max=1, retain_min=1)
    assert judge.rows(ours) == before, (seed, case)
    return done
