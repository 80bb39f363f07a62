"""文件：一个时间点由什么组成，谁占用一个文件，文件的健康状况。"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from core.analysis.file_health import Bucket, Health
from core.analysis.file_lifetime import FileLifetime, Stretch
from core.formats.iceberg.references import NO_BRANCH
from core.model.column_bounds import Bounds
from core.model.references import MAIN, Holder, Snapshot
from dashboard.formatting import units
from dashboard.words.explanations import Rule
from dashboard.words.zh.timeline import commit_kind
from dashboard.words.zh.told import spoken

FILES_POINT = "文件所在的时间点"
FILES_HERE = "文件"
FILE_BOX = "一个文件的一生"
FILE_BOX_PLACEHOLDER = "粘贴路径或文件名，或点击下面的文件"
FILE_BOX_HELP = "数据文件、清单、索引或这张表的任何其他文件：路径、URL 或只写文件名。它不必在该时间点有效。"
CLOSE_FILE = "关闭"
PANES: Mapping[str, str] = {
    "map": "分布图",
    "list": "全部文件",
    "manifests": "清单",
    "columns": "列",
    "health": "健康",
}
PANE = "页面部分"
EVERYTHING = "整张表"
NO_FILES_HERE = "这里没有有效的数据文件。"
NO_FILES_NEXT = "该时间点没有任何行。请在上面选择另一个时间点，或回到整张表。"
NO_SUCH_FOLDER = "该时间点没有文件在这个目录下。请回到上一级，或选择有它的时间点。"
MAP_HELP = "每个矩形是一个目录，面积是其中的字节数。点击可进入；点击文件可看它的一生。"
FIND_HELP = "路径或分区的任意一段，不分大小写。"
NOTHING_FOUND = "这里没有文件的路径或分区含有它。"
ITS_LIFE = "这个清单的一生"
LIFE_ALT = "在表的时间轴上：这个文件何时有效，哪些快照、标签和分支占用它"
LIFE_BEFORE = "在此或更早诞生"
MAP_ALT = "按分区和桶显示字节数的矩形图"
FIND = "查找"
FIND_PLACEHOLDER = "路径或分区的一段"
ORDER = "排序"
ORDERS: Mapping[str, str] = {"large": "从大到小", "small": "从小到大", "path": "按路径"}
PREVIOUS_PAGE = "上一页"
NEXT_PAGE = "下一页"
COLUMNS_NOUN = "列"
PARTITIONS_NOUN = "个分区"
STRETCHES_NOUN = "段"
FILE_COLUMN: Mapping[str, str] = {
    "path": "文件",
    "change": "条目",
    "kind": "类别",
    "bytes": "大小",
    "rows": "行数",
    "partition": "分区",
    "bucket": "桶",
    "level": "层级",
    "schema_id": "表结构",
    "source": "写入者",
    "sequences": "序列号范围",
    "delete_rows": "删除的行",
    "list": "列表",
    "added": "新增",
    "deleted": "移除",
    "existing": "沿用",
    "format": "格式",
    "content": "内容",
    "sequence": "序列号",
    "deletes": "删除",
    "files": "文件数",
    "name": "名称",
    "small_files": "小文件数",
    "small_bytes": "小文件大小",
    "column": "列",
    "type": "类型",
    "low": "最小值",
    "high": "最大值",
    "nulls": "空值数",
    "told": "给出的文件",
}
LISTS: Mapping[str, str] = {
    "base": "base：提交之前就有的",
    "delta": "delta：这次提交改变的",
    "changelog": "changelog：给流式读者的行",
    "index": "index：删除向量和哈希索引",
    "data": "数据文件",
    "deletes": "删除文件",
}
LIST_HEADS = ("列表", "文件", "大小", "清单数", "新增", "移除")
ENTRY_CHANGES: Mapping[str, str] = {"added": "+ 新增", "removed": "− 移除", "existing": "沿用"}
NO_MANIFESTS = "该时间点没有列出任何清单：它之下从未写过东西。"
CHOOSE_MANIFEST = "选择一个清单，查看它的条目。"
ALL_MANIFESTS = "全部清单"
SOURCES: Mapping[str, str] = {"append": "一次写入", "compact": "合并"}

# 一个文件的一生

NOT_WRITTEN = "未写入"
LIFE_LIVE = "有效"
LIFE_HEADS: Mapping[str, str] = {
    "holders_of": "占用者",
    "points": "时间点",
    "ends": "何时自动到期",
    "since": "从",
    "until": "到",
}
LIFE_NOT_HERE = "在上面显示的时间点并不有效：列在这里是因为别的时间点占用它。"
LIFE_BORN = "诞生"
LIFE_REMOVED = "移除"
LIFE_KEPT = "被谁保留"
LIFE_WHY = "为何保留"
LIFE_EARLIEST = "最早可删除的时间"
LIFE_STILL_LIVE = "在最新状态中仍然有效"
LIFE_UNKNOWN_END = "由一个已不再保留或无法读取的提交移除"
LIFE_UNKNOWN_NOW = "未知：最新状态无法完整读取"
LIFE_NO_LIVE = "在任何可读取的时间点都不有效：只有提交提到它"
LIFE_NEVER = "没有日期：没有规则会让它的最后一个占用者自动到期"
LIFE_AFTER_COMMITS = "没有确定的日期：上面所说的提交尚未发生"
LIFE_NOW = "下一次过期时：期限已到"
ROW_KINDS: Mapping[str, str] = {"snapshot": "快照", "tag": "标签", "changelog": "长期 changelog"}
KIND_NOUNS: Mapping[str, str] = {"snapshot": "个快照", "tag": "个标签", "changelog": "个长期 changelog"}


def others(number: int) -> str:
    return f"其余 {units.count(number)} 项"


def box_hover(row: Mapping[str, Any]) -> str:
    files = "" if row["is_file"] else f"<br>{units.count(row['files'])} 个文件"
    size = f"{units.size(row['bytes'])} ({units.exact_bytes(row['bytes'])})"
    return f"<b>{escape(str(row['name']))}</b><br>{size}{files}<br>{units.count(row['rows'])} 行"


def life_row(kind: str, branch: str) -> str:
    if branch == NO_BRANCH:
        return f"不在任何分支上的{ROW_KINDS[kind]}"
    return ROW_KINDS[kind] if branch == MAIN else f"分支 {branch} 的{ROW_KINDS[kind]}"


def life_born(found: FileLifetime, zone: str) -> str:
    assert found.born is not None
    who = _commit(found.born, zone)
    return who if found.is_exact else f"{who}，或在它之前：再前一次提交已不再保留，或无法读取"


def life_removed(found: FileLifetime, zone: str) -> str:
    if found.removed is not None:
        return _commit(found.removed, zone)
    return {True: LIFE_STILL_LIVE, False: LIFE_UNKNOWN_END, None: LIFE_UNKNOWN_NOW}[found.is_live]


def _commit(snapshot: Snapshot, zone: str) -> str:
    return f"快照 {snapshot.id}（{commit_kind(snapshot.kind)}），{units.moment(snapshot.time_ms, zone)}"


def life_live_hover(found: FileLifetime) -> str:
    return f"在 {escape(found.branch)} 的最新状态中有效"


def life_held(counts: Mapping[str, int]) -> str:
    parts = [f"{units.count(number)} {KIND_NOUNS[kind]}" for kind, number in counts.items() if number]
    return "、".join(parts) or "没有可读取的时间点"


def life_may_go(at_ms: int, zone: str) -> str:
    return f"不早于 {units.moment(at_ms, zone)}"


def life_may_go_later(at_ms: int, zone: str) -> str:
    return f"不早于 {units.moment(at_ms, zone)}，超出了这条时间轴"


def life_at_least(at_ms: int, zone: str) -> str:
    return f"没有日期；无论如何不早于 {units.moment(at_ms, zone)}"


def stretch_hover(each: Stretch) -> str:
    ends = f"<br>{escape(spoken(each.ends.words))}" if each.ends else ""
    return f"{escape(stretch_points(each.first.point, each.last.point, len(each.holders)))}{ends}"


def holder_hover(holder: Holder, zone: str) -> str:
    moment = holder.snapshot.time_ms if holder.snapshot else None
    return f"{escape(holder.point)}<br>{units.moment(moment, zone)}"


def stretch_points(first: str, last: str, count: int) -> str:
    return first if count == 1 else f"{first} 至 {last}（{units.count(count)}）"


def page_line(first: int, last: int, total: int) -> str:
    return f"第 {units.count(first)} 至 {units.count(last)} 项，共 {units.count(total)} 项"


def folder_line(files: int, size: int, rows: int) -> str:
    return f"{units.count(files)} 个文件，{units.size(size)}，{units.count(rows)} 行"


# 列

COLUMNS_OF_FILE = "清单对这一个文件各列的说明。"
SOME_NOT_TOLD = "有些文件没有给出：显示的只是给出者的。"
SOME_OTHER_TYPE = "有些文件的上下界属于某列已不再使用的类型：已写入，但不能按现在的类型读出。"
COLUMNS_HELP = (
    "来自清单中的统计信息，按每个文件写入时的表结构解码；不打开任何数据文件。带 ✂ 的文本可能被截断：格式只保留前 "
    "16 个字符，最大值则向上取整。被删除或被同一主键的更新版本遮盖的行仍然计入。"
)


def columns_too_many(files: int, most: int) -> str:
    return (
        f"{units.count(files)} 个文件太多，一次最多解码 {units.count(most)} 个。请在分布图中选择一个分区，或一个文件。"
    )


def told_by(found: Bounds) -> str:
    return (
        "全部文件"
        if found.told == found.files
        else f"{units.count(found.files)} 个文件中的 {units.count(found.told)} 个"
    )


def nulls(found: Bounds) -> str:
    if found.nulls is None:
        return NOT_WRITTEN
    return units.count(found.nulls) if found.counted == found.files else f"≥ {units.count(found.nulls)}"


def cut(text: str) -> str:
    return f"{text} ✂"


ALL_NULL = "全为空"
OTHER_TYPE = "已写入，但不是此类型"

# 健康

HEALTH_SMALL = "小文件"
HEALTH_PER_PLACE = "每桶文件数"
HEALTH_PER_PARTITION = "每分区文件数"
HEALTH_SKEW = "倾斜"
HEALTH_RUNS = "有序段"
HEALTH_DELETES = "删除的行"
HEALTH_HELPS_NOT = "这里没有什么需要合并。"
HEALTH_PARTITIONS = "按小文件数排列的分区"
HEALTH_COMPACT = "把许多小文件变成少数大文件："
HEALTH_NOT_LATEST = "这些数字属于所显示的时间点；合并作用于最新状态。"


def place(found: Bucket | None) -> str:
    if found is None:
        return "—"
    where = found.partition or EVERYTHING
    return where if found.bucket is None else f"{where}，桶 {found.bucket}"


def small_value(found: Health) -> str:
    return f"{units.count(found.files)} 个中的 {units.count(found.small_files)} 个"


def small_rule(found: Health) -> str:
    return (
        f"小于 {units.size(found.small.below_bytes)}：目标大小 {units.size(found.small.target_bytes)} 的 "
        f"{found.small.ratio:g}"
    )


def per_place_value(found: Health) -> str:
    if found.median_files is None or found.fullest is None:
        return "—"
    return f"最多 {units.count(found.fullest.amount)}"


def per_place_rule(found: Health) -> str:
    return "—" if found.median_files is None else f"中位 {found.median_files:,.4g}；最多的是 {place(found.fullest)}"


def skew_value(found: Health) -> str:
    return "—" if found.skew is None else f"{found.skew:,.2f} ×"


def skew_rule(found: Health) -> str:
    largest = found.largest.amount if found.largest else None
    median = None if found.median_bytes is None else round(found.median_bytes)
    return f"{place(found.largest)}：{units.size(largest)}，中位为 {units.size(median)}"


def runs_value(found: Health) -> str:
    return "—" if found.runs is None else f"最多 {units.count(found.runs.amount)}"


def runs_rule(found: Health) -> str:
    level0 = units.count(found.level0 or 0)
    return f"{place(found.runs)}；到 {units.count(found.trigger)} 时应合并。第 0 层有 {level0} 个文件"


def deletes_value(found: Health) -> str:
    if found.delete_rows is None:
        return NOT_WRITTEN
    return "—" if found.delete_ratio is None else f"{found.delete_ratio:.1%}"


def deletes_rule(found: Health) -> str:
    told = "并非每个文件都给出" if found.delete_rows is None else f"{units.count(found.delete_rows)} 行"
    equality = f"，另有 {units.count(found.equality_deletes)} 条等值删除" if found.equality_deletes else ""
    return f"去除行的记录：{told}{equality}；文件中共 {units.count(found.rows)} 行"


# 数字如何得出

_MANIFESTS = "该时间点的快照、标签或分支所列的清单。不打开任何数据文件。"
HOW_MAP = Rule(
    "分布图",
    "该时间点有效的数据文件，按分区和桶。",
    _MANIFESTS,
    "每块面积是其下字节数之和。最小的合为一块；表格中逐一列出。",
    "字节，按十进制单位显示：1 kB 是 1,000 字节。悬停可见精确数字。",
)
HOW_LIFE = Rule(
    "一个文件的一生",
    "列出该文件的快照、标签、分支和 changelog，每段之间没有缺口。",
    "每个分支的每个时间点的清单。",
    "诞生：这条线上第一个使它有效的提交；移除：最后一个之后的第一个提交。何时可删除，取决于按表自己的选项和时间最后才到期的占用者；"
    "取决于尚未发生的提交时，不给出日期。",
    "时间点；时间是提交的时间。",
)
HOW_COLUMNS = Rule(
    "列",
    "所选文件中每一列的最小值、最大值和空值数。",
    "清单中的统计信息（Paimon：_VALUE_STATS 和 _KEY_STATS；Iceberg：lower_bounds、upper_bounds、null_value_counts）。",
    "按文件写入时的表结构解码，按列 id 对应。未写入的如实说明，绝不显示为 0。"
    "文本可能在 16 个字符处截断，或在表的选项所定的更短处。",
    "值与列相同；行。",
)
HOW_HEALTH = Rule(
    "健康",
    "该时间点有效的数据文件。",
    f"{_MANIFESTS}以及该时间点自己的选项。",
    "小文件：引擎的合并会处理的文件（Paimon：target-file-size 乘以 compaction.small-file-ratio；Iceberg："
    "write.target-file-size-bytes 乘以 0.75）。倾斜：最大的桶与中位的桶之比。"
    "有序段：桶中第 0 层的每个文件和其他每一层。"
    "删除的行：撤回记录和删除向量（Iceberg：位置删除），与文件中的行数相比。",
    "文件、字节、行。",
)


def health_compact_by(engine: str) -> str:
    return f"由 {engine} 自己的引擎把许多小文件变成少数大文件："
