"""时间旅行：某一时刻的读者看到的是哪个快照。"""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units
from dashboard.words.zh.told import spoken

ASOF_INPUT = "时间或时间点"
ASOF_PLACEHOLDER = (
    "2026-11-01 08:00、time:2026-11-01T00:00:00Z、tag:v1、12、latest~3、branch:dev、watermark:1700000000000"
)
ASOF_ASKED = "那时读者看到了什么？"
ASOF_TEACH = (
    "粘贴日志、故障或报表里的时间，或者指定一个时间点。答案是那一刻的读者看到的快照、为什么是它，以及它前后各是什么。"
)
ASOF_BEFORE = "之前"
ASOF_THIS = "当时"
ASOF_AFTER = "之后"
ASOF_NOTHING_BEFORE = "没有保留更早的快照。"
ASOF_NOTHING_AFTER = "没有更新的快照：这就是最新的。"
ASOF_RULE = "为什么是它"
ASOF_ENGINE = "Paimon 自己的答案"
ASOF_EXAMPLES = "例如"


def asof_gap(gap_ms: int) -> str:
    if gap_ms == 0:
        return "恰好在所问的时刻提交。"
    return f"比所问的时刻早 {units.duration(gap_ms)} 提交。"


def asof_engine(engine: int | None, note: str | None, ours: int) -> str:
    if note:
        return spoken(note)
    what = "没有答案" if engine is None else f"快照 {engine}"
    return f"Paimon 自己查找的结果是{what}，而不是 {ours}。"


ASOF_GAP = "间隔"
ASKED = "所问时刻"

# 时间是怎样理解的 ----------------------------------------------------------------------------------------------------

READ_AS = "理解为"
READ_ZONE = "时区"
READ_FORMS: Mapping[str, str] = {
    "iso": "从年到秒的日期时间（ISO 8601，Flink、Log4j 和 SQL 的写法）",
    "spark": "Spark 日志的一行：yy/MM/dd HH:mm:ss",
    "rfc2822": "邮件和 HTTP 的日期（RFC 2822）",
    "web": "Web 服务器日志的一行",
    "java": "Java 和 `date` 输出的日期",
    "epoch_s": "1970 年（UTC）以来的秒数，因为有 10 位数字",
    "epoch_ms": "1970 年（UTC）以来的毫秒数，因为有 13 位数字",
    "epoch_us": "1970 年（UTC）以来的微秒数，因为有 16 位数字",
    "epoch_ns": "1970 年（UTC）以来的纳秒数，因为有 19 位数字",
    "relative": "从现在起算的时间",
    "day": "以数字写日和月的日期",
}
ROUND_DOWN = "时间旅行向前取"
ROUND_DOWN_NONE = "没有：保留的快照都在此之后提交。"
ROUND_UP = "按此时间打的标签向后取"
ROUND_UP_NONE = "没有：所有快照都在此之前提交。"
ROUND_UP_ICEBERG = "main 在此之后的下一次提交。Iceberg 不能按时间打标签：请指定快照。"
IN_THE_FUTURE = "这个时间还没有到：答案是最新的快照，下一次提交后就会改变。"
TOO_EARLY = "这个时间早于所有保留的内容。向后取仍有结果；标签可能保留着更早的时间点。"


def read_zone(zone: str, named: bool) -> str:
    return f"{zone}，如原文所写" if named else f"{zone}：原文没有时区，按左侧所选的时区"


def read_moment(form: str, utc: str, ms: int) -> str:
    return f"{utc}（{ms} 毫秒），{form}"


def from_asked(gap_ms: int) -> str:
    if gap_ms == 0:
        return "正好在那时"
    return f"比所问的时刻{'早' if gap_ms > 0 else '晚'} {units.duration(abs(gap_ms))}"


def own_search(engine: int | None, ours: int) -> str:
    if engine == ours:
        return "Paimon 自己的查找结果相同。"
    what = "没有结果" if engine is None else f"结果是 {engine}"
    return f"Paimon 自己的查找{what}：它遇到第一个相等的时间或时钟偏差就停下。"


def from_this(id: int, gap_ms: int) -> str:
    return f"比 {id} {'早' if gap_ms >= 0 else '晚'} {units.duration(abs(gap_ms))}"
