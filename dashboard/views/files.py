"""Files: what a version consists of, who holds a file and until when, and how healthy the files are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from core.analysis import file_map, file_tree
from core.analysis import inspection as contents
from core.analysis.file_health import Health
from core.errors import SnapscopeError
from core.model.history import History
from core.model.time_travel import AsOf
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.charts import timeline as charts
from dashboard.charts import treemap
from dashboard.components import errors, explain_figure, frame, grid, inputs, paged_table
from dashboard.components.changes import plan
from dashboard.components.frame import OpenedTable
from dashboard.components.history import file_lifetime
from dashboard.components.history import timeline as lanes
from dashboard.formatting import commands, markup
from dashboard.view_models import files as places
from dashboard.view_models import table_tree

BOX = "files.file"


def draw() -> None:
    opened = frame.open_table(url_state.here())
    frame.need_snapshots(opened)
    history = frame.history_or_none(opened)
    frame.note_all(opened, history)
    _file_box()
    if history is None:
        return
    point = None if opened.picked is None else opened.picked.found
    file = url_state.get("file")
    if file is not None:
        with errors.boundary():
            file_lifetime.draw(opened, history, file, _live(history, point))
    if point is not None:
        with errors.boundary():
            _panes(opened, history, point)


def _file_box() -> None:
    st.session_state[BOX] = url_state.get("file") or ""
    st.text_input(
        words.FILE_BOX,
        st.session_state[BOX],
        key=BOX,
        placeholder=words.FILE_BOX_PLACEHOLDER,
        help=words.FILE_BOX_HELP,
        icon=":material/description:",
        on_change=lambda: url_state.put(file=st.session_state[BOX]),
    )


def _live(history: History, point: AsOf | None) -> pa.Table | None:
    """Return the files of the version if it can be read; if not, the panes below show why."""
    if point is None or history.incomplete.get(history.position(point.point)):
        return None
    return loading.files(history, point)


def _panes(opened: OpenedTable, history: History, point: AsOf) -> None:
    drawn: Mapping[str, Callable[[OpenedTable, History, AsOf], None]] = {
        "map": _map, "list": _list, "manifests": _manifests, "columns": _columns, "health": _health,
    }  # fmt: skip
    chosen = inputs.one_of(words.PANE, "pane", words.PANES, "map")
    with st.container(key=f"files_pane_{chosen}"):
        drawn[chosen](opened, history, point)


# by folder ------------------------------------------------------------------------------------------------------------


def _in_folder(opened: OpenedTable, history: History, point: AsOf) -> pa.Table | None:
    """List the files of the folder in the URL, below the path to it. If there are none, say so and return None."""
    files = loading.files(history, point)
    folder = url_state.get("folder") or ""
    inside = loading.below(history, point, folder)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="files_way"):
        way = [(opened.ref.name, ""), *file_tree.steps(folder)]
        for number, (name, to) in enumerate(way[:-1]):  # URLs may hold `a//b` or `/a`: skip empty names
            st.button(
                table_tree.inline(name), key=f"files.way.{number}.{to}", type="tertiary", on_click=_go, args=(to,)
            )
            st.caption("/", width="content")
        st.html(markup.mono(way[-1][0]), width="content")
        sums = (int(pc.sum(inside[name]).as_py() or 0) for name in ("bytes", "rows"))
        st.caption(words.folder_line(len(inside), *sums), width="content")
    if not len(files):
        st.html(markup.empty(words.NO_FILES_HERE, words.NO_FILES_NEXT))
        return None
    if not len(inside):
        st.html(markup.note("info", words.NO_SUCH_FOLDER))
        return None
    return inside


def _go(folder: str) -> None:
    url_state.put(folder=folder)


def _map(opened: OpenedTable, history: History, point: AsOf) -> None:
    inside = _in_folder(opened, history, point)
    if inside is None:
        return
    folder = url_state.get("folder") or ""
    level = loading.level(history, point, folder)
    key = f"files.map.{point.point}.{folder}"

    def clicked() -> None:
        to = lanes.clicked_payload(st.session_state.get(key)) or ""
        if to.startswith(treemap.FILE):
            url_state.put(file=to.removeprefix(treemap.FILE))
        elif to:
            _go(to.removeprefix(treemap.FOLDER))

    explain_figure.caption(words.MAP_HELP, words.HOW_MAP)
    with st.container(horizontal=True, vertical_alignment="center", key="files_shades"):
        by = inputs.one_of(words.SHADE, "by", words.SHADES, file_map.AGE)
        shades = loading.shades(history, point, inside, level, folder, by, opened.now_ms)
        st.html(markup.scale(*words.scale(by, shades)))
    figure = treemap.figure(level, frame.hues(), url_state.get("file"), shades)
    st.plotly_chart(
        lanes.Drawn(figure), key=key, theme=None, config=charts.CONFIG, on_select=clicked, selection_mode="points",
        alt=words.MAP_ALT,
    )  # fmt: skip
    columns = {
        "name": grid.text(words.FILE_COLUMN["name"]),
        "files": grid.number(words.FILE_COLUMN["files"]),
        "bytes": grid.number(words.FILE_COLUMN["bytes"], words.BYTES_HELP),
        "rows": grid.number(words.FILE_COLUMN["rows"]),
    }
    name = f"files-{opened.ref.name}-{point.snapshot.id}"
    chosen = paged_table.draw(
        level, "files.level", places.level, columns=columns, name=name, of=f"{point.point}.{folder}"
    )
    if chosen is not None:
        row = level.slice(chosen, 1).to_pylist()[0]
        to = {"file": row["folder"]} if row["is_file"] else {"folder": row["folder"]}
        _jump(**to)
    plan.command(commands.files(opened.ref.location, point.point))


def _jump(**to: str) -> None:
    """Navigate to the target of the selected row. The file shown, if any, stays."""
    if any(url_state.get(name) != value for name, value in to.items()):
        url_state.put(**to)
        st.rerun()


def _list(opened: OpenedTable, history: History, point: AsOf) -> None:
    inside = _in_folder(opened, history, point)
    if inside is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = inputs.text(words.FIND, "find", words.FIND_HELP, words.FIND_PLACEHOLDER)
        order = inputs.one_of(words.ORDER, "order", words.ORDERS, "large")
    files = places.found(inside, text)
    files = files if order == "large" else places.ordered(files, order)
    if not len(files):
        st.html(markup.note("info", words.NOTHING_FOUND))
        return
    of = f"{point.point}.{url_state.get('folder')}.{text}.{order}"
    name = f"files-{opened.ref.name}-{point.snapshot.id}"
    chosen = paged_table.draw(files, "files.list", places.frame, columns=_file_columns(), name=name, of=of)
    if chosen is not None:
        _jump(file=files["path"][chosen].as_py())
    plan.command(commands.files(opened.ref.location, point.point))


def _file_columns() -> dict[str, object]:
    texts = ("change", "kind", "path", "content", "partition", "source", "format", "sequences")
    numbers = ("bytes", "rows", "bucket", "level", "schema_id", "deletes", "delete_rows", "sequence")
    found = {name: grid.text(words.FILE_COLUMN[name], width="large" if name == "path" else None) for name in texts}
    found |= {name: grid.number(words.FILE_COLUMN[name]) for name in numbers}
    found["bytes"] = grid.number(words.FILE_COLUMN["bytes"], words.BYTES_HELP)
    return found


# manifests ------------------------------------------------------------------------------------------------------------


def _manifests(opened: OpenedTable, history: History, point: AsOf) -> None:
    manifest = url_state.get("manifest")
    rows = loading.manifests(history, point)
    if not len(rows):
        st.html(markup.note("info", words.NO_MANIFESTS))
        return
    if manifest is not None:
        _entries(opened, history, point, manifest)
        return
    st.html(markup.table(words.LIST_HEADS, places.lists(rows), numbers=(2, 3, 4, 5)))
    st.caption(words.CHOOSE_MANIFEST)
    texts = {
        "list": grid.text(words.FILE_COLUMN["list"], width="small"),
        "path": grid.text(words.FILE_COLUMN["path"]),
    }
    numbers = ("bytes", "added", "deleted", "existing", "schema_id")
    columns = texts | {name: grid.number(words.FILE_COLUMN[name]) for name in numbers}
    name = f"manifests-{opened.ref.name}-{point.snapshot.id}"
    chosen = paged_table.draw(rows, "files.manifests", places.manifests, columns=columns, name=name, of=point.point)
    if chosen is not None:
        _jump(manifest=rows["path"][chosen].as_py())
    plan.command(commands.inside("manifests", opened.ref.location, point.point))


def _entries(opened: OpenedTable, history: History, point: AsOf, manifest: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            words.ALL_MANIFESTS,
            key="files.manifests.up",
            type="tertiary",
            on_click=lambda: url_state.put(manifest=None),
        )
        st.caption("/", width="content")
        st.html(markup.mono(manifest.rsplit("/", 1)[-1]), width="content")
    rows = loading.entries(history, point, manifest)
    name = f"entries-{manifest.rsplit('/', 1)[-1]}"
    chosen = paged_table.draw(rows, "files.entries", places.entries, columns=_file_columns(), name=name, of=manifest)
    if chosen is not None:
        _jump(file=rows["path"][chosen].as_py())
    frame.link("files", words.ITS_LIFE, ":material/timeline:", file=manifest)
    plan.command(commands.inside("manifests", opened.ref.location, point.point, manifest=manifest))


# columns and health ---------------------------------------------------------------------------------------------------


def _columns(opened: OpenedTable, history: History, point: AsOf) -> None:
    folder, files = url_state.get("folder"), loading.files(history, point)
    one = files.filter(pc.equal(files["path"], _file(opened, history)))
    if len(one):
        explain_figure.caption(words.COLUMNS_OF_FILE, words.HOW_COLUMNS)
        chosen, what, options = one, f"file:{one['path'][0]}", {"file": one["path"][0].as_py()}
    else:
        inside = _in_folder(opened, history, point)
        if inside is None:
            return
        chosen, what, options = inside, f"folder:{folder}", {"folder": folder} if folder else {}
        if len(inside) > contents.MOST_FILES:
            st.html(markup.note("info", words.columns_too_many(len(inside), contents.MOST_FILES)))
            return
        explain_figure.caption(words.COLUMNS_HELP, words.HOW_COLUMNS)
    bounds = loading.statistics(history, point, chosen, what)
    if any(0 < each.files_with_bounds < each.files for each in bounds):
        st.html(markup.note("info", words.SOME_NOT_TOLD))
    if any(each.unreadable for each in bounds):
        st.html(markup.note("info", words.SOME_OTHER_TYPE))
    labels = ("column", "type", "low", "high", "nulls", "told")
    grid.draw(
        places.columns(bounds),
        "files.columns",
        columns={name: grid.text(words.FILE_COLUMN[name]) for name in labels},
        what=words.COLUMNS_NOUN,
        name=f"columns-{opened.ref.name}-{point.snapshot.id}",
        tall=True,
    )
    plan.command(commands.inside("columns", opened.ref.location, point.point, **options))


def _file(opened: OpenedTable, history: History) -> str:
    """Return the path of the file in the URL; empty if there is none or if it is invalid, which is shown above."""
    try:
        return file_lifetime.named(opened, history, url_state.get("file") or "")
    except SnapscopeError:
        return ""


def _health(opened: OpenedTable, history: History, point: AsOf) -> None:
    found = loading.health(history, point)
    explain_figure.html(markup.tiles(places.health_tiles(found)), words.HOW_HEALTH, wide=True)
    st.caption(words.HEALTH_PARTITIONS)
    names = ("partition", "small_files", "files", "small_bytes", "bytes")
    columns = {name: grid.number(words.FILE_COLUMN[name]) for name in names}
    columns["partition"] = grid.text(words.FILE_COLUMN["partition"])
    grid.draw(
        places.partitions(found),
        "files.health",
        columns=columns,
        what=words.PARTITIONS_NOUN,
        name=f"partitions-{opened.ref.name}-{point.snapshot.id}",
    )
    plan.command(commands.inside("health", opened.ref.location, point.point))
    _what_helps(opened, found, point)


def _what_helps(opened: OpenedTable, found: Health, point: AsOf) -> None:
    """Show the command that fixes a bad health figure."""
    asks = found.small_files > found.places or (found.runs is not None and found.runs.amount >= (found.trigger or 0))
    if not asks and not found.delete_rows:
        st.html(markup.note("info", words.HEALTH_HELPS_NOT))
        return
    of = opened.heads.capabilities
    st.caption(words.HEALTH_COMPACT if of.compacts_here else words.health_compact_by(of.title))
    if of.compacts_here:
        st.code(commands.of_table("compact", opened.ref.location, point.branch), language="bash", wrap_lines=True)
    elif of.procedures in commands.PROCEDURES:
        st.code(commands.rewrite(opened.ref.title), language="sql", wrap_lines=True)
    line = opened.heads.line(point.branch)
    if line is None or line.latest is None or line.latest.id != point.snapshot.id:
        st.html(markup.note("info", words.HEALTH_NOT_LATEST))


draw()
