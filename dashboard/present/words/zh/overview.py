"""概览：所有的表及其合计。"""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.present import units

SEARCH = "搜索表"
OVERVIEW_COLUMNS: Mapping[str, str] = {
    "snapshots": "快照",
    "names": "标签、分支",
    "rows": "行数",
    "live": "有效",
    "history": "仅历史占用",
    "commit": "最近提交",
}
LIVE_HELP = "读取 main 最新快照时要打开的数据文件的字节数，取自它的清单。"
HISTORY_HELP = (
    "只被更早的快照、标签、changelog 和分支占用的各类文件的字节数：如果只保留 main 的最新快照，就会释放这么多。"
)
ROWS_COLUMN_HELP = "main 最新快照的有效文件中的行数，未按主键合并。"
OVERVIEW_HELP: Mapping[str, str] = {
    "snapshots": "所有分支上保留着的快照，按目录列举得出。",
    "names": "让时间点在过期之后仍可读的名字。",
    "rows": ROWS_COLUMN_HELP,
    "live": LIVE_HELP,
    "history": HISTORY_HELP,
    "commit": "main 最新快照的提交时间；悬停可看到准确时间。",
}
TILE_TABLES = "表"
TILE_SNAPSHOTS = "快照"
TILE_SNAPSHOTS_BELOW = "保留着的，所有分支"
TILE_LIVE = "有效"
TILE_LIVE_BELOW = "最新快照的数据文件"
TILE_HISTORY = "仅历史占用"
TILE_HISTORY_BELOW = "各类文件"


def read_so_far(read: int, tables: int) -> str:
    return f"已读 {read} / {tables}"


def with_warnings(number: int) -> str:
    return f"{units.count(number)} 张有警告" if number else "都没有警告"


NO_MATCH = "没有名称包含它的表。"


def more_notes(number: int) -> str:
    return f"还有 {number} 条"
