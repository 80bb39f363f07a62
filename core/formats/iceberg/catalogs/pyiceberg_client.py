"""pyiceberg as a client of catalogs: the only module that reaches into it.

Of its public API: `load_catalog`; `list_namespaces`, `list_tables`, `load_table`, `commit_table`, `close` of a catalog;
`StagedTable`; its errors; the updates and requirements of `pyiceberg.table.update` (in `rest`). Beyond that, each with
what it is needed for and checked by a test of its own (`INTERNALS`):

- `utils.config.Config.get_known_catalogs`, `.get_catalog_config`: which catalogs are configured. Only one that is named
  can be loaded, and no public function lists the names.
- `Catalog._load_file_io`: what a table's own properties name is imported there, as code. Nothing is to be.
- `SqlCatalog._convert_orm_to_iceberg`, `HiveCatalog._convert_hive_into_iceberg`, `RestCatalog._response_to_table`:
  `load_table` parses metadata that anybody may have written, without limits. They turn the catalog's answer into a
  table; here into the location alone.
- `SqlCatalog._update_and_stage_table`, `._write_metadata`, and the same of `HiveCatalog`: `commit_table` does the lock
  or the compare-and-swap, which no public function does for a metadata file that is there already. Here they stage our
  file, and write none.
- `table.metadata.TableMetadataUtil.parse_raw`: `commit_table` compares the staged metadata with the current one.

Law: where one of these is missing the catalog is refused before anything is asked or written, since pyiceberg would
then do by itself what is replaced here. Source: pyiceberg 0.12.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from core.errors import Invalid, Unsupported
from core.formats.iceberg import metadata_json
from core.formats.iceberg.file_paths import normal
from core.installation import extra_command
from core.messages import told
from core.storage.size_limits import TABLE_METADATA
from core.storage.store import Store

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

Identifier = tuple[str, ...]

_BY_FILE = ("_update_and_stage_table", "_write_metadata")
_ANSWERS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "SqlCatalog": ("_convert_orm_to_iceberg", lambda row: row.metadata_location),
    "HiveCatalog": ("_convert_hive_into_iceberg", lambda table: _of_hive(table.parameters)),
    "RestCatalog": ("_response_to_table", lambda _, response: response.metadata_location),
}
"""Per kind of catalog what turns its answer into a table: here the location alone, so that no metadata is parsed."""
INTERNALS: Mapping[str, tuple[str, ...]] = {
    kind: ("_load_file_io", answer, *(_BY_FILE if kind != "RestCatalog" else ()))
    for kind, (answer, _) in _ANSWERS.items()
} | {"": ("_load_file_io",)}
"""Per kind of catalog the names beyond its public API that are replaced."""


def known() -> list[str]:
    """The catalogs that pyiceberg's configuration names."""
    from pyiceberg.utils.config import Config

    return list(Config().get_known_catalogs())


def configuration(name: str) -> dict[str, str] | None:
    """What is configured of a catalog, read now; None where it is not named."""
    from pyiceberg.utils.config import Config

    found = Config().get_catalog_config(name)
    return None if found is None else {key: str(value) for key, value in found.items()}


def opened(name: str, conf: Mapping[str, str]) -> Catalog:
    """A client that reads and writes no file of a table."""
    from pyiceberg.catalog import load_catalog

    client: Any = load_catalog(name, **{"init_catalog_tables": "false", **conf})
    if missing := [each for each in INTERNALS[_kind(client)] if not hasattr(client, each)]:
        client.close()
        raise Unsupported(
            "The installed pyiceberg has no {missing} in its {kind}, so it could do more than is asked of it.",
            missing=", ".join(missing),
            kind=type(client).__name__,
            path=name,
            remedy=told("Install the version that Snapscope needs: {command}", command=extra_command("iceberg")),
        )
    client._load_file_io = lambda *_, **__: None
    return cast("Catalog", client)


def location(client: Catalog, identifier: Identifier) -> str | None:
    """Where a catalog says that a table's metadata is; the metadata itself is not read."""
    if answer := _ANSWERS.get(_kind(client)):
        setattr(client, *answer)
    found: Any = client.load_table(identifier)
    where: str | None = found if found is None or isinstance(found, str) else found.metadata_location
    return where


def read_by_store(client: Any) -> None:
    """Let it read metadata through the store and write none, whatever a table's own properties ask to be imported."""
    client._load_file_io = lambda *_, **__: _Files()


def parsed(document: str) -> Any:
    """Metadata as a commit asks for it; pyiceberg's own error where it cannot read it."""
    from pyiceberg.table.metadata import TableMetadataUtil

    return TableMetadataUtil.parse_raw(document)


def swapped(client: Any, identifier: Identifier, is_current: Callable[[str], bool], target: str, metadata: Any) -> str:
    """The catalog's own commit, with its lock or compare-and-swap, around a file that is there already; the file that
    it names then. `CommitFailedException` where the one it named before is not current."""
    from pyiceberg.exceptions import CommitFailedException
    from pyiceberg.table import StagedTable

    def stage(current: Any, staged: Any, *_: object) -> StagedTable:
        if current is None or not is_current(current.metadata_location):
            raise CommitFailedException("the table is no longer what the change was made on")
        return StagedTable(staged, metadata, target, None, client)  # type: ignore[arg-type]

    read_by_store(client)
    client._update_and_stage_table = stage
    client._write_metadata = lambda **_: None
    return str(client.commit_table(_Named(identifier), (), ()).metadata_location)


def _kind(client: Catalog) -> str:
    """Which of the kinds above it is, or is made from."""
    return next((each.__name__ for each in type(client).__mro__ if each.__name__ in INTERNALS), "")


def _of_hive(parameters: Mapping[str, str]) -> str | None:
    if parameters.get("table_type", "").lower() != "iceberg":
        raise Invalid(
            "This is no Iceberg table but {table_type!r}.", table_type=parameters.get("table_type", "one of Hive")
        )
    return parameters.get("metadata_location")


class _Named:
    """All that a commit by file asks of a table."""

    def __init__(self, identifier: Identifier) -> None:
        self._identifier = identifier

    def name(self) -> Identifier:
        return self._identifier


class _Files:
    """A FileIO that reads through the store and writes nothing."""

    properties: Mapping[str, str] = {}

    def new_input(self, location: str) -> _Input:
        return _Input(location)


class _Input:
    def __init__(self, location: str) -> None:
        self.location = location

    def open(self, seekable: bool = True) -> io.BytesIO:
        directory, _, name = normal(self.location).rpartition("/")
        content = Store.named(directory).read(name, TABLE_METADATA)
        metadata_json.unpacked(content, self.location)  # which the client would do without an end
        return io.BytesIO(content)
