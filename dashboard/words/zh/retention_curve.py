"""计划旁的实验台：每一种保留方式、谁占用了什么、最值得删的标签。"""

from __future__ import annotations

import html
from collections.abc import Sequence

from core.analysis.expiration_dates import ExpirationDate
from core.model.references import MAIN
from dashboard.formatting import units
from dashboard.words.zh.notices import listed
from dashboard.words.zh.told import spoken

LAB = "换一种选择会怎样"
LAB_CURVE = "各种保留数量"
LAB_HOLDERS = "谁占用了字节"
LAB_DROPS = "最值得删的标签"
LAB_OWN = "表自己的策略"
LAB_CURVE_HELP = (
    "对每个 N：保留这个分支最新的 N 个快照，而所有标签、分支和 changelog 都保留时，会释放的字节数，不考虑时限："
    "受时限约束的计划释放的可能更多或更少。按清单中的大小计算。"
)
LAB_HOLDERS_HELP = "每一行是一组确切的名字：只有全部删除才会释放它的文件。“live”是最新的快照，“history”是其余的快照。"
LAB_DROPS_HELP = "对每种标签个数：在其他一切不变的情况下，删除后释放最多的那几个标签。"
LAB_DROPS_LATER = (
    "对每种标签个数：没有哪几个标签，下一次按表自己的规则过期时会释放最多。删除 Iceberg 标签本身不释放任何东西。"
)
LAB_NO_CURVE = "只有一个快照或没有快照：没有可选的。"
LAB_AS_TABLE = "以表格显示"
LAB_FILES = "文件"
LAB_COUNT = "标签数"
LAB_DROP_TAGS = "删除这些"
LAB_FREES = "释放"
LAB_SETS_NOUN = "组"
LAB_HELD_BY = "恰由这些占用"
LAB_ENDS = "自动过期"
LAB_ENDS_HELP = "按这个分支自己的选项，或标签自己的期限，由下一次提交的引擎判断。"
LAB_KEEPS_ALL = "这张表的写入作业自己不会让任何东西过期。"
CALENDAR_HELP = "到每个日期为止自动释放的字节数，包含所有分支：依据表的选项和标签自己的期限。"
CALENDAR_NONE = "没有快照或标签按日期过期：会过期的都在等待新的提交或消费者。"
CALENDAR_SNAPSHOTS = "快照过期"
CALENDAR_TAGS = "标签过期"
CALENDAR_DATE = "不早于"
CALENDAR_POINTS = "过期的内容"
CALENDAR_TOTAL = "届时累计释放"
CALENDAR_NOUN = "个日期"
CURVE_X = "保留的快照数（最新的 N 个）"
NATIVE = "与 Paimon 对照"
NATIVE_SAME = "按引擎的方式一步步推算，Paimon 自己的删除也恰好会删除这些文件。"


def lab_next(branch: str, headline: str, prevented_by: Sequence[str]) -> str:
    where = "" if branch == MAIN else f"向分支 {branch} "
    told = f"与这里的计划无关，按表自己的选项，写入作业下一次{where}提交时会自动执行：{spoken(headline)}"
    return "".join([told, *map(spoken, prevented_by)])


def holders_hover(holders: str, size: int, files: int) -> str:
    return f"{html.escape(holders)}<br>{units.plural(files, 'file')}，{units.exact_bytes(size)}"


def calendar_hover(day: ExpirationDate, total: int, zone: str) -> str:
    lines = [units.moment(day.at_ms, zone), html.escape(listed(day.points))]
    lines.append(f"释放 {units.plural(day.files, 'file')}，{units.size(day.bytes)}；届时累计 {units.size(total)}")
    return "<br>".join(lines)


def curve_hover(keep: int, size: int, files: int) -> str:
    return f"保留 {units.count(keep)} 个：释放 {units.plural(files, 'file')}，共 {units.size(size)}"


def curve_chosen(keep: int) -> str:
    return f"保留 {units.count(keep)} 个"
