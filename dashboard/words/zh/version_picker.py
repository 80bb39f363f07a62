"""指定时间点：可以选什么、输入什么，以及解析成了什么。"""

from __future__ import annotations

LATEST = "latest：最新的快照"
EARLIEST = "earliest：仍保留的最旧的快照"
POINT_PLACEHOLDER = "选择一个时间点，或直接输入"
PICK_NONE = "无：清除"
POINT_HELP = (
    "快照编号、标签、分支、BRANCH/12、时间、`watermark:N`、`latest`、`earliest` 或 `latest~3`。时间可以带时区"
    "（`2026-11-01 08:00 Asia/Shanghai`、`2026-11-01T08:00+08:00`）；不带的按左侧的时区理解。"
    "`tag:NAME` 和 `branch:NAME` 总是指名称。"
)


def picked(told: str, branch: str) -> str:
    where = f"（{branch}）" if branch else ""
    return f"快照{where} {told}"


def two_names(name: str) -> str:
    return f"{name!r} 既是标签又是分支。"


def two_names_next(name: str) -> str:
    return f"请写 tag:{name} 或 branch:{name}。"


def elsewhere(branch: str, wanted: str) -> str:
    return f"这是 {branch} 的快照，而这里说的是 {wanted}。"


def elsewhere_next(wanted: str) -> str:
    return f"请选择 {wanted} 上的时间点。"
