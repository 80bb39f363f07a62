"""出了什么问题、什么仍可使用、接下来怎么做；读取与停止。"""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units

ERROR_TITLES: Mapping[str, str] = {
    "NotFound": "找不到",
    "Invalid": "不能这样问",
    "Conflict": "表已发生变化",
    "Corrupt": "有文件无法读取",
    "Unsupported": "此处不支持",
}
ERROR_FILE = "文件"
ERROR_WORKS: Mapping[str, str] = {
    "NotFound": "其余的一切都可照常使用。",
    "Invalid": "没有改动任何东西。修改请求后再试。",
    "Conflict": "没有再改动任何东西。请查看新的状态并重新确认。",
    "Corrupt": "不需要这个文件的时间点仍可打开；需要它的合计以下界显示。",
    "Unsupported": "这张表的历史、文件、差异和计划仍可读取。",
}
ERROR_NEXT: Mapping[str, str] = {
    "NotFound": "请选择另一个。",
    "Invalid": "请更正请求。",
    "Conflict": "请点“刷新”。",
    "Corrupt": "从副本恢复该文件，或按名称放弃需要它的时间点。",
    "Unsupported": "请用这张表自己的引擎来做。",
}
UNEXPECTED = "Snapscope 自身出错"
NEXT_STEP = "怎么做"
STILL_WORKS = "仍可使用"


def unexpected(kind: str, reference: str) -> str:
    return f"一个未预料到的错误（{kind}）中断了本页。没有改动任何东西。详情见服务器日志，编号 {reference}。"


def moved(table: str) -> str:
    return f"表 {table} 已不在这里：列出之后它被移走或删除了。"


MOVED_NEXT = "点“刷新”重新列出仓库，或选择另一张表。"
READ_AGAIN = "重新读取"
STOPPED = "读取已停止。"
CANCEL = "取消"


def reading(done: int, total: int) -> str:
    return f"已读取 {units.count(done)} / {units.count(total)} 个清单"
