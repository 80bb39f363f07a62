"""谁可以进入、为谁打开哪些位置：在任何页面之前所说的话。"""

from __future__ import annotations

OPEN_TITLE = "打开这个位置？"
OPEN_WHY = (
    "此链接所指的位置不是这台服务器启动时给出的。尚未读取其中任何内容。打开它会使用服务器运行者的文件和凭据："
    "只有信任此链接时才打开。"
)
OPEN_INSTEAD = "前往已提供的仓库"


def open_place(place: str) -> str:
    return f"打开 {place}"
