"""每一页四周的文字：页面、侧栏、指定时间点的方法、空的仓库。"""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units

PRODUCT = "Snapscope"
TAGLINE = "这张表当时是什么样，改了什么，清理会失去什么？"

PAGES: Mapping[str, tuple[str, str]] = {
    "overview": ("首页", ":material/home:"),
    "timeline": ("时间线", ":material/timeline:"),
    "asof": ("时间旅行", ":material/history:"),
    "diff": ("差异", ":material/compare_arrows:"),
    "files": ("文件", ":material/folder_open:"),
    "retention": ("保留", ":material/auto_delete:"),
    "tags": ("标签", ":material/bookmark:"),
    "query": ("查询", ":material/terminal:"),
    "audit": ("审计", ":material/fact_check:"),
    "doctor": ("体检", ":material/stethoscope:"),
}

WAREHOUSE = "仓库"
WAREHOUSE_HELP = (
    "一个仓库、一个数据库目录或一张表：路径、任意 fsspec URL（s3://、oss://、gs:// …）或 iceberg://CATALOG。"
)
WAREHOUSE_HINT = "/data/warehouse 或 s3://bucket/warehouse"
TABLE = "表"
REFRESH = "刷新"
REFRESH_HELP = "重新读取时钟。相对时间和按时长的规则都从这里显示的时刻算起。"
ZONE = "时区"
ZONE_HELP = "所有页面上的时间都按这个时区显示。命令行始终读写 UTC。"
LANGUAGE = "语言"
LANGUAGES: Mapping[str, str] = {"en": "EN", "zh": "中文"}
READ_ONLY = "只读"
READ_ONLY_HELP = (
    "这个服务以只读方式启动：每一页都给出计划和完整的命令。要执行计划，请用 `snapscope serve WAREHOUSE --write` 启动。"
)
WRITABLE = "允许修改"
WRITABLE_HELP = "关：每一页只显示修改会带来什么。开：计划经确认后可以执行。只对这个仓库和这个浏览器标签页有效。"
SEARCH_TABLES = "搜索表"
FORMATS = {"paimon": "Apache Paimon", "iceberg": "Apache Iceberg"}


def table_help(of: str, location: str) -> str:
    return f"{FORMATS.get(of, of)}，`{location}`"


def more_tables(number: int) -> str:
    return f"还有 {units.count(number)} 张表：请搜索。"


def more_lines(number: int) -> str:
    return f"还有 {number} 条"


NO_WAREHOUSE = "还没有打开仓库。"
NO_WAREHOUSE_NEXT = (
    "在左侧输入它的路径或 URL，或在启动时指定：`snapscope serve WAREHOUSE`。"
    "想用样例数据试一试：先 `snapscope demo DIR`，再 `snapscope serve DIR`。"
)
EMPTY_WAREHOUSE = "这个仓库里还没有表。"
EMPTY_WAREHOUSE_NEXT = (
    "Paimon 表是含有 `schema/schema-<N>` 的目录 `<database>.db/<table>`，Iceberg 表是含有 `metadata/*.metadata.json` "
    "的目录。请检查左侧的位置，或造几张表试用：`snapscope demo DIR`。"
)


def date_ticks() -> list[dict[str, object]]:
    """坐标轴上日期的写法，按刻度间距（毫秒或月）而定。"""
    day = 86_400_000
    ranges: list[tuple[list[object], str]] = [
        ([None, 1_000], "%H:%M:%S.%L\n%m-%d"),
        ([1_000, 60_000], "%H:%M:%S\n%m-%d"),
        ([60_000, day], "%H:%M\n%Y-%m-%d"),
        ([day, "M1"], "%-m月%-d日\n%Y年"),
        (["M1", "M12"], "%-m月\n%Y年"),
        (["M12", None], "%Y年"),
    ]
    return [{"dtickrange": between, "value": form} for between, form in ranges]


def now_line(now_ms: int, zone: str) -> str:
    return f"截至 {units.moment(now_ms, zone)}"


def table_summary(snapshots: int, tags: int, branches: int, last_ms: int | None, now_ms: int, zone: str) -> str:
    parts = [units.plural(snapshots, "个快照")]
    if tags:
        parts.append(units.plural(tags, "个标签"))
    if branches:
        parts.append(units.plural(branches, "个分支", "个分支"))
    if last_ms is not None:
        parts.append(f"最近提交 {units.moment(last_ms, zone)}（{units.ago(last_ms, now_ms)}）")
    return " · ".join(parts)
