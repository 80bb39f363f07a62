"""谁可以进入、为谁打开哪些位置：在任何页面之前所说的话。"""

from __future__ import annotations

REFUSED = "拒绝访问"
REFUSED_SECRET: tuple[str, ...] = (
    "请打开 `snapscope serve` 启动时打印的地址：它以 `?token=…` 结尾。之后此浏览器保持登录，直到它关闭或服务器停止。",
    "每次启动都会打印新的地址，之前的地址不再有效。",
)
REFUSED_FOREIGN: tuple[str, ...] = (
    "此请求来自另一个网站或程序。",
    "如果你点了一个链接，请从这里再次打开。任何地址都不会改动表。",
)
REFUSED_AGAIN = "再次打开此地址"


def refused_host(host: str, own: str) -> tuple[str, ...]:
    asked = f"`{host}`" if host else "空主机名"
    return (
        f"此服务器只应答 `{own}`；请求的是 {asked}。",
        "请打开 `snapscope serve` 打印的地址。若其端口经过转发，请用 `--allow-host NAME:PORT` 启动，名称和端口与浏览器"
        "地址栏中的一致。",
    )


UNGUARDED = "请用 snapscope serve 启动"
UNGUARDED_NEXT = (
    "此服务器是由 `streamlit run` 启动的，此浏览器中打开的任何网站都可能使用它。请停止它，然后运行 "
    "`snapscope serve PLACE`，它会打印带密钥的地址。"
)

OPEN_TITLE = "打开这个位置？"
OPEN_WHY = (
    "此链接所指的位置不是这台服务器启动时给出的。尚未读取其中任何内容。打开它会使用服务器运行者的文件和凭据："
    "只有信任此链接时才打开。"
)
OPEN_INSTEAD = "前往已提供的仓库"


def open_place(place: str) -> str:
    return f"打开 {place}"
