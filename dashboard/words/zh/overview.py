"""首页：所有的表及其合计、有何新变化、什么即将到期、要留意什么。"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.formatting import units
from dashboard.words.explanations import Rule
from dashboard.words.zh.notices import listed

SEARCH = "搜索表"
OVERVIEW_COLUMNS: Mapping[str, str] = {
    "snapshots": "快照",
    "names": "标签、分支",
    "rows": "文件中行数",
    "live": "有效",
    "history": "仅历史占用",
    "policy": "策略可释放",
    "commit": "最近提交",
}
LIVE_HELP = "读取 main 最新快照时要打开的数据文件的字节数，取自它的清单。"
ONLY_HISTORY_HELP = (
    "只被更早的快照、标签、changelog 和分支占用的各类文件的字节数：如果只保留 main 的最新快照，就会释放这么多。"
)
POLICY_HELP = "按表自己的选项现在会释放的字节数：每个分支的快照都按它的策略过期。在读取清单时判定，最多是 15 分钟之前。"
ROWS_COLUMN_HELP = "main 最新快照的有效文件中的行数，未按主键合并。"
OVERVIEW_HELP: Mapping[str, str] = {
    "snapshots": "所有分支上保留着的快照，按目录列举得出。",
    "names": "让时间点在过期之后仍可读的名字。",
    "rows": ROWS_COLUMN_HELP,
    "live": LIVE_HELP,
    "history": ONLY_HISTORY_HELP,
    "policy": POLICY_HELP,
    "commit": "main 最新快照的提交时间；悬停可看到准确时间。",
}
TILE_TABLES = "表"
TILE_LIVE = "有效"
TILE_LIVE_BELOW = "最新快照的数据文件"
TILE_HISTORY = "仅历史占用"
TILE_HISTORY_BELOW = "各类文件"
TILE_POLICY = "策略可释放"
TILE_POLICY_BELOW = "现在，按表自己的选项"


def read_so_far(read: int, tables: int) -> str:
    return f"已读 {read} / {tables}"


def with_warnings(number: int, snapshots: int) -> str:
    warned = f"{units.count(number)} 张有警告" if number else "都没有警告"
    return f"{warned}；{units.plural(snapshots, 'snapshot')}"


NO_MATCH = "没有名称包含它的表。"


HOW_POLICY = Rule(
    "策略可释放",
    "每个分支按自己的策略过期现在该过期的快照之后，再没有人占用的文件。",
    "各分支的 snapshot.* 选项（Iceberg：history.expire.* 和各引用自己的选项），以及所有清单。",
    "引擎的过期规则（Paimon 2.0、Iceberg 1.11），在读取清单时判定，最多是 15 分钟之前；"
    "然后与计划一样按占用者的集合计算。标签保留。自相矛盾的策略不过期任何东西。",
    "字节，以十进制单位显示：1 kB 为 1,000 字节。悬停可看到准确的数字。",
)
HOW_SINCE = Rule(
    "自上次访问以来",
    "提交、标签、分支、行、文件和字节：当时与现在之差。",
    "现在读取的引用，以及当时记下的内容（状态目录中的 desk/visits.json）。",
    "离开 30 分钟之后再来，算作新的访问。合计是当时与现在之差，所以即使其间的快照已过期也准确；其间来过又过期的提交，"
    "Paimon 的 id 连续，可以数出，Iceberg 只知道可能有。",
    "提交次数、文件中的行数、文件数、字节。",
)

# what is new

WATCH = "关注这张表"
UNWATCH = "不再关注这张表"
NOTHING_KEPT = "无法记住关注的表和新变化："
FIRST_VISIT = "这是第一次从这里查看。从下次访问起，每张表都会说明有何新变化。"
SINCE_QUIET = "没有新变化"
SINCE_NEW_TABLE = "以前没有见过。"
SINCE_UNSEEN = "其间可能还有提交来过又已过期"


def last_visit(ago: str, changed: int, tables: int) -> str:
    return f"自上次访问（{ago}）以来：{units.count(tables)} 张表中有 {units.count(changed)} 张有变化。"


def reading_tables(read: int, tables: int, name: str, done: int, total: int) -> str:
    manifests = f"，清单 {units.count(done)} / {units.count(total)}" if total else ""
    return f"已读 {read} / {tables} 张表；{name}{manifests}"


def since(ago: str) -> str:
    return f"自 {ago}："


def since_kind(number: int, kind: str, user: str, branch: str) -> str:
    return f"{user or '未知用户'} 的 {units.count(number)} 次 {kind}" + (f"（分支 {branch}）" if branch else "")


def since_commits(number: int, kinds: str, more: bool) -> str:
    return f"{units.count(number)} 次新提交：{kinds}{'，……' if more else ''}"


def since_unseen(number: int) -> str:
    return f"另有 {units.count(number)} 次提交来过又已过期，未能看到"


def since_moved(branch: str, before: int, now: int | None) -> str:
    return f"{branch} 已从 {before} 退回到 {now}" if now is not None else f"{branch} 已被清空"


def since_expired(number: int) -> str:
    return f"{units.plural(number, 'snapshot')}已不在"


def since_tags_made(names: Sequence[str]) -> str:
    return f"新建标签 {listed(names, 3)}"


def since_tags_moved(names: Sequence[str]) -> str:
    return f"标签 {listed(names, 3)} 改指另一个快照"


def since_tags_ended(names: Sequence[str]) -> str:
    return f"标签 {listed(names, 3)} 已按期结束"


def since_tags_gone(names: Sequence[str]) -> str:
    return f"标签 {listed(names, 3)} 已删除"


def since_branches_made(names: Sequence[str]) -> str:
    return f"新建分支 {listed(names, 3)}"


def since_branches_gone(names: Sequence[str]) -> str:
    return f"分支 {listed(names, 3)} 已删除"


def since_schema(sentences: Sequence[str]) -> str:
    more = f"，另有 {len(sentences) - 1} 处" if len(sentences) > 1 else ""
    return f"表结构：{sentences[0]}{more}"


def since_schema_ids(before: int, now: int) -> str:
    return f"表结构由 {before} 变为 {now}；原来的已不在"


# what happened in the demo

STORIES = "这里发生过什么？"
STORIES_HELP = "这个演示仓库过去的几次事故，每个都能在五次点击之内查明。"
STORY_ANSWER = "答案"


def story_open(table: str, point: str) -> str:
    return f"从 {table} 的 {point} 开始"


# what ends soon, what to mind

ENDS_SOON = "7 天内结束的标签"
ENDS_NONE = "7 天内没有标签会自行结束。"
TO_MIND = "需要留意，最重要的在前"
NOTHING_TO_MIND = "没有需要留意的。"


def tag_ends(when: str, left: str, is_over: bool, is_wall_clock: bool) -> str:
    whose = "，按写入者的时钟" if is_wall_clock else ""
    if is_over:
        return f"期限已过 {left}（{when}{whose}）：下一次提交或过期时删除"
    return f"还有 {left} 结束，{when}{whose}"
