"""标签：每个标签保留什么、代价多少；创建、改指和删除。"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from core.model.references import Line, Tag
from dashboard.formatting import units

NO_TAGS = "没有什么固定住历史：这张表没有标签。"


def no_tags_next(horizon_ms: int | None, zone: str) -> str:
    if horizon_ms is None:
        return "标签让快照在过期之后仍可读取。可在下方创建。"
    return (
        f"没有标签，{units.moment(horizon_ms, zone)} 之前的内容就无法读取，而且每次过期都会把这条界线往后推。"
        "标签让快照在过期之后仍可读取：可在下方创建。"
    )


TAG_NAME = "名称"
TAG_POINT = "快照"
TAG_NAME_HINT = "month-2026-11"
TAG_CREATE_TEACH = "给它起个名字即可看到计划。打标签不删除任何东西。"
CREATE = "创建标签"
TAG_RETAINED = "保留时长"
TAG_RETAINED_HELP = "过了这段时间，由提交的引擎自动删除这个标签。留空：永不。"
TAG_KEPT_HELP = "已填入标签自己的期限，从改指时起算。期限过后，由提交的引擎自动删除这个标签。留空：永不。"
TAG_RETAINED_HINT = "留空：永久；或 90d"
TAG_CREATE = "创建标签"
TAG_CHOOSE = "选一行即可打开标签、让它改指另一个快照、重命名或删除它。"
TAG_COST = "现在释放"
TAG_LATER = "策略执行后"
TAG_LATER_HELP = (
    "各分支自己的过期选项在所示时刻把该过期的都过期之后，删除这个标签会释放的字节数：标签长远来看的真实代价。"
)
TAG_VERIFY = "检查每个文件"
TAG_VERIFY_HELP = "标签创建之后，逐一检查该时间点的数据文件；缺了一个就撤销标签。"
TAG_RENAME_TO = "新名称"
TAG_REPLACE_POINT = "今后指向的快照"
TAG_COST_HELP = "只被这一个标签占用的字节数。同一快照上的两个标签单独删除都不释放，因此这些数字不能相加。"
TAG_EXPIRES_HELP: Mapping[str, str] = {
    "clock": "按创建者的时钟：Paimon 不记录时区。",
    "age": "从那时起，下一次过期会按其快照的年龄删除它。",
}


def dearest(now: tuple[str, int] | None, later: tuple[str, int] | None) -> str:
    if now is None or later is None:
        return "无法得知哪个标签占用最多：留下的内容没有全部读到。"
    first = f"{now[0]}，{units.size(now[1])}" if now[1] else "没有，任何数据都不是由单个标签独自保留的"
    second = f"{later[0]}，{units.size(later[1])}" if later[1] else "没有"
    return f"现在占用最多的标签：{first}。表自己的策略执行之后：{second}。"


NEVER = "永不"


def replace_tag(name: str) -> str:
    return f"让 {name} 指向另一个快照"


def rename_tag(name: str) -> str:
    return f"重命名 {name}"


def delete_tag(name: str) -> str:
    return f"删除 {name}：会释放什么"


def tag_expires(tag: Tag, zone: str) -> str:
    if tag.ends_ms is not None:
        return units.moment(tag.ends_ms, zone)
    return NEVER if tag.expires is None else units.wall_clock(tag.expires)


def tag_retained(retained: dt.timedelta | None) -> str:
    return "永久" if retained is None else units.duration(round(retained.total_seconds() * 1_000))


BRANCHES = "分支与回退"
BRANCH_HEADS = ("分支", "快照", "提交时间", "保留")
BRANCH_NAME = "新分支"
BRANCH_POINT = "起点"
BRANCH_REPLACE_POINT = "今后指向"
BRANCH_POINT_HELP = "快照、标签或分支；也可以输入时间或 latest~2。"
BRANCH_LEAST = "保留最新的"
BRANCH_SNAPSHOT_AGE = "快照保留"
BRANCH_AGE = "分支保留"
ROLLBACK_POINT = "main 回到"
ROLLBACK_SET = "也可到非祖先的快照"
ROLLBACK_SET_HELP = "这样 main 可以指向表的任意快照，与 Iceberg 的 set_current_snapshot 相同。"
BRANCH_FORMS: Mapping[str, str] = {
    "create": "创建分支",
    "replace": "改变分支的指向或保留方式",
    "rename": "重命名分支",
    "forward": "把 main 快进到某个分支",
    "rollback": "回滚",
    "delete": "删除分支",
    "consumer": "重置流式消费者",
}
BRANCH_TEACH: Mapping[str, str] = {
    "create": "给它起个名字即可看到计划。创建分支不删除任何东西。",
    "replace": "选择一个分支，以及它指向哪里或保留什么。",
    "rename": "选择一个分支和它的新名称。",
    "forward": "选择一个从 main 当前位置继续往前的分支。",
    "rollback": "选择一个时间点，看看会落下什么。",
    "delete": "选择分支，看看什么将不再被占用。",
    "consumer": "选择一个消费者；不指定快照则将其忘记。",
}
BRANCH_CUT_HELP = "main 的一个标签。留空：没有任何快照的分支，带有表的各版表结构。"
ROLLBACK_DESTROYS = "删除之后的一切"
ROLLBACK_DESTROYS_HELP = "关：新快照取得旧内容，一切保留。开：与 Paimon 的回滚一样，删除更新的快照及其标签。"
ORPHAN_HEADS = ("文件", "类型", "字节")
CONSUMER = "消费者"
CONSUMER_NEXT = "下一个读取"
CONSUMER_HELP = "它从哪个快照开始。正在运行的消费者自己记着位置，并会写回来。"


def rollback_point(branch: str) -> str:
    return f"{branch} 回到"


def branch_holds(line: Line) -> str:
    return f"{units.plural(len(line.snapshots), 'snapshot')}，{units.plural(len(line.tags), 'tag')}"


def held_by_nothing(files: int) -> str:
    return f"{units.plural(files, 'file')}届时不被任何东西占用：留作孤儿文件"


def branch_keeps(least: int | None, snapshots_ms: int | None, own_ms: int | None) -> str:
    told = [] if least is None else [f"最新的 {least} 个"]
    told += [] if snapshots_ms is None else [f"快照保留 {units.duration(snapshots_ms)}"]
    told += [] if own_ms is None else [f"自身保留 {units.duration(own_ms)}"]
    return "，".join(told) or "按表的设置"
