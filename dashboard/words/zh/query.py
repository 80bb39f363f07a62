"""查询：在某个时间点上执行 SQL，它的进度和结果。"""

from __future__ import annotations

from core.model.query_answer import QueryAnswer
from dashboard.formatting import units
from dashboard.words.explanations import Rule

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


def sql_help(name: str, before: str | None) -> str:
    text = f"一条 SELECT，或引擎存储过程的一条 CALL。所选时间点上的表是 {name}，简写为 t。"
    if before is None:
        return text
    return f"{text}第二个时间点是 {before}，即 t_before；从它到第一个时间点的改动是 t_changes。"


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


def counted_all(rows: int) -> str:
    return f"总共 {units.plural(rows, 'row')}，在同一时间点上计数。"


COUNT_ALL = "计算总行数"
COUNT_ALL_HELP = "在同一时间点上、同样的秒数之内，对这条语句运行 SELECT count(*)。"


# 编辑器旁的帮助与示例
COLUMNS = "列"
ALSO_TABLES = "还可以查询"
COLUMN_INSERT = "单击把名称写入编辑器"
COLUMN_MARKS = {"partition": "分区", "primary": "主键", "required": "非空"}
EXAMPLES_TITLE = "查询这张表当时的样子"
EXAMPLES_TEXT = (
    "在上面选择时间点，写 SQL，点“执行”或按 Ctrl+Enter：`t` 就是那个时间点上的表，不管之后发生过什么。"
    "“对比”里的第二个时间点是 `t_before`。也可以从下面的例子开始："
)
EXAMPLES = {
    "rows": "前面的行",
    "count": "各分区的行数",
    "sum": "按组汇总一个数值",
    "twice": "出现两次的键",
    "nulls": "各列的 NULL",
    "files": "各分区的文件与字节",
    "commits": "谁提交了什么",
    "before": "两个时间点的行数差在哪里",
    "changes": "两点之间改动的行",
}

# 结果
ANSWER_AT = "时间点"
ANSWER_BEFORE = "对比"
ANSWER_READ = "其中读取"
ANSWER_LIVE = "有效"
ANSWER_VIEWS = {"rows": "行", "chart": "图"}
ANSWER_VIEW = "显示方式"
EARLIER_ROWS = "前面的行"
LATER_ROWS = "后面的行"
DOWNLOAD_PARQUET = "下载 Parquet"
DOWNLOAD_HELP = (
    "结果的全部行。CSV 里，会被电子表格当作公式执行的文本（以 = + - @、制表符或回车开头）前面加了一个撇号；数字不加。"
    "Parquet 原样保存每个值和类型。"
)
CHART_KIND = "图"
CHART_KINDS = {"line": "折线", "bar": "柱", "scatter": "点"}
CHART_X = "横轴"
CHART_Y = "纵轴"
CHART_NOTHING = "结果里没有数值列，没有可画的。请计数或求和。"
QUESTION_CHANGED = "问题已经改变，上一个问题的结果已收起。点“执行”重新查询。"
NOT_NOTED = "结果是对的，但没能写入历史。"


def answer_rows(first: int, last: int, count: int, *, cut: bool) -> str:
    if cut:
        return f"前 {count:,} 行中的第 {first:,} 到 {last:,} 行；查询还有更多行"
    return f"共 {count:,} 行，这是第 {first:,} 到 {last:,} 行"


def values_cut(most: int) -> str:
    return f"超过 {most:,} 个字符的值只显示开头；CSV 和 Parquet 中是完整的"


def chart_cut(shown: int, count: int) -> str:
    return f"画出了 {count:,} 行中的前 {shown:,} 行。"


# 历史与保存的查询
ASK_MODES = {"sql": "SQL 查询", "bisect": "从何时起？", "history": "历史"}
ASK_MODE = "要问什么"
HISTORY_TITLE = "问过的"
HISTORY_EMPTY = "还没有问过什么"
HISTORY_EMPTY_NEXT = "最近 200 个有结果的查询列在这里，单击即可再次打开。"
HISTORY_HELP = "最近 200 个有结果的查询，新的在前。单击一行回到它。"
HISTORY_COLUMNS = {
    "when": "时间",
    "table": "表",
    "point": "时间点",
    "sql": "SQL 语句",
    "rows": "行",
    "ms": "毫秒",
    "name": "名称",
}
SAVED_TITLE = "已保存"
SAVED_EMPTY = "在“执行”旁边起名保存一个查询，它就列在这里，所有表可用。"
SAVE = "保存"
SAVE_AS = "这个查询的名称"
SAVE_HELP = "以你起的名称保存最近执行的 SQL 和它的时间点。"
SAVE_NOTHING = "请先执行查询：保存的是执行过的内容。"
SAVED_DELETE = "删除"


def saved_as(name: str) -> str:
    return f"已保存为 {name}。"


def too_many_saved(most: int) -> str:
    return f"已保存 {most} 个查询，到了上限。请先删除一个。"


NOT_KEPT_NEXT = "请把它移出状态目录的 desk/：之后会开始一个空的。"


def not_kept(name: str) -> str:
    return f"desk 里的 {name}.json 不是原来保存的形式，因此既不读也不写它。"


def not_kept_queries(name: str) -> str:
    return f"desk 里的 {name}.json 不是一个查询列表，因此既不读也不写它。"


HOW_ANSWER = Rule(
    "行、读取的文件、用时",
    "结果的行数；语句所指时间点上的有效数据文件中，交给 Spark 的有多少。",
    "恰好是这些时间点的数据文件，各按自己时间点的表结构和选项读取。",
    "WHERE 按分区或统计能排除的文件不交给 Spark。用时从提问到最后一行。"
    "结果达到“最多行数”时可能被截断，会注明；更短的结果是完整的。",
    "行、文件、秒；字节为整个文件在磁盘上的大小：读取的文件中，Spark 只取所需的列。",
)
