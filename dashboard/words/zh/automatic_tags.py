"""自动标签与 CALL：哪些已到期、下一个何时到来、一个存储过程会做什么。"""

from __future__ import annotations

from core.formats.paimon.plan.automatic_tags import AutomaticTagRules, Coming
from dashboard.formatting import units

AUTO_TAGS = "自动标签"
AUTO_DUE = "创建到期应建的标签"
AUTO_NONE_DUE = "没有到期应建的标签。"
TAGS_OVER = "期限已过的标签"
TAGS_OVER_GO = "删除它们"
AUTO_HEADS = ("下一个标签", "取自")
AUTO_AT_ONCE = "下一次提交"
CALL_NONE = "不会有任何改动。"
CALL_DRY = "这条 CALL 要求试运行：不执行任何操作。"
CALL_TEACH = "CALL 先给出计划；点下方按钮才会执行，并记入审计。"
TAG_TIME = "按时间"
TAG_TIME_HINT = "2026-11-01T00:00:00Z"
TAG_TIME_HELP = (
    "指向这个时间或之后提交的第一个快照，与引擎按时间打标签的做法相同；时间旅行到同一时间则取它之前的最后一个。"
    "留空：用旁边的快照。"
)


def auto_rules(of: AutomaticTagRules) -> str:
    if of.mode == "batch":
        return f"每次批写入之后打一个标签：{of.batch_name or 'batch-write-DATE'}。"
    clock = "watermark" if of.mode == "watermark" else "提交时间"
    delay = f"，在周期结束 {units.duration(of.delay_ms)} 之后" if of.delay_ms else ""
    kept = "" if of.retained_max is None else f"保留最新的 {of.retained_max} 个。"
    return f"按{clock}每 {units.duration(of.period_ms)} 打一个标签{delay}。{kept}"


def auto_next(each: Coming, mode: str, zone: str) -> str:
    if each.is_due:
        return AUTO_AT_ONCE
    by = "watermark 达到 " if mode == "watermark" else ""
    return f"{by}{units.moment(each.due_ms, zone)} 起的第一次提交"


def and_so_many_more(count: int) -> str:
    return f"…… 还有 {units.plural(count, 'tag')}。"
