"""关于一张表值得知道的事，一事一句。"""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.charts.time_axis import MAX_POINTS
from dashboard.formatting import units


def listed(names: Sequence[str], most: int = 6) -> str:
    return "、".join(names[:most]) + (f" 等 {len(names)} 个" if len(names) > most else "")


def no_snapshots(table: str) -> str:
    return f"{table} 还没有快照：从未向它提交过数据。"


NO_SNAPSHOTS_NEXT = "历史从第一次提交开始。请用任意 Paimon 引擎写入这张表，然后点“刷新”。"


def one_snapshot(number: str) -> str:
    return f"快照 {number} 是唯一的快照：在下一次提交之前没有可比较的对象。"


def held_by_tags(tags: Sequence[str], snapshots: Sequence[int]) -> str:
    which = "、".join(str(number) for number in snapshots[:5]) + (" …" if len(snapshots) > 5 else "")
    if len(snapshots) == 1:
        return f"快照 {which} 已过期，由标签 {listed(tags)} 保留：仍可用标签名读取。"
    return f"{len(snapshots)} 个快照（{which}）已过期，仅由 {units.plural(len(tags), 'tag')}保留。"


def twin_tags(names: Sequence[str], number: int) -> str:
    return f"标签 {listed(names)} 保留的是同一个快照 {number}：只删其中一个不会释放任何东西，全部删除才可能释放。"


def gap(first: int, last: int) -> str:
    what = f"快照 {first}" if first == last else f"快照 {first} 到 {last}"
    return (
        f"{first - 1} 与 {last + 1} 之间缺少{what}：Paimon 的时间旅行跨过这个缺口会失败，"
        "它的过期还可能删掉仍需要的文件。"
    )


def on_branch(branch: str) -> str:
    return f"（分支 {branch}）"


def many_snapshots(number: int) -> str:
    return (
        f"{units.count(number)} 个快照超过了 {units.count(MAX_POINTS)} 个点：时间线显示每段时间内有多少次提交。"
        "点击柱子可展开查看。"
    )


def lower_bound(problems: int) -> str:
    return f"{units.plural(problems, 'file')}无法读取，因此带 ≥ 的合计是下界。"
