"""每个数字如何得来：数的是什么、读自哪里、按什么规则、用什么单位。"""

from __future__ import annotations

from dashboard.words.explanations import Rule

RULE_PARTS = ("数的是", "读自", "规则", "单位")

_BYTES = "字节，以十进制单位显示：1 kB 为 1,000 字节。悬停可看到准确的数字。"
_ROWS = "文件中的行数：未按主键合并，也未应用 deletion vector。"
_MANIFESTS = "该时间点的快照、标签或分支所指的清单。不打开任何数据文件。"
_ALL_MANIFESTS = "任一时间点所指的所有清单列表和清单。"
_REFERENCES = "snapshot/、tag/ 和 branch/ 中的文件（Iceberg：当前的 metadata.json），每次刷新都重新读取。"
_HELD = "Snapscope 的区间：在每个分支上，从第一个把文件列为有效的时间点到最后一个，文件都被占用。"

HOW_OVERVIEW_NAMES = Rule(
    "快照、标签、分支",
    "任一分支上保留着的快照，以及保留其他快照的名字。",
    _REFERENCES,
    "靠列举目录，从不靠 hint 文件：有什么就数什么。",
    "快照数和名字数。",
)
HOW_LIVE = Rule(
    "有效",
    "读取 main 最新快照时要打开的数据文件。",
    _MANIFESTS,
    "该快照的 base 和 delta 清单列表中，已添加而未删除的条目。有清单无法读取时显示 ≥。",
    _BYTES,
)
HOW_ONLY_HISTORY = Rule(
    "仅历史占用",
    "只被更早的快照、标签、changelog 和分支占用的各类文件。",
    _MANIFESTS,
    f"{_HELD}从所有被占用的文件中减去 main 最新快照占用的。",
    _BYTES,
)
HOW_ROWS = Rule(
    "行数",
    "该快照有效文件中的行数。",
    "快照自己的 totalRecordCount（Iceberg：摘要中的 total-records）。",
    "写入者自己的计数；完整读取一张表时会与清单核对。",
    _ROWS,
)
HOW_TIMELINE = Rule(
    "时间线",
    "每个保留着的快照、标签和分支各一个标记，位于其提交时刻。",
    _REFERENCES,
    "横向位置取提交者自己的时钟（timeMillis、timestamp-ms）；一条泳道是一个分支。",
    "1970 年以来的毫秒数，按所选时区显示。",
)
HOW_TREND = Rule(
    "各时间点的行数、文件、字节",
    "读取该时间点时要打开的内容。",
    f"{_MANIFESTS}行数取自快照本身。",
    "每个时间点的有效文件：已添加而未删除的条目。无法完整读取的时间点不画出。",
    f"行、文件、字节。{_ROWS}",
)
HOW_DUE = Rule(
    "自动过期的",
    "按表自己的选项，下一次过期会删除的时间点。",
    "分支的 snapshot.* 选项（Iceberg：history.expire.* 和各引用自己的设置），标签自己的期限。",
    "引擎的过期规则（Paimon 2.0、Iceberg 1.11），从侧栏所示时刻算起。",
    "时间点。",
)
HOW_ASOF = Rule(
    "答案",
    "按那个时间、id 或名字读取时看到的唯一快照。",
    _REFERENCES,
    "按时间：在该时间或之前提交的、保留着的最大 id（Iceberg：按 snapshot-log，main 当时所指的）。"
    "标签从不回答时间。引擎自己的查找过程在旁边推演。",
    "时间：1970 年以来的毫秒数，按所选时区显示。",
)
HOW_DIFF = Rule(
    "新增与移除",
    "在 B 有效而在 A 无效的文件，以及反过来的，连同其中的行数。",
    _MANIFESTS,
    "比较的是有效文件的集合，不是各次提交之和：其间来了又去的文件两边都不算。仅由合并重写的分开计数。",
    f"文件、字节、行。{_ROWS}",
)
HOW_DIFF_PARTITIONS = Rule(
    "按分区",
    "同样的文件，各归入其清单条目所写的分区和桶。",
    _MANIFESTS,
    "准确的合计：各行相加等于统计行。",
    _BYTES,
)
HOW_ENDED = Rule(
    "结束",
    "提交之后，该分支最新时间点上不再有的有效文件。",
    "该分支最新快照的 manifest。",
    "它们都不会被删除：有它们的时间点会保留它们，直到一次过期发现没有任何时间点占用它们。",
    _BYTES,
)
HOW_FREED = Rule(
    "释放",
    "被某个将删除的时间点占用、而不被任何分支、标签或 changelog 上留下的时间点占用的文件。",
    _ALL_MANIFESTS,
    _HELD,
    _BYTES,
)
HOW_KEPT = Rule(
    "保留",
    "被某个留下的时间点占用的各种文件：将删除的时间点也占用的，以及其余全部。",
    "同样的清单。",
    "加上将释放的，就是此前各时间点占用的全部。",
    _BYTES,
)
HOW_TAGS_KEEP = Rule(
    "仅由标签保留",
    "在将删除的时间点所占用的之中：不被任何留下的快照占用、却被某个标签占用的文件。",
    "同样的清单。",
    _HELD,
    _BYTES,
)
HOW_VERDICTS = Rule(
    "将删除的时间点",
    "这项修改会删除的时间点，以及表的全部时间点数。",
    _REFERENCES,
    "由第一条保留该时间点的规则决定：最新 N 个、时限、消费者、标签、分支。下方逐个时间点写明。",
    "时间点。",
)
HOW_CURVE = Rule(
    "各种保留数量",
    "对每个 N，保留这个分支最新的 N 个快照会释放什么；标签、分支和 changelog 都保留。",
    _ALL_MANIFESTS,
    f"{_HELD}每个 N 与用这个数做计划是同一个问题，只是一次全部算出。",
    _BYTES,
)
HOW_HOLDERS = Rule(
    "谁占用了字节",
    "按恰好占用它们的一组名字归类的文件；每个文件只在一行。",
    _ALL_MANIFESTS,
    f"{_HELD}只有一行的名字全部删除，它的字节才会释放。各行相加等于整张表。",
    _BYTES,
)
HOW_DROPS = Rule(
    "最值得删的标签",
    "对每种标签个数，在其他一切不变时，删除后释放最多的一组。",
    _ALL_MANIFESTS,
    "在区间上做动态规划，每个答案再准确计数一遍。Iceberg：只有没有它们，下一次过期才会释放的。",
    _BYTES,
)
HOW_CALENDAR = Rule(
    "日历",
    "最后一个占用者会按日期过期的文件；在等待提交、消费者或永久保留的，仍占用它们的文件。",
    f"{_ALL_MANIFESTS}表的选项，以及每个标签自己的期限。",
    f"{_HELD}一个文件的占用者中最晚的日期就是它的日期。日期是“不早于”：此后下一次提交的写入作业才会删除。",
    _BYTES,
)
HOW_TAG_COST = Rule(
    "现在释放",
    "只被这一个标签占用的文件。",
    _ALL_MANIFESTS,
    "同一快照上的两个标签单独删除都不释放，因此这些数字不能相加。",
    _BYTES,
)
HOW_TAG_LATER = Rule(
    "策略执行后",
    "各分支自己的选项把现在该过期的都过期之后，只被这个标签占用的文件。",
    "同样的清单；各分支的 snapshot.* 选项（Iceberg：history.expire.* 和各引用自己的设置）。",
    "按下一个写入者会执行的方式过期，再问与“现在释放”同样的问题。",
    _BYTES,
)
HOW_AUTO_TAGS = Rule(
    "自动标签",
    "按表自己的 tag.* 选项现在到期应建的标签，以及接下来的几个。",
    "当前表结构的选项，以及各快照的提交时间和 watermark。",
    "Paimon 2.0 自己的规则，逐个快照推算。",
    "标签。",
)
