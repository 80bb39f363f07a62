"""The engines' own Spark connectors, for whoever configures one: the same points, read by Paimon's or Iceberg's code.

Laws:
- Plain Spark reads unless a connector is asked for; until then nothing of it is loaded.
- What is loaded is what `$SNAPSCOPE_CONNECTORS` says. No file of a table names a class to load or a store to look in.
- A connector is told the point that was resolved here by its id or tag, in Iceberg in the very metadata file, so no
  later commit changes the answer. Names can be given anew: `removed_points` looks again afterwards.

What the setting names is added to the class loader that the driver and, in a local Spark, its tasks share. Spark's own
ways of adding jars later (ADD JAR) give tasks another loader than the driver, and the connectors' classes do not meet.
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
from core.messages import both, told
from core.model.history import History
from core.model.references import MAIN, HolderKind
from core.model.time_travel import AsOf
from core.paths import cache_dir
from core.spark.read.paimon.points import decided
from core.spark.read.reader import Rows
from core.spark.session.session import error_text, is_local
from core.table import Table

SETTING = "SNAPSCOPE_CONNECTORS"
PLAIN, CONNECTOR = "plain", "connector"
ENGINES = (PLAIN, CONNECTOR)

_NAMES = {"paimon": "Paimon Spark connector", "iceberg": "Iceberg Spark runtime"}
_CLASSES = {"paimon": "org.apache.paimon.spark.SparkSource", "iceberg": "org.apache.iceberg.spark.source.IcebergSource"}
_VERSIONS = {"iceberg": lambda jvm: jvm.org.apache.iceberg.IcebergBuild.version()}  # where the package tells none
_EXAMPLE = "/path/to/the.jar or org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"
_COORDINATES = re.compile(r"[\w.\-]+:[\w.\-]+:[\w.\-]+")
_ASK_PLAIN = told("Ask plain Spark instead (--engine plain).")
_STARTS = {  # options that say where scans of a table start
    "paimon": re.compile(
        r"scan\.(mode|version|snapshot-id|tag-name|watermark|timestamp.*|bounded.*|.*creation-time.*)|incremental-.*"
    )
}
_NAMES_CLASS = re.compile(r"(.*[.-])?(impl|class)")  # as write.location-provider.impl, which Iceberg loads to read
_SCHEME = r"^[A-Za-z][A-Za-z0-9+.\-]*:/"


def configured() -> tuple[str, ...]:
    """What `$SNAPSCOPE_CONNECTORS` names, parted by commas: full paths of jars, Maven coordinates. Empty if not set.

    `Invalid` for what is neither, `NotFound` for a jar that is not there."""
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
            remedy = told("Write {example}; several are parted by commas.", example=_EXAMPLE)
            raise Invalid(
                "{setting} names {each!r}, which is neither a .jar nor group:artifact:version.",
                setting=SETTING,
                each=each,
                remedy=remedy,
            )
    return tuple(found)


def loaded(spark: SparkSession, form: str) -> str:
    """Which connector reads tables of this format, as `Iceberg Spark runtime 1.11.0`; loads what is configured first.

    `Invalid` where none is configured or none of them reads it, `NotFound` for what cannot be had."""
    if (name := _found(spark, form)) is not None:
        return name
    named = configured()
    if not named:
        remedy = told(
            "Set {setting} (or --connector) to {example}. {ask_plain}",
            setting=SETTING,
            example=_EXAMPLE,
            ask_plain=_ASK_PLAIN,
        )
        raise Invalid("No Spark connector is configured to read {form} tables.", form=form.capitalize(), remedy=remedy)
    for each in named:
        _add(spark, each)
    if (name := _found(spark, form)) is None:
        remedy = told(
            "Name one that does in {setting}, such as {example}. {ask_plain}",
            setting=SETTING,
            example=_EXAMPLE,
            ask_plain=_ASK_PLAIN,
        )
        raise Invalid(
            "No connector of those configured ({named}) reads {form} tables.",
            named=", ".join(named),
            form=form,
            remedy=remedy,
        )
    return name


def known(spark: SparkSession) -> dict[str, str]:
    """By format, the connectors that are configured and can be loaded; errors as in `loaded`."""
    for each in configured():
        _add(spark, each)
    return {form: name for form in _CLASSES if (name := _found(spark, form)) is not None}


def rows(spark: SparkSession, table: Table, history: History, at: AsOf) -> Rows:
    """The rows of a point as the format's connector reads them; it does not tell how many files that takes."""
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
        files=len(history.files_at(history.position(at.point))),
        files_read=0,
        merged=0,
        left_out=(),
        differs=tuple(
            told(
                "It reads this point with today's '{name}' ({now}); at the time it was {then}",
                name=name,
                now=now,
                then=then,
            )
            for name, now, then in today
        ),
    )


@contextlib.contextmanager
def offered() -> Iterator[None]:
    """What plain Spark does not read right, a connector may: the refusal says so."""
    try:
        yield
    except Unsupported as error:
        way = told("The engine's own Spark connector may read it (--engine connector).")
        if not os.environ.get(SETTING):
            way = told(
                "The engine's own Spark connector may read it (set {setting}, then --engine connector).",
                setting=SETTING,
            )
        remedy = both(error.remedy, way) if error.remedy else way
        raise Unsupported(error.message, path=error.path, remedy=remedy) from error


# points -----------------------------------------------------------------------------------------------------------


def _paimon(table: Table, history: History, at: AsOf) -> tuple[Mapping[str, str], str]:
    """Its read options for a point, and the table's place."""
    holder = history.holders[history.position(at.point)]
    is_tag = holder.kind is HolderKind.TAG
    point = {"scan.tag-name": holder.name} if is_tag else {"scan.snapshot-id": str(at.snapshot.id)}
    return point | {"branch": at.branch}, table.location  # main, too: a table's own options may name another


def _iceberg(table: Table, history: History, at: AsOf) -> tuple[Mapping[str, str], str]:
    """The same: its place is the metadata file, so a head can be named as such and is read with the current schema."""
    own = IcebergFormat.of(table.format)
    path = history.heads.references[reference("file")].decode()
    place = path if re.match(rf"/|{_SCHEME}", path) else own.store.url(path)
    if at.schema.id == at.snapshot.schema_id:
        return {"versionAsOf": str(at.snapshot.id)}, place
    if at.branch == MAIN:
        return {}, place
    if at.branch.isdecimal():
        raise Unsupported(
            "Spark takes the branch name {branch} for a snapshot id.", branch=at.branch, remedy=_ASK_PLAIN
        )
    return {"versionAsOf": at.branch}, place


_POINTS = {"paimon": _paimon, "iceberg": _iceberg}
_DECIDES = {"paimon": decided}  # options of today that decide what a point answers


def _refuse(table: Table, history: History, at: AsOf) -> None:
    """Whatever in the table's files would choose what is loaded, or another point than ours."""
    heads = history.heads
    line = heads.line(at.branch)
    options = {**at.schema.options, **(line.options if line is not None else {})}
    starting = _STARTS.get(heads.format)
    starts = [name for name in options if starting is not None and starting.fullmatch(name)]
    for name, value in options.items():
        if _NAMES_CLASS.fullmatch(name):
            raise Unsupported(
                "The table's property '{name}' names a class ({options}), and no file of a table is let "
                "choose what Spark loads.",
                name=name,
                options=value,
                remedy=_ASK_PLAIN,
            )
    if starts:
        raise Unsupported(
            "The table's own option '{starts}' says where reading starts, and would contradict the point.",
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
            "A file of the table lies on another kind of store, which no file of a table is let choose.",
            path=paths[first].as_py(),
            remedy=_ASK_PLAIN,
        )


def _check(frame: DataFrame, at: AsOf, engine: str) -> None:
    """The columns are those of the point: what ignored our options would mostly show others."""
    wanted, shown = ", ".join(field.name for field in at.schema.fields), ", ".join(frame.columns)
    if shown != wanted:
        raise Corrupt(
            "{engine} shows the columns {shown} at {point}; they were {wanted}.",
            engine=engine,
            shown=shown,
            point=at.point,
            wanted=wanted,
            remedy=_ASK_PLAIN,
        )


# jars -------------------------------------------------------------------------------------------------------------


def _found(spark: SparkSession, form: str) -> str | None:
    """The connector of a format that is loaded, with its version or the name of its jar; None where there is none."""
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
            "The connector for {form} tables cannot be loaded. {said}", form=form, said=error_text(error)
        ) from error


def _loader(spark: SparkSession) -> Any:
    """The class loader that SparkSubmit made for what is not Spark's own: of the driver and of all it starts."""
    jvm: Any = spark._jvm
    loader = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader()
    while "MutableURLClassLoader" in (parent := loader.getParent()).getClass().getName():
        loader = parent
    return loader


def _add(spark: SparkSession, named: str) -> None:
    """Adds a jar, or those that coordinates lead to, to the driver's loader; a cluster's machines are sent them."""
    jvm: Any = spark._jvm
    for path in [named] if named.endswith(".jar") else _fetched(spark, named):
        _loader(spark).addURL(jvm.java.io.File(path).toURI().toURL())
        if not is_local(spark):
            context: Any = spark.sparkContext._jsc
            context.addJar(path)


def _fetched(spark: SparkSession, coordinates: str) -> list[str]:
    """Spark's own way to Maven: its settings spark.jars.repositories and spark.jars.ivySettings count here, too."""
    jvm: Any = spark._jvm
    for name, default in (("ivy", str(cache_dir() / "ivy")), ("repositories", ""), ("ivySettings", "")):
        if value := spark.conf.get(f"spark.jars.{name}", default):
            jvm.java.lang.System.setProperty(f"spark.jars.{name}", value)
    try:
        uri = jvm.java.net.URI(f"ivy://{coordinates}")
        found = str(jvm.org.apache.spark.util.DependencyUtils.resolveMavenDependencies(uri).mkString("\n"))
    except Py4JError as error:
        remedy = told(
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
    """What Java says is wrong."""
    java: Any = getattr(error, "java_exception", None)
    return error_text(error) if java is None else str(java.getMessage() or java.toString()).splitlines()[0]
