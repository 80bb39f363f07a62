"""可以带走的报告。"""

from __future__ import annotations

REPORT_OF_TABLE = "报告（HTML）"
REPORT_OF_TABLE_HELP = (
    "表在这个时间点的状态，存成一个可以转交的文件：列、标签、分支、快照、谁占用了字节。不需要网络，也不运行任何东西；"
    "内容为英文，时间按所选时区。`snapscope report TABLE -o FILE` 生成同样的文件。"
)
REPORT_OF_DIFF = "报告（HTML）"
REPORT_OF_DIFF_HELP = (
    "这个差异，存成一个可以转交的文件：文件、分区、提交、列和选项。不需要网络，也不运行任何东西；内容为英文。"
    "`snapscope report TABLE --diff A B -o FILE` 生成同样的文件。"
)
REPORT_OF_PLAN = "供批准（HTML）"
REPORT_OF_PLAN_HELP = (
    "这个计划，存成一个可以转交的文件：什么将删除，什么留住了其余的，警告，以及恰好执行这个计划、否则拒绝的命令。"
    "不需要网络，也不运行任何东西；内容为英文。`snapscope plan … --report FILE` 生成同样的文件。"
)
