"""进行中的修改、它们的回执，以及日志。"""

from __future__ import annotations

from collections.abc import Mapping

from core.execution.delete_files import Receipt
from core.execution.journal import Run
from core.model.actions import DELETING
from dashboard.formatting import units
from dashboard.words.explanations import Rule

JOB_STARTING = "正在启动"
JOB_DISMISS = "知道了"
JOB_TWICE = "这个计划已经提交过了。"
JOB_TWICE_NEXT = "请等它结束；进度显示在本页。"


def job_busy(subject: str) -> str:
    return f"{subject} 的另一项修改正在执行。"


def receipt(found: Receipt) -> str:
    if found.created and not found.deleted:
        return f"已创建 {'、'.join(found.created)}。"
    text = f"{_OUTCOMES[found.outcome]}删除了 {units.plural(len(found.deleted), 'file')}，"
    return text + f"释放 {units.size(found.freed_bytes)}。"


def carried_out(run: Run, started: str) -> str:
    """回执旁的时间、操作人与内容：看到它的人未必是按下按钮的人。"""
    return f"{started}，由 {run.who} 执行：{run.plan['headline']}"


_OUTCOMES = {
    "done": "完成：",
    "cancelled": "已取消；在此之前",
    "incomplete": "未能全部删除：",
}


RESUME = "继续"
UNDO = "撤回"
UNFINISHED_WAYS: Mapping[bool, str] = {  # by whether it can be taken back
    False: "可用命令行继续；允许修改后也可在这里继续",
    True: "可用命令行继续或撤回；允许修改后也可在这里操作",
}
CHANGE_NAMES: Mapping[str, str] = {
    "Expire": "让快照过期",
    "DeleteTags": "删除标签",
    "CreateTag": "创建标签",
    "ReplaceTag": "改指标签",
    "RenameTag": "重命名标签",
    "CreateBranch": "创建分支",
    "ReplaceBranch": "改指分支",
    "RenameBranch": "重命名分支",
    "DeleteBranches": "删除分支",
    "FastForward": "快进",
    "Rollback": "回滚",
    "ResetConsumer": "重置消费者",
    "ClearConsumers": "清除消费者",
    "CleanOrphans": "清理孤儿文件",
    "DropPartitions": "删除分区",
    "Truncate": "清空表",
    "Compact": "合并文件",
    "Analyze": "统计",
}
_STATES: Mapping[str, str] = {
    "started": "在改动任何东西之前停止",
    "references removed": "在删除任何文件之前停止",
    "sweep started": "在删除文件时停止",
    "failed": "因问题停止",
    "cancelled": "被使用者取消",
    "done": "完成",
    "undone": "已撤回",
}


def run_state(run: Run) -> str:
    return _STATES.get(run.state, run.state)


def run_done(run: Run) -> str:
    receipt = run.receipt or {}
    gone = receipt["deleted"]  # a number, or (of tags and commits) their names
    number = gone if isinstance(gone, int) else len(gone)
    if run.change_kind not in DELETING:
        return f"{units.count(number)} 个引用"
    return f"{units.plural(number, 'file')}，释放 {units.size(int(receipt['freed_bytes']))}"


def unfinished(run: Run, started: str) -> str:
    what = CHANGE_NAMES.get(run.change_kind, run.change_kind)
    text = f"“{what}”由 {run.who} 于 {started} 开始，没有结束：{run_state(run)}。"
    return f"{text}{run.problem}" if run.problem else text


AUDIT_ALL = "所有表"
AUDIT_THIS = "这张表"
AUDIT_OF = "表"
AUDIT_ANY = "全部"
AUDIT_SINCE = "从"
AUDIT_UNTIL = "早于"
AUDIT_TIME_HELP = "日期或时间，如 2026-11-01 或 2026-11-01 08:00，按左边所示的时区。"
AUDIT_TIME_HINT = "2026-11-01"
AUDIT_TEXT = "文字"
AUDIT_TEXT_HELP = "在 id、指纹、表、标签和时间点的名字、所请求的和所说明的内容中查找。"
AUDIT_TEXT_HINT = "标签、执行或表的路径"
AUDIT_EMPTY = "还没有从这里做过修改。"
AUDIT_EMPTY_NEXT = "在这里或命令行执行的每次打标签、过期和清理都会连同计划和回执列在这里。"
AUDIT_NONE_HERE = "还没有从这里修改过这张表。"
AUDIT_NONE_HERE_NEXT = "在上方选择所有表，可查看对其他表做过的修改。"
AUDIT_NONE = "没有符合这些筛选条件的执行。"
AUDIT_NONE_NEXT = "去掉一个条件，或查看所有表。"
AUDIT_PICK = "选一行，即可看到它的计划、回执和删除的每个路径。"
AUDIT_ENDED = "结束时间"
AUDIT_DONE = "已删除"
AUDIT_CREATED = "新建"
AUDIT_TOOK = "用时"
AUDIT_EXACTLY = "与计划相比"
AUDIT_COMMAND = "恰好执行这个计划的命令；表若不是当时的样子，它会拒绝"
AUDIT_FINGERPRINT = "指纹"
AUDIT_REFERENCE = "引用"
AUDIT_FATES: Mapping[bool, str] = {True: "已删除", False: "未删除"}
AUDIT_POINT_COLUMNS: Mapping[str, str] = {"point": "时间点", "verdict": "判定", "reasons": "理由"}
AUDIT_FILE_COLUMNS: Mapping[str, str] = {"path": "路径", "kind": "种类", "bytes": "字节", "fate": "结果如何"}
AUDIT_EVENT_COLUMNS: Mapping[str, str] = {"number": "序号", "at": "时间", "what": "内容", "hash": "哈希"}
AUDIT_ENTRIES_NOUN = "条目"
AUDIT_EVENTS: Mapping[str, str] = {
    "started": "计划已写下",
    "references removed": "引用已改动",
    "sweep started": "开始删除",
    "swept": "文件已删除",
    "failed": "失败",
    "cancelled": "已取消",
    "done": "完成",
    "undone": "已撤回",
}
AUDIT_OUTCOMES: Mapping[str, str] = {
    "exact": "与计划分毫不差",
    "inexact": "与计划不同",
    "ended": "完成",
    "taken back": "已撤回",
    "unfinished": "未结束",
}
AUDIT_COLUMNS: Mapping[str, str] = {
    "started": "开始时间",
    "change": "修改",
    "table": "表",
    "who": "谁",
    "outcome": "结果",
    "files": "文件",
    "bytes": "释放",
    "planned": "计划",
    "took": "用时",
    "run": "执行",
}
HOW_EXACT = Rule(
    "分毫不差的计划",
    "最近 40 次已结束且按计划删除的执行中，回执与当时显示的计划相等的次数。",
    "日志：计划在第一个效果之前写下，回执是实际删除的内容。",
    "删除的文件数与字节数都与计划相同，且没有留下任何一个。已撤回或没有结束的执行不算，不删除任何东西的修改也不算。",
    "执行次数。",
)
HOW_CHAIN = Rule(
    "哈希链",
    "整个日志的条目，包括所有表。",
    "日志本身（状态目录中的 journal.sqlite），每当它变长就重新读取。",
    "每个条目的 SHA-256 都覆盖前一个条目，每次执行的第一个条目还覆盖它的计划、文件和引用的内容："
    "无论改动、抽走还是插入，链都会断开。把链头保存在别处，就能证明它之前的一切。",
    "条目数。",
)


def audit_exact(same: int, ended: int) -> str:
    return f"最近 {units.count(ended)} 个计划：{units.count(same)} 个分毫不差（实际删除的文件与计划所示完全一致）。"


def audit_export(style: str) -> str:
    return f"整个日志（{style.upper()}）"


AUDIT_CSV = "这些执行（CSV）"


def audit_verified(entries: int, head: str) -> str:
    return f"日志已核验：{units.count(entries)} 个条目，没有断开；链头为 {head[:16]}。"


def audit_shown(shown: int, all: int) -> str:
    return f"{units.count(all)} 次执行中的 {units.count(shown)} 次"


def audit_open(number: int) -> str:
    return f"{units.count(number)} 次执行没有结束。可以继续，或撤回尚能撤回的："


def audit_files(number: int) -> str:
    return f"文件（{units.count(number)}）"


def audit_points(number: int) -> str:
    return f"时间点（{units.count(number)}）"


def audit_entries(number: int) -> str:
    return f"日志条目（{units.count(number)}）"


def audit_warnings(number: int) -> str:
    return f"警告（{units.count(number)}）"


def restored(number: int) -> str:
    return f"已撤回：{units.count(number)} 个引用已恢复原样。"
