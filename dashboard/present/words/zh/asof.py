"""时间旅行：某一时刻的读者看到的是哪个快照。"""

from __future__ import annotations

from dashboard.present import units
from dashboard.present.words.zh.told import spoken

ASOF_INPUT = "时间或时间点"
ASOF_PLACEHOLDER = (
    "2026-11-01 08:00、time:2026-11-01T00:00:00Z、tag:v1、12、latest~3、branch:dev、watermark:1700000000000"
)
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
