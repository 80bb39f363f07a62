"""查询：在某个时间点上执行 SQL，它的进度和结果。"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard.present import units

if TYPE_CHECKING:
    from core.spark.query import QueryAnswer

SQL = "SQL"
QUERY_POINT = "时间点"
QUERY_BEFORE = "对比"
QUERY_OPTIONAL = "可选：第二个时间点"
ROW_CAP = "最多行数"
TIMEOUT = "最长秒数"
HOLD = "保住这个时间点一小时"
HOLD_HELP = (
    "查询开始之前给这个时间点打一个标签，以免其间因过期而消失。一小时后，由提交的引擎删除这个标签。需要打开“允许修改”。"
)
QUERY_ENGINE = "由谁读取"
QUERY_ENGINE_HELP = (
    "由谁读取时间点的行：Snapscope 通过普通 Spark，或启动本服务时指定的引擎自己的 Spark 连接器。"
    "两者读取的都是所选的那个时间点，结果会注明由谁给出。"
)
QUERY_ENGINES = {"plain": "普通 Spark", "connector": "引擎的连接器"}
RUN = "执行"
RESULT_NAME = "result"
DOWNLOAD_CSV = "下载 CSV"
NO_ROWS = "查询已执行，没有返回行。"
QUERY_CANCELLED = "查询已取消。"


def sql_help(name: str, *, has_before: bool) -> str:
    text = f"一条 SELECT，或引擎存储过程的一条 CALL。所选时间点上的表是 {name}，简写为 t。"
    if not has_before:
        return text
    return f"{text}第二个时间点是 {name}_before，即 t_before；从它到第一个时间点的改动是 t_changes。"


def running(elapsed_s: float, done: int, total: int) -> str:
    seconds = f"已执行 {elapsed_s:.0f} 秒"
    return f"{seconds}：完成 {units.count(done)} / {units.count(total)} 个任务" if total else f"{seconds}：等待 Spark"


def query_note(answer: QueryAnswer) -> str:
    rows = units.plural(answer.table.num_rows, "row")
    live = f"{units.count(answer.files_live)} 个有效文件"
    read = f"{live}" if answer.files_read is None else f"{live}中的 {units.count(answer.files_read)} 个"
    points = answer.point.point + (f" 和 {answer.before.point}" if answer.before else "")
    return f"{points} 上的 {rows}；读取 {read}，用时 {answer.seconds:.1f} 秒，由 {answer.engine} 完成。"


def left_out(what: str) -> str:
    return f"省略：{what}。"


def cut_off(shown: int) -> str:
    return f"这里只有前 {units.plural(shown, 'row')}：查询结果还有更多。请加过滤条件，或提高上限。"
