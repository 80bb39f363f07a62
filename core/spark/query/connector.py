"""The engines' own Spark connectors, if configured: the same versions, read by Paimon's or Iceberg's code.

Invariants:
- Plain Spark reads unless a connector is requested; until then nothing of it is loaded.
- Only what `$SNAPSCOPE_CONNECTORS` names is loaded. No file of a table can name a class to load or a store to access.
- A connector gets the version that was resolved here by its id or tag and, for Iceberg, the exact metadata file, so no
  later commit changes the answer. Names can be reused: `removed_points` checks again afterwards.

Jars are added to the class loader that the driver and, in a local Spark, its tasks share. Spark's own ways of adding
jars later (ADD JAR) give tasks another loader than the driver's, and the connectors' classes then do not match.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from core.errors import Corrupt, Invalid, NotFound, Unsupported
from core.formats.iceberg.format import IcebergFormat
from core.formats.iceberg.references import reference
from core.messages import both, message
from core.model.history import History
from core.model.references import MAIN, HolderKind
from core.model.time_travel import AsOf
from core.paths import cache_dir
from core.spark.read.paimon.changed_options import decided
from core.spark.read.reader import Rows
from core.spark.session.connect import is_remote
from core.spark.session.session import is_connect, is_local
from core.spark.session.task_errors import error_text
from core.spark_settings import MASTER
from core.table import Table

SETTING = "SNAPSCOPE_CONNECTORS"
PLAIN, CONNECTOR = "plain", "connector"
ENGINES = (PLAIN, CONNECTOR)

_NAMES = {"paimon": "Paimon Spark connector", "iceberg": "Iceberg Spark runtime"}
_CLASSES = {"paimon": "org.apache.paimon.spark.SparkSource", "iceberg": "org.apache.iceberg.spark.source.IcebergSource"}
_VERSIONS = {"iceberg": lambda jvm: jvm.org.apache.iceberg.IcebergBuild.version()}  # where the package states none
_EXAMPLE = "/path/to/the.jar or org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"
_COORDINATES = re.compile(r"[\w.\-]+:[\w.\-]+:[\w.\-]+")
_ASK_PLAIN = message("Use plain Spark instead (--engine plain).")
_STARTS = {  # options that set where scans of a table start
    "paimon": re.compile(
        r"scan\.(mode|version|snapshot-id|tag-name|watermark|timestamp.*|bounded.*|.*creation-time.*)|incremental-.*"
    )
}
_NAMES_CLASS = re.compile(r"(.*[.-])?(impl|class)")  # such as write.location-provider.impl, loaded even to read
_SCHEME = r"^[A-Za-z][A-Za-z0-9+.\-]*:/"


def configured() -> tuple[str, ...]:
    """The connectors that `$SNAPSCOPE_CONNECTORS` names, separated by commas: full jar paths or Maven coordinates.

    Empty if not set. Raises `Invalid` for what is neither, `NotFound` for a jar that cannot be read.
    """
    found = []
    for each in filter(None, (part.strip() for part in os.environ.get(SETTING, "").split(","))):
        if each.endswith(".jar"):
            path = Path(each).expanduser().absolute()
            try:
                path.open("rb").close()
            except OSError as error:
                raise NotFound(
                    "{setting} names a jar that cannot be read: {error}.", setting=SETTING, error=error, path=str(path)
                ) from error
            found.append(str(path))
        elif _COORDINATES.fullmatch(each):
            found.append(each)
        else:
            remedy = message("Write {example}; separate several with commas.", example=_EXAMPLE)
            raise Invalid(
                "{setting} contains {each!r}, which is neither a .jar nor group:artifact:version.",
                setting=SETTING,
                each=each,
                remedy=remedy,
            )
    return tuple(found)


def loaded(spark: SparkSession, form: str) -> str:
    """The connector that reads tables of this format, as `Iceberg Spark runtime 1.11.0`; loads those configured first.

    Raises `Invalid` if none is configured or none reads the format, `NotFound` for what cannot be downloaded,
    `Unsupported` on a Connect server.
    """
    if is_remote(spark):
        raise Unsupported(
            "A client of Spark Connect cannot load a connector into the server.",
            remedy=message(
                "{ask_plain} Or use Spark on this machine: {variable}=local[*].", ask_plain=_ASK_PLAIN, variable=MASTER
            ),
        )
    if (name := _found(spark, form)) is not None:
        return name
    named = configured()
    if not named:
        remedy = message(
            "Set {setting} (or --connector) to {example}. {ask_plain}",
            setting=SETTING,
            example=_EXAMPLE,
            ask_plain=_ASK_PLAIN,
        )
        raise Invalid("No Spark connector is configured to read {form} tables.", form=form.capitalize(), remedy=remedy)
    for each in named:
        _add(spark, each)
    if (name := _found(spark, form)) is None:
        remedy = message(
            "Configure one in {setting}, such as {example}. {ask_plain}",
            setting=SETTING,
            example=_EXAMPLE,
            ask_plain=_ASK_PLAIN,
        )
        raise Invalid(
            "None of the configured connectors ({named}) reads {form} tables.",
            named=", ".join(named),
            form=form,
            remedy=remedy,
        )
    return name


def known(spark: SparkSession) -> dict[str, str]:
    """By format, the connectors that are configured and can be loaded. Raises errors as `loaded` does."""
    if is_remote(spark):
        return {}
    for each in configured():
        _add(spark, each)
    return {form: name for form in _CLASSES if (name := _found(spark, form)) is not None}


def rows(spark: SparkSession, table: Table, history: History, at: AsOf) -> Rows:
    """The rows of a version as the format's connector reads them; it does not report how many files it reads."""
    form = history.heads.format
    engine = loaded(spark, form)
    _refuse(table, history, at)
    options, place = _POINTS[form](table, history, at)
    try:
        frame = spark.read.format(form).options(**options).load(place)
    except (Py4JError, PySparkException) as error:
        raise Unsupported(
            "{engine} cannot open {point}. {said}",
            engine=engine,
            point=at.point,
            said=error_text(error),
            path=place,
            remedy=_ASK_PLAIN,
        ) from error
    _check(frame, at, engine)
    decides = _DECIDES.get(form)
    today = () if decides is None else decides(at.schema, history.heads, at.branch)
    return Rows(
        frame=frame,
        files=len(history.files_at(history.position(at.point), is_ordered=False)),
        files_read=0,
        merged=0,
        left_out=(),
        differs=tuple(
            message(
                ("The connector reads this version with today's '{name}' ({now}); at the time it was {then}"),
                name=name,
                now=now,
                then=then,
            )
            for name, now, then in today
        ),
    )


@contextlib.contextmanager
def offered(table: Table) -> Iterator[None]:
    """Add to `Unsupported` errors where they were met, and that the format's own connector may read the table."""
    try:
        yield
    except Unsupported as error:
        if is_connect():
            raise
        format = table.capabilities.title
        way = message("{format}'s own Spark connector may read it (--engine connector).", format=format)
        if not os.environ.get(SETTING):
            way = message(
                "{format}'s own Spark connector may read it (set {setting}, then --engine connector).",
                format=format,
                setting=SETTING,
            )
        remedy = both(error.remedy, way) if error.remedy else way
        raise Unsupported(error.message, path=error.path or table.location, remedy=remedy) from error


# points -----------------------------------------------------------------------------------------------------------


def _paimon(table: Table, history: History, at: AsOf) -> tuple[Mapping[str, str], str]:
    """The connector's read options for a version, and the table's location."""
    written = history.heads.require(at.branch).schemas.get(at.snapshot.schema_id)
    if written is not None and written.fields != at.schema.fields:
        raise Unsupported(
            "The columns were changed after the newest snapshot, and Paimon reads a given snapshot with its own.",
            remedy=both(message("Ask for {point}, which has its own columns.", point=at.point), _ASK_PLAIN),
        )
    holder = history.holders[history.position(at.point)]
    is_tag = holder.kind is HolderKind.TAG
    point = {"scan.tag-name": holder.name} if is_tag else {"scan.snapshot-id": str(at.snapshot.id)}
    return point | {"branch": at.branch}, table.store.location  # even main: a table's options may name another


def _iceberg(table: Table, history: History, at: AsOf) -> tuple[Mapping[str, str], str]:
    """As `_paimon`; the location is the metadata file, so a head can be named as such and gets the current schema."""
    own = IcebergFormat.of(table.format)
    path = history.heads.references[reference("file")].decode()
    place = path if re.match(rf"/|{_SCHEME}", path) else own.store.url(path)
    if at.schema.id == at.snapshot.schema_id:
        return {"versionAsOf": str(at.snapshot.id)}, place
    if at.branch == MAIN:
        return {}, place
    if at.branch.isdecimal():
        raise Unsupported(
            "Spark would read the branch name {branch} as a snapshot id.", branch=at.branch, remedy=_ASK_PLAIN
        )
    return {"versionAsOf": at.branch}, place


_POINTS = {"paimon": _paimon, "iceberg": _iceberg}
_DECIDES = {"paimon": decided}  # current options that decide what a version returns


def _refuse(table: Table, history: History, at: AsOf) -> None:
    """Raise `Unsupported` if a table's files would choose what is loaded, or a version other than ours."""
    heads = history.heads
    line = heads.line(at.branch)
    options = {**at.schema.options, **(line.options if line is not None else {})}
    starting = _STARTS.get(heads.format)
    starts = [name for name in options if starting is not None and starting.fullmatch(name)]
    for name, value in options.items():
        if _NAMES_CLASS.fullmatch(name):
            raise Unsupported(
                "The table's property '{name}' names a class ({options}); a table's file may not choose "
                "what Spark loads.",
                name=name,
                options=value,
                remedy=_ASK_PLAIN,
            )
    if starts:
        raise Unsupported(
            ("The table's own option '{starts}' sets where reading starts, which would contradict the chosen version."),
            starts=starts[0],
            remedy=_ASK_PLAIN,
        )
    own = "file" if table.store.is_local else table.store.location.partition(":")[0]
    paths = history.objects["path"]
    elsewhere = pc.and_(
        pc.match_substring_regex(paths, _SCHEME), pc.invert(pc.starts_with(paths, f"{own}:"))
    ).combine_chunks()
    if (first := elsewhere.index(True).as_py()) >= 0:
        raise Unsupported(
            (
                "A file of the table is on another kind of store; a table's file may not choose which "
                "stores Spark connects to."
            ),
            path=paths[first].as_py(),
            remedy=_ASK_PLAIN,
        )


def _check(frame: DataFrame, at: AsOf, engine: str) -> None:
    """Raise `Corrupt` unless the columns are the version's: a connector that ignores our options shows others."""
    wanted, shown = ", ".join(field.name for field in at.schema.fields), ", ".join(frame.columns)
    if shown != wanted:
        raise Corrupt(
            "{engine} shows the columns {shown} at {point}; expected {wanted}.",
            engine=engine,
            shown=shown,
            point=at.point,
            wanted=wanted,
            remedy=_ASK_PLAIN,
        )


# jars -------------------------------------------------------------------------------------------------------------


def _found(spark: SparkSession, form: str) -> str | None:
    """The loaded connector of a format, with its version or the name of its jar; None if there is none."""
    if form not in _CLASSES:
        return None
    try:
        found = _loader(spark).loadClass(_CLASSES[form])
        jvm: Any = spark._jvm
        version = _VERSIONS[form](jvm) if form in _VERSIONS else found.getPackage().getImplementationVersion()
        jar = found.getProtectionDomain().getCodeSource().getLocation().getPath()
        return f"{_NAMES[form]} {version or Path(jar).name}"
    except Py4JError as error:
        if "ClassNotFoundException" in str(error):
            return None
        raise Unsupported(
            "The connector for {form} tables cannot be loaded. {said}",
            form=form,
            said=error_text(error),
            remedy=_ASK_PLAIN,
        ) from error


def _loader(spark: SparkSession) -> Any:
    """The class loader that SparkSubmit created for non-Spark classes, of the driver and of everything it starts."""
    jvm: Any = spark._jvm
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    while "MutableURLClassLoader" in (parent := loader.getParent()).getClass().getName():
        loader = parent
    return loader


def _add(spark: SparkSession, named: str) -> None:
    """Add a jar, or those that coordinates resolve to, to the driver's loader and to a cluster's machines."""
    jvm: Any = spark._jvm
    for path in [named] if named.endswith(".jar") else _fetched(spark, named):
        _loader(spark).addURL(jvm.java.io.File(path).toURI().toURL())
        if not is_local(spark):
            context: Any = spark.sparkContext._jsc
            context.addJar(path)


def _fetched(spark: SparkSession, coordinates: str) -> list[str]:
    """Resolve Maven coordinates as Spark does, heeding spark.jars.repositories and spark.jars.ivySettings."""
    jvm: Any = spark._jvm
    for name, default in (("ivy", str(cache_dir() / "ivy")), ("repositories", ""), ("ivySettings", "")):
        if value := spark.conf.get(f"spark.jars.{name}", default):
            jvm.java.lang.System.setProperty(f"spark.jars.{name}", value)
    try:
        uri = jvm.java.net.URI(f"ivy://{coordinates}")
        found = str(jvm.org.apache.spark.util.DependencyUtils.resolveMavenDependencies(uri).mkString("\n"))
    except Py4JError as error:
        remedy = message(
            "Check the coordinates, or name a jar in {setting}. {ask_plain}", setting=SETTING, ask_plain=_ASK_PLAIN
        )
        raise NotFound(
            "Spark found nothing at Maven's {coordinates}. {words}",
            coordinates=coordinates,
            words=_words(error),
            remedy=remedy,
        ) from error
    return found.split("\n")


def _words(error: Py4JError) -> str:
    """The message of a Java exception."""
    java: Any = getattr(error, "java_exception", None)
    return error_text(error) if java is None else str(java.getMessage() or java.toString()).splitlines()[0]
