"""进行中的修改、它们的回执，以及日志。"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dashboard.present import units

if TYPE_CHECKING:
    from core.journal import Run
    from core.sweep import Receipt

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


_OUTCOMES = {
    "done": "完成：",
    "cancelled": "已取消；在此之前",
    "incomplete": "未能全部删除：",
}


RESUME = "继续"
UNDO = "撤回"
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
}
    "DropPartitions": "删除分区",
    "Truncate": "清空表",
    "Compact": "合并文件",
    "Analyze": "统计",
DELETING = ("Expire", "DeleteTags", "ReplaceTag", "DeleteBranches", "CleanOrphans")
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


def run_done(receipt: Mapping[str, Any]) -> str:
    return f"{units.plural(int(receipt['deleted']), 'file')}，释放 {units.size(int(receipt['freed_bytes']))}"


def unfinished(run: Run, started: str) -> str:
    what = CHANGE_NAMES.get(run.change_kind, run.change_kind)
    text = f"“{what}”由 {run.who} 于 {started} 开始，没有结束：{run_state(run)}。"
    return f"{text}{run.problem}" if run.problem else text


AUDIT_ALL = "所有表"
AUDIT_ALL_HELP = "也包括从这台机器对其他表所做的修改。"
AUDIT_EMPTY = "还没有从这里做过修改。"
AUDIT_EMPTY_NEXT = "在这里或命令行执行的每次打标签、过期和清理都会连同计划和回执列在这里。"
AUDIT_PICK = "选一行，即可看到它的计划、回执和删除的每个路径。"
AUDIT_ENDED = "结束时间"
AUDIT_DONE = "结果"
AUDIT_PATH_HEADS = ("已删除",)
AUDIT_POINT_HEADS = ("时间点", "判定", "理由")
AUDIT_COLUMNS: Mapping[str, str] = {
    "run": "执行",
    "started": "开始时间",
    "who": "谁",
    "change": "修改",
    "table": "表",
    "state": "状态",
    "planned": "计划",
}


def audit_exact(same: int, ended: int) -> str:
    return f"最近 {units.count(ended)} 个计划：{units.count(same)} 个分毫不差。"


def audit_export(style: str) -> str:
    return f"下载日志（{style.upper()}）"


def audit_intact(head: str) -> str:
    return f"日志的哈希链完好；链头为 {head[:16]}。"


def audit_deleted(number: int) -> str:
    return f"删除了 {units.count(number)} 个路径"


def audit_points(number: int) -> str:
    return f"{units.plural(number, 'point')}的判定"


def audit_entries(number: int) -> str:
    return f"{units.count(number)} 条日志"


def restored(number: int) -> str:
    return f"已撤回：{units.count(number)} 个引用已恢复原样。"
