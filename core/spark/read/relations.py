"""Relations over exactly the given local files, with exactly the given partition values.

Invariant: Spark neither expands a glob, nor infers a partition from a name, nor leaves a file out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from core.errors import NotFound, Unsupported
from core.formats.paimon.ways_out import OWN_ENGINE
from core.spark.session import compiled

# The calendar of Paimon and Iceberg is proleptic. Janino knows no generics, so nothing is typed more closely.
_SOURCE = """
import java.util.ArrayList;
import java.util.HashMap;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex;
import org.apache.spark.sql.execution.datasources.NoopCache$;
import org.apache.spark.sql.execution.datasources.PartitionPath;
import org.apache.spark.sql.execution.datasources.PartitionSpec;
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

public final class SnapscopeRelation {
  public Object over(
      SparkSession session, String form, String schema, String paths, int files,
      String partition, Dataset values, String directories) {
    ArrayList listed = new ArrayList();
    if (values != null) {
      InternalRow[] rows = values.queryExecution().executedPlan().executeCollect();
      String[] places = directories.split("\\n");
      if (rows.length != places.length) throw new IllegalStateException("partitions without a directory");
      for (int i = 0; i < rows.length; i++) listed.add(new PartitionPath(rows[i], new Path(places[i])));
    }
    ArrayList roots = new ArrayList();
    String[] names = paths.split("\\n");
    for (int i = 0; i < names.length; i++) roots.add(new Path(names[i]));
    HashMap options = new HashMap();
    options.put("datetimeRebaseMode", "CORRECTED");
    options.put("int96RebaseMode", "CORRECTED");
    StructType keys = type(partition);
    InMemoryFileIndex index = new InMemoryFileIndex(
      session, PythonUtils.toSeq(roots), PythonUtils.toScalaMap(options), scala.Option.empty(), NoopCache$.MODULE$,
      scala.Option.apply(new PartitionSpec(keys, PythonUtils.toSeq(listed))), scala.Option.empty());
    if (index.allFiles().size() != files) return null;
    FileFormat format = form.equals("orc") ? (FileFormat) new OrcFileFormat() : (FileFormat) new ParquetFileFormat();
    return session.baseRelationToDataFrame(new HadoopFsRelation(
      index, keys, type(schema), scala.Option.empty(), format, PythonUtils.toScalaMap(options), session));
  }

  private static StructType type(String text) {
    if (text.isEmpty()) return new StructType();
    return text.startsWith("{") ? (StructType) DataType.fromJson(text) : StructType.fromDDL(text);
  }
}
"""


def over(
    spark: SparkSession,
    form: str,
    schema: str,
    paths: Sequence[str],
    *,
    partition: str = "",
    values: DataFrame | None = None,
    directories: Sequence[str] = (),
) -> DataFrame:
    """A relation over these files ("parquet" or "orc"), with the columns of `schema`, as DDL or Spark's JSON.

    `partition` are its partition columns, `values` their rows, one for each of the distinct `directories`. Lists the
    files once. Raises `NotFound` for a missing file, `Unsupported` for names that Spark cannot read.
    """
    session: Any = spark._jsparkSession
    maker = compiled.instance(spark, "SnapscopeRelation", _SOURCE)
    jvalues = None if values is None else values._jdf
    places = _uris(directories)
    found = maker.over(session, form, schema, _uris(paths), len(set(paths)), partition, jvalues, places)
    if found is None:
        raise _not_found(paths)
    return DataFrame(found, spark)


def _uris(paths: Sequence[str]) -> str:
    """Paths, taken literally, one to a line."""
    uris = "\n".join(f"file://{path}" for path in paths)
    if uris.count("\n") > max(len(paths) - 1, 0):
        raise Unsupported(
            "A data file's path contains a line break.",
            path=next(path for path in paths if "\n" in path),
            remedy=OWN_ENGINE,
        )
    return uris


def _not_found(paths: Sequence[str]) -> NotFound | Unsupported:
    """Why Spark found fewer files: it skips names that it considers hidden, and may skip missing files."""
    for path in paths:
        try:
            os.stat(path)
        except FileNotFoundError:
            return NotFound(
                "A data file that the table refers to does not exist.",
                path=path,
                remedy="This snapshot or tag cannot be read in full; choose another one.",
            )
    return Unsupported(
        "Spark treats a data file as hidden because of its name and would skip it.", path=paths[0], remedy=OWN_ENGINE
    )
