"""The settings file: named warehouses, how to reach their stores, and catalogs. It is only read, never written.

Catalogs that Spark's settings define stand beside those of the file, which takes precedence.

`$SNAPSCOPE_CONFIG`, else `~/.config/snapscope/config.toml`; without one, nothing is named.

Invariants:
- Whatever the file says is used as a whole or rejected: an unknown key, a value of another type or an option that a
  store does not take is an error that names the file and the key.
- A secret stands in a variable or a file that is named here, or in the file itself if only its owner can read that. It
  is read when a store is opened, and is in no location, message, journal, URL or process list: see `masked`.
"""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core import credentials, spark_catalogs
from core.credentials import Secret
from core.errors import Corrupt, Invalid, NotFound, SnapscopeError
from core.messages import message
from core.paths import OTHERS, config_file
from core.spark_catalogs import SparkCatalogs
from core.spark_settings import as_text
from core.units import nearest
from core.urls import plain, typed_path

MOST_BYTES = 1 << 20
OF_CATALOGS = "paimon://"
"""How the name of a table in a catalog of this file begins; Iceberg's catalogs are in pyiceberg's configuration."""
WAREHOUSE, CATALOG = "warehouse", "catalog"
SECRETS = (
    "secret-key", "session-token", "account-key", "sas-token", "connection-string", "token", "password", "delegation",
)  # fmt: skip
_REFERENCES = ("env", "file")
_TEXTS = ("endpoint", "region", "profile", "access-key", "account", "credentials-file")
_FLAGS = ("path-style", "anonymous", "lock-enabled", "data-token-enabled")
_KEYS = ("endpoint", "access-key", "secret-key", "session-token")
STORES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("s3", "s3a"), ("region", "path-style", "profile", "anonymous", *_KEYS)),
    **dict.fromkeys(("gs", "gcs"), ("endpoint", "anonymous", "credentials-file")),
    **dict.fromkeys(("abfs", "abfss", "az"), ("account", "account-key", "sas-token", "connection-string", "anonymous")),
    "oss": _KEYS,
    "hdfs": (),
    "webhdfs": ("user", "delegation"),
}
"""The options that a store takes, by the protocol of its locations; HDFS also those of Hadoop."""
_HDFS, _OF_HADOOP = ("hdfs", "webhdfs"), ("dfs", "hadoop")
_OF_ANY = ("location", "price-per-gb-month", "currency")
CATALOGS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "paimon-jdbc": (("uri", "warehouse"), ("catalog-key", "lock-enabled", "user", "password")),
    "paimon-hive": (("uri",), ("warehouse", "lock-enabled")),
    "paimon-rest": (
        ("uri",),
        ("warehouse", "token", "data-token-enabled", "region", "credentials-file", *_KEYS[1:]),
    ),
}
"""By type of catalog, the keys that it needs and those that it may have."""
_EXAMPLE = "{ env = 'NAME' } / { file = 'PATH' }"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_read: tuple[object, SettingsFile] | None = None
_nothing: SettingsFile | None = None
_both: tuple[SettingsFile, SparkCatalogs, SettingsFile] | None = None


@dataclass(frozen=True, slots=True)
class NamedWarehouse:
    """A named warehouse: its location, the options of its store, and what a GB costs there for a month."""

    name: str
    location: str
    options: Mapping[str, str | bool | Secret]
    price: float | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class NamedCatalog:
    """A named catalog: its type, and what reaches it."""

    name: str
    type: str
    options: Mapping[str, str | bool | Secret]

    @property
    def location(self) -> str:
        return f"{OF_CATALOGS}{self.name}"

    def text(self, key: str, default: str = "") -> str:
        """The value of an option as text; a secret is read now."""
        found = self.options.get(key, default)
        return found.value() if isinstance(found, Secret) else str(found)


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What the file and Spark's settings say. `left_out`: why a catalog of Spark's settings cannot be used; `unasked`:
    which of these may own Paimon tables; `unread`: why Spark's settings cannot be read."""

    path: str
    warehouses: Mapping[str, NamedWarehouse]
    catalogs: Mapping[str, NamedCatalog]
    left_out: Mapping[str, str] = field(default_factory=dict)
    unasked: frozenset[str] = frozenset()
    unread: str | None = None

    def above(self, location: str) -> NamedWarehouse | None:
        """The named warehouse that a location is or lies within: the nearest one."""
        by_location = {plain(each.location): each for each in self.warehouses.values()}
        path = plain(location)
        while path:
            if found := by_location.get(path):
                return found
            path = path.rpartition("/")[0]
        return None


def location(place: str) -> str:
    """What a person means by a place: a location as it is, or that of a named warehouse or catalog, with what follows.

    Raises `Invalid` where a name is also that of a file or directory here, or for a file that cannot be used.
    """
    if "://" in place or place.startswith(("/", ".", "~", "file:")) or not place.strip():
        return place
    name, slash, below = place.partition("/")
    found = current().warehouses.get(name) or current().catalogs.get(name)
    if found is None:
        return place
    if os.path.lexists(name):
        raise Invalid(
            "{name} is a name in the settings file, and that of a file or directory here.",
            name=name,
            path=current().path,
            remedy=message("Write ./{place}, or the location: {location}.", place=place, location=found.location),
        )
    return f"{found.location.rstrip('/')}{slash}{below}"


def current() -> SettingsFile:
    """What the file and Spark's settings say now. Raises `Invalid` or `Corrupt`, which name the file and the key."""
    global _both
    file, spark = _of_file(), spark_catalogs.current()
    if _both is None or _both[0] is not file or _both[1] is not spark:
        _both = (file, spark, _with_spark(file, spark))
    return _both[2]


def _with_spark(file: SettingsFile, spark: SparkCatalogs) -> SettingsFile:
    """Add the catalogs of Spark's settings whose names are not in the file."""
    form, named = _Form(message("Spark's settings"), is_private=True), {*file.warehouses, *file.catalogs}
    warehouses, catalogs = dict[str, NamedWarehouse](), dict[str, NamedCatalog]()
    left_out = {name: why for name, why in spark.left_out.items() if name not in named}
    for name, each in (spark.warehouses | spark.catalogs).items():
        if name in named:
            continue
        try:
            form.refuse_name(name, CATALOG)
            if name in spark.catalogs:
                catalogs[name] = form.catalog(name, each, file.warehouses)
            else:
                taken = ("location", *STORES.get(str(each["location"]).partition("://")[0], ()))
                warehouses[name] = form.warehouse(name, {key: each[key] for key in each if key in taken})
        except SnapscopeError as error:
            left_out[name] = error.message
    if not (warehouses or catalogs or left_out or spark.unread):
        return file
    unasked = frozenset(name for name in left_out if name in {*spark.unasked, *spark.catalogs})
    warehouses, catalogs = warehouses | {**file.warehouses}, catalogs | {**file.catalogs}
    return SettingsFile(file.path, warehouses, catalogs, left_out, unasked, spark.unread)


def _of_file() -> SettingsFile:
    global _read, _nothing
    path, is_named = config_file()
    try:
        with open(path, "rb", opener=lambda name, how: os.open(name, how | os.O_NONBLOCK)) as file:  # never waits
            found = os.fstat(file.fileno())
            seen = (str(path), found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode)
            if _read is not None and _read[0] == seen:
                return _read[1]
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        if is_named:
            raise NotFound(
                "There is no settings file.",
                path=str(path),
                remedy="Correct SNAPSCOPE_CONFIG, or unset it.",
            ) from error
        if _nothing is None or _nothing.path != str(path):
            _nothing = SettingsFile(str(path), {}, {})
        return _nothing
    except OSError as error:
        raise Corrupt("The settings file cannot be read: {why}.", why=error.strerror, path=str(path)) from error
    made = parsed(content, str(path), found)
    _read = (seen, made)
    return made


# reading the file -----------------------------------------------------------------------------------------------------


def parsed(content: bytes, path: str, status: os.stat_result) -> SettingsFile:
    """The settings in a file's content. `status`: whose file it is, and who else can use it."""
    import tomllib  # most users have no such file

    if not stat.S_ISREG(status.st_mode) or len(content) > MOST_BYTES:
        raise Corrupt("This is not a settings file: expected TOML text of at most 1 MB.", path=path)
    if status.st_mode & stat.S_IWOTH:
        raise Invalid(
            "Every user of this machine can change the settings file, and so send your credentials elsewhere.",
            path=path,
            remedy=message("Run chmod go= {path}.", path=path),
        )
    try:
        document = tomllib.loads(content.decode())
    except ValueError as error:  # its message has a position and no value
        raise Corrupt("The settings file is not valid TOML: {error}.", error=_position(error), path=path) from error
    form = _Form(path, is_private=not status.st_mode & OTHERS and status.st_uid == os.geteuid())
    form.refuse_unknown("", document, (WAREHOUSE, CATALOG))
    warehouses = {name: form.warehouse(name, each) for name, each in form.tables(document, WAREHOUSE)}
    catalogs = {name: form.catalog(name, each, warehouses) for name, each in form.tables(document, CATALOG)}
    if twice := sorted(warehouses.keys() & catalogs.keys()):
        raise form.wrong(f"{CATALOG}.{twice[0]}", message("another name than that of a warehouse"))
    seen: dict[str, str] = {}
    for each in warehouses.values():
        if (other := seen.setdefault(plain(each.location), each.name)) != each.name:
            raise form.wrong(
                f"{WAREHOUSE}.{each.name}.location", message("another location than that of {other}", other=other)
            )
    return SettingsFile(path, warehouses, catalogs)


def _flat(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with each of Hadoop's under its whole name: TOML takes `dfs.nameservices` for a table `dfs`."""
    flat = dict[str, Any]()
    for key, value in found.items():
        if isinstance(value, dict) and key.partition(".")[0] in _OF_HADOOP:
            flat |= _flat({f"{key}.{name}": each for name, each in value.items()})
        else:
            flat[key] = as_text(value) if "." in key and isinstance(value, bool | int) else value
    return flat


def _position(error: ValueError) -> str:
    found = re.search(r"\(at [^()]*\)$", str(error))
    return message("there is a mistake {where}", where=found[0][1:-1]) if found else message("it is not UTF-8 text")


@dataclass(frozen=True)
class _Form:
    """What a settings file may contain. `is_private`: only its owner, who is this user, can read it."""

    path: str
    is_private: bool

    def wrong(self, key: str, expected: str) -> SnapscopeError:
        return Invalid("{key} is not valid: expected {expected}.", key=key, expected=expected, path=self.path)

    def refuse_unknown(self, where: str, found: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for key in found:
            if key not in known:
                close = nearest(key, known)
                meant = message("Did you mean {close}?", close=close) if close else None
                raise Invalid(
                    "There is no setting {key}.",
                    key=f"{where}{key}",
                    path=self.path,
                    remedy=meant or message("Settings there: {known}.", known=", ".join(known)),
                )

    def tables(self, document: Mapping[str, Any], kind: str) -> list[tuple[str, Mapping[str, Any]]]:
        found = document.get(kind, {})
        if not isinstance(found, dict):
            raise self.wrong(kind, message("a table: [{kind}.NAME]", kind=kind))
        for name, each in found.items():
            self.refuse_name(name, kind)
            if not isinstance(each, dict):
                raise self.wrong(f"{kind}.{name}", message("a table: [{kind}.NAME]", kind=kind))
        return list(found.items())

    def refuse_name(self, name: str, kind: str) -> None:
        if not _NAME.fullmatch(name):
            raise self.wrong(f"{kind}.{name}", message("a name of letters, digits, _ and -"))

    def warehouse(self, name: str, found: Mapping[str, Any]) -> NamedWarehouse:
        where = f"{WAREHOUSE}.{name}."
        place = self._location(f"{where}location", found.get("location"))
        protocol = place.partition("://")[0] if "://" in place else ""
        found = _flat(found) if protocol in _HDFS else found
        of_hadoop = [key for key in found if protocol in _HDFS and key.partition(".")[0] in _OF_HADOOP]
        taken = (*STORES.get(protocol, ()), *of_hadoop)
        everywhere = {key for keys in STORES.values() for key in keys}
        for key in found:
            if key in everywhere and key not in (*_OF_ANY, *taken):
                store = message("{protocol}:// locations", protocol=protocol) if protocol else message("the local disk")
                some = ", ".join(taken) or message("none")
                raise Invalid(
                    "{key} is not an option of {store}.", key=f"{where}{key}", store=store, path=self.path,
                    remedy=message("Options there: {some}.", some=some),
                )  # fmt: skip
        self.refuse_unknown(where, found, (*_OF_ANY, *taken))
        options = {key: self._value(f"{where}{key}", key, found[key]) for key in taken if key in found}
        self._refuse_contradictions(where, options)
        price, currency = found.get("price-per-gb-month"), found.get("currency")
        if price is not None and (
            not isinstance(price, int | float) or isinstance(price, bool) or not 0 <= price < math.inf
        ):
            raise self.wrong(f"{where}price-per-gb-month", message("a number, zero or more"))
        if currency is not None and not (isinstance(currency, str) and price is not None and currency.strip()):
            raise self.wrong(f"{where}currency", message("a text beside price-per-gb-month, such as 'EUR'"))
        return NamedWarehouse(name, place, options, None if price is None else float(price), currency)

    def _refuse_contradictions(self, where: str, options: Mapping[str, Any]) -> None:
        ways = [key for key in ("anonymous", "profile", "access-key", "account-key", "sas-token", "connection-string",
                                "credentials-file", "token") if options.get(key)]  # fmt: skip
        if len(ways) > 1:
            raise self.wrong(
                f"{where}{ways[1]}", message("only one way to identify yourself; {way} is another", way=ways[0])
            )
        for key, needs in (("secret-key", "access-key"), ("access-key", "secret-key"), ("session-token", "access-key")):
            if key in options and needs not in options:
                raise self.wrong(f"{where}{key}", message("{needs} beside it", needs=needs))

    def catalog(self, name: str, found: Mapping[str, Any], warehouses: Mapping[str, NamedWarehouse]) -> NamedCatalog:
        where, kind = f"{CATALOG}.{name}.", str(found.get("type"))
        if kind not in CATALOGS:
            raise self.wrong(f"{where}type", message("one of {known}", known=", ".join(CATALOGS)))
        needed, more = CATALOGS[kind]
        self.refuse_unknown(where, found, ("type", *needed, *more))
        for key in needed:
            if key not in found:
                raise self.wrong(f"{where}{key}", message("a value, which this type of catalog needs"))
        taken = {key: self._value(f"{where}{key}", key, found[key]) for key in (*needed, *more) if key in found}
        self._refuse_contradictions(where, taken)
        if re.search(r"//[^/]*@", str(taken["uri"])) or credentials.without(str(taken["uri"]), ()) != taken["uri"]:
            raise self.wrong(f"{where}uri", message("a URL without credentials, which belong under keys of their own"))
        if kind != "paimon-rest" and "warehouse" in taken:  # a REST server calls its warehouses as it likes
            place = str(taken["warehouse"])
            near = warehouses.get(place)
            taken["warehouse"] = near.location if near else self._location(f"{where}warehouse", place)
        return NamedCatalog(name, kind, taken)

    def _location(self, key: str, found: Any) -> str:
        if not isinstance(found, str) or not found.strip():
            raise self.wrong(key, message("a path or a URL"))
        if found.startswith("file:"):
            return typed_path(found)
        if "://" in found:
            if "@" in found.partition("://")[2].partition("/")[0] and not found.startswith(("abfs:", "abfss:")):
                raise self.wrong(key, message("a URL without credentials, which belong under keys of their own"))
            return found
        path = os.path.expanduser(found)
        if not path.startswith("/"):
            raise self.wrong(key, message("an absolute path: a settings file has no current directory"))
        return path

    def _value(self, key: str, name: str, found: Any) -> str | bool | Secret:
        if isinstance(found, dict) and name in (*SECRETS, "access-key", "user"):
            kind, text = next(iter(found.items()), ("", None))
            if len(found) != 1 or kind not in _REFERENCES or not isinstance(text, str) or not text:
                raise self.wrong(key, _EXAMPLE)
            return Secret(kind, text, self.path)
        if isinstance(found, bool) and name in _FLAGS:
            return found
        if not isinstance(found, str) or not found or name in _FLAGS:
            is_flag = name in _FLAGS
            raise self.wrong(key, message("true or false") if is_flag else message("a text"))
        if name not in SECRETS:
            return found
        if not self.is_private:
            raise Invalid(
                "{key} is a secret, and other users can read the settings file.",
                key=key,
                path=self.path,
                remedy=message(
                    "Run chmod go= {path}, or write {key} = {example}.",
                    path=self.path,
                    key=name,
                    example=_EXAMPLE,
                ),
            )
        return Secret("text", found, self.path)
