"""体检：所需的是否齐全，不齐全时怎么办。"""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units

DOCTOR_GROUPS: Mapping[str, str] = {
    "python": "Python 及其软件包",
    "engine": "Java 与 Spark 引擎",
    "stores": "存储",
    "places": "仓库和表",
    "catalogs": "Catalog 服务",
    "state": "Snapscope 自己保存的",
    "versions": "已知哪些引擎的规则",
}
DOCTOR_LOOKING = "正在检查……"
DOCTOR_LEVELS: Mapping[str, str] = {"ok": "正常", "warning": "警告", "problem": "问题"}
DOCTOR_ABSENT = "不需要"
DOCTOR_AGAIN = "重新检查"
DOCTOR_SPARK = "启动 Spark 并提问"
DOCTOR_SPARK_HELP = "尚未运行时启动 Spark（数秒，数百 MB 内存），问它一个问题，并装入已配置的连接器。"
DOCTOR_STOPPED = "已不再等待 Spark。"
DOCTOR_HEADS = ("", "项目", "情况，怎么办")
DOCTOR_NO_PLACES = "没有打开仓库。打开的路径和地址会在这里检查。"


def doctor_verdict(problems: int, warnings: int) -> str:
    if not problems and not warnings:
        return "Snapscope 所需的都已齐全。"
    parts = [f"{units.count(problems)} 个问题"] if problems else []
    parts += [f"{units.count(warnings)} 个警告"] if warnings else []
    return f"{'，'.join(parts)}：每一项旁边都写着怎么办。"
