"""每一页的第一行，以及侧栏所知的本次会话。"""

from __future__ import annotations

COPY_LINK = "复制链接"
COPY_LINK_HELP = "复制的正是这个视图的地址：表、时间点、时区以及所有设置。"
COPIED = "已复制"
RECENT = "最近打开"
ZONE_HINT = "选一个时区，或输入：Asia/Kolkata"


def zone_unknown(name: str) -> str:
    return f"没有时区 {name!r}：请输入 Asia/Kolkata 这样的名称。"


def of_database(name: str) -> str:
    return f"{name} 中的表。"


ALL_TABLES = "显示所有表"
