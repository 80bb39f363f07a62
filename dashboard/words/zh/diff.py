"""差异：两个时间点之间的文件、行、表结构和提交；长表格的列名。"""

from __future__ import annotations

from collections.abc import Mapping

from core.model.row_diff import RowDiff
from dashboard.formatting import units
from dashboard.words.zh.retention import GOES

DIFF_TEACH = "点选两个时间点：先点的是 A（之前），后点的是 B（之后）。"
DIFF_PICK_A = "在时间线上点选第一个时间点 A，或在下方选择。"
DIFF_PICK_B = "现在点选第二个时间点 B。"
POINT_A = "A（之前）"
POINT_B = "B（之后）"
SWAP = "⇄"
SWAP_HELP = "对调 A 和 B：新增变为移除。"
HIDE_COMPACTION = "隐藏合并"
HIDE_COMPACTION_HELP = "只是重写已有行的文件与真正的改动分开显示。"
BY_PARTITION = "按分区和桶"
FILES = "文件"
SCHEMA_OPTIONS = "表结构、选项、统计信息"
COMMITS = "其间的提交"
SAME_POINT = "A 和 B 指向同一内容：没有差异。"
NO_FILE_CHANGE = "A 与 B 之间没有不同的数据文件。"
ONLY_COMPACTION = "只发生了合并：文件被重写，没有增加或移除任何行。"
ALL_COMPACTED = "所有不同的文件都因合并而来或而去。A 与 B 之间写入的行就在这些文件里：“行级改动”会指出是哪些。"
NO_SCHEMA_CHANGE = "两个时间点的列、选项和统计信息都相同。"
NET = "净变化"
ROWS_NOUN = "行"
ROW = "行"
FILE = "个文件"
NONE_OF: Mapping[str, str] = {"added": "没有新增文件", "removed": "没有移除文件"}
WHOLE_TABLE = "（整张表）"
PARTITIONS = "个分区"
TREE_HEADS = ("分区和桶", "文件", "新增", "行", "文件", "移除", "行")
TREE_COLUMNS: Mapping[str, str] = {
    "partition": "分区",
    "bucket": "桶",
    "added_files": "新增文件",
    "added_bytes": "新增字节",
    "added_rows": "新增行",
    "removed_files": "移除文件",
    "removed_bytes": "移除字节",
    "removed_rows": "移除行",
}
DIFF_AS_TABLE = "以表格显示"
CHOOSE_A_FILE = "选择一个文件，看谁带来了它、谁移除了它、什么还保留着它。"
SIDES: Mapping[str, str] = {"added": "+ 新增", "removed": "− 移除"}
CHANGES: Mapping[str, str] = {"data": "数据", "compaction": "合并", "deletes": "删除标记有变"}


def bucket(number: int | None) -> str:
    if number is None:
        return "—"
    return str(number) if number >= 0 else "postpone（延迟分桶）"


def compaction_stat(before: int, after: int, before_bytes: int, after_bytes: int, carried: int) -> str:
    sizes = f"{units.size(before_bytes)} → {units.size(after_bytes)}"
    text = f"合并 {units.count(before)} → {units.plural(after, FILE)}，{sizes}"
    return text + (f"，其中 {units.signed_plural(carried, ROW)}" if carried else "")


def hidden_rows(carried: int) -> str:
    return (
        f"隐藏的合并文件里有 {units.signed_plural(carried, ROW)}，是在 A 与 B 之间写入、在 B 之前合并的。"
        "显示合并即可看到所有的行。"
    )


def capped_tables(shown: int, total: int) -> str:
    return f"显示 {units.count(total)} 张表中的前 {shown} 张。搜索可找到其余的。"


def capped(shown: int, total: int, what: str) -> str:
    return f"显示 {units.count(total)} {what}中的前 {units.count(shown)}；下载的文件里是全部。"


ROW_CHANGES = "行级改动"
COMPARE_ROWS = "比较行"
COMPARE_ROWS_HELP = "通过 Spark 比较：有主键按主键，否则按整行并计数。两个时间点共有的文件不读取。"
COMPARING_CANCELLED = "比较已取消。"
NO_ROW_CHANGE = "A 与 B 之间没有不同的行。"
ROW_CHANGES_NAME = "row-changes"
ROW_SIDES: Mapping[str, str] = {"added": SIDES["added"], "removed": SIDES["removed"], "changed": "± 修改"}
TIMES = "次数"
NULL = "null"


def row_count(count: int, side: str) -> str:
    return f"{units.count(count)} {side}"


def rows_unchanged(count: int) -> str:
    return f"{units.count(count)} 行未变"


def became(before: str, after: str) -> str:
    return f"{before} → {after}"


def rows_note(found: RowDiff) -> str:
    read = f"读取 {units.plural(found.files_live, FILE)}中的 {units.count(found.files_read)} 个"
    return f"从 {found.a.point} 到 {found.b.point}：{read}，用时 {found.seconds:.1f} 秒，由 {found.engine} 完成。"


def rows_capped(shown: int) -> str:
    return f"按顺序显示不同的前 {units.plural(shown, ROW)}；上方的合计是全部。"


def sentence(text: str) -> str:
    return f"{text}。"


BACKWARDS = "B 早于 A：“新增”是 A 没有而 B 曾有的。对调即可按时间顺序阅读。"

COMMIT_COLUMNS: Mapping[str, str] = {
    "snapshot": "快照",
    "kind": "提交",
    "committed": "提交时间",
    "ago": "多久以前",
    "delta": "行",
    "user": "提交用户",
}
COMMITS_NOUN = "次提交"
SETTING_OF = "对象"
SETTING = "改变了什么"
SETTING_COLUMN = "列"
SETTING_OPTION = "选项"
SETTING_STATISTICS = "统计信息"
NOT_COUNTED = "未统计"
CHANGES_NOUN = "处改变"
ROW_KINDS_SHOWN = "显示的改变种类"
ROW_KINDS_HELP = "只显示这些种类的行；一个都不选则全部显示。"
NO_ROW_OF_KIND = "所显示的行中没有这一种。上面的总数包括全部。"
NO_COMMITS_BETWEEN = "在同一个分支上，A 与 B 之间没有保留着的快照。"
FILES_NOUN = "个文件"
POINTS_NOUN = "个时间点"
CHANGE_HELP = "合并：由一次 COMPACT 提交带来，或被它移除，而其中的行仍在别的文件里。"
BYTES_HELP = "已取整；点击单元格可看到准确的字节数。"
COLUMN: Mapping[str, str] = {
    "side": "方向",
    "path": "文件",
    "partition": "分区",
    "bucket": "桶",
    "bytes": "大小",
    "rows": "行数",
    "level": "层级",
    "change": "原因",
    "point": "时间点",
    "verdict": "判定",
    "reasons": "理由",
    "committed": "提交时间",
    "kind": "类型",
    "tag": "标签",
    "snapshot": "快照",
    "standing": "状态",
    "expires": "到期",
}


def life_of(name: str) -> str:
    return f"{name} 的一生"


# 长表格里按含义着色的单元格。
HUES: Mapping[str, str] = {
    GOES: "freed",
    SIDES["added"]: "added",
    SIDES["removed"]: "removed",
    CHANGES["compaction"]: "compaction",
}
