"""从何时起：条件、探测，以及条件成立的第一个时间点。"""

from __future__ import annotations

from dashboard.words.explanations import Rule

CONDITION = "条件"
CONDITION_HELP = (
    "对整张表 t 为真或为假：count(*) > 1000、max(amount) < 0、exists(select 1 from t where …)。"
    "结果为 NULL 或读不了的算未知，绝不算假。"
)
BISECT_FROM = "从"
BISECT_FROM_NONE = "保留的最早一个"
BISECT_TO = "到"
BISECT_TO_NONE = "最新一个"
BISECT_BRANCH = "分支"
BISECT_EVERY = "逐个询问"
BISECT_RUN = "查找"
BISECT_CANCELLED = "查找已取消。"
BISECT_EMPTY = "从何时起是这样？"
BISECT_EMPTY_NEXT = (
    "写下现在为真、从前不为真的条件。先问两端，再一半一半地问："
    "1,000 个快照里，大约 12 次查询就能找到变化的那一个。例如："
)
BISECT_ASSUMED = "这里假定：条件只变真一次，之后一直为真。没有问到的时间点没有查看。"
BISECT_ALL = "每个时间点都问过了。"
BISECT_GAP = "紧挨在它之前的快照已不再保留：变化也可能发生在其中之一。"
BISECT_COLUMNS = ("时间点", "提交时间", "值", "比较的值", "用时")
BISECT_VALUES = {"true": "✓ 真", "false": "✕ 假", "unknown": "? 未知"}
BISECT_TURNED = "那里改变了什么"
BISECT_AT = "查询它"
BISECT_AS_OF = "时间旅行"
BISECT_TIMELINE = "时间线"
BISECT_BACK = "第一个时间点为真，最后一个为假：变化方向相反。请改问 not (…)。"
BISECT_NEVER = "问过的时间点都不为真。"
BISECT_UNKNOWN = "问过的时间点都没有结果；原因写在每一个旁边。"


def bisect_every_help(most: int) -> str:
    return f"查看这一段的每个时间点，不作任何假定。最多 {most} 个时间点。"


def bisect_running(elapsed_s: float, done: int, total: int, point: str) -> str:
    asked = f"大约 {total} 次探测中已答 {done} 次"
    return f"已查找 {elapsed_s:.0f} 秒：{asked}，正在 {point}" if point else f"已查找 {elapsed_s:.0f} 秒"


def bisect_turned(point: str, when: str, before: str) -> str:
    return f"从 {point} 起为真，提交于 {when}；在 {before} 为假。"


def bisect_already(point: str, when: str) -> str:
    return f"在 {point}（提交于 {when}）已经为真：它是能读的第一个时间点，之前未知。"


def bisect_unknown_between(count: int) -> str:
    return f"紧挨在它之前未知：{count} 个时间点。变化可能发生在其中任何一个。"


def bisect_contradiction(true_at: str, false_at: str) -> str:
    return f"并非只变一次：在 {true_at} 为真，在 {false_at} 又为假。"


def bisect_stat(probes: int, points: int, branch: str, seconds: float) -> str:
    return f"{branch} 上保留的 {points} 个时间点中探测了 {probes} 次，用时 {seconds:.1f} 秒。"


HOW_BISECT = Rule(
    "条件成立的第一个时间点",
    "该分支在两点之间保留的快照，以及在它们之前由标签保留的已过期快照。",
    "每次探测是一次查询，读那个时间点的文件，用那个时间点自己的表结构。",
    "先问两端，再问未定区间的中间，直到假的后面紧跟着真的。NULL 和读不了的是未知，绝不算假；"
    "有未知时，对半分最长的未问区间。",
    "每次探测的秒数，包含 Spark 的计划时间。",
)
