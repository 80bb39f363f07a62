"""每个数字是怎样算出来的：数的是什么，从哪里读，按什么规则，用什么单位。"""

from __future__ import annotations

from dashboard.present.words.how import Rule

RULE_PARTS = ("数的是", "读自", "规则", "单位")

_BYTES = "字节，以十进制单位显示：1 kB 是 1,000 字节。悬停可见精确值。"
_ROWS = "文件中的行：主键合并和删除向量之前。"
_MANIFESTS = "该时间点的快照、标签或分支所指的清单。不打开任何数据文件。"
_REFERENCES = "snapshot/、tag/、branch/ 中的文件（Iceberg：当前的 metadata.json），这次运行中刚读过。"
_HELD = "Snapscope 的区段：在每个分支上，从第一个把文件列为有效的时间点到最后一个，文件都被持有。"
_ALL_MANIFESTS = "任何时间点所指的全部清单列表和清单。"

HOW_OVERVIEW_NAMES = Rule(
    "快照、标签、分支",
    "所有分支上仍保留的快照，以及保留其他快照的名称。",
    _REFERENCES,
    "靠列目录，不靠提示文件：有什么就数什么。",
    "快照和名称的个数。",
)
HOW_LIVE = Rule(
    "有效",
    "读取 main 最新快照时会打开的数据文件。",
    _MANIFESTS,
    "该快照的 base 和 delta 列表中已加入而未删除的条目。清单读不了时显示 ≥。",
    _BYTES,
)
HOW_ONLY_HISTORY = Rule(
    "只有历史持有",
    "除了较旧的快照、标签、变更日志和分支以外，没有谁持有的各类文件。",
    _MANIFESTS,
    f"{_HELD}从有人持有的文件里去掉 main 最新快照持有的。",
    _BYTES,
)
HOW_ROWS = Rule(
    "行数",
    "快照的有效文件中的行。",
    "快照自己的 totalRecordCount（Iceberg：摘要中的 total-records）。",
    "写入者自己的计数；完整读取表时会与清单核对。",
    _ROWS,
)
HOW_TIMELINE = Rule(
    "时间线",
    "每个保留的快照、标签和分支各一个记号，位于提交的时刻。",
    _REFERENCES,
    "横向位置是提交者自己的时钟（timeMillis、timestamp-ms）；一条泳道是一个分支。",
    "1970 年以来的毫秒，按所选时区显示。",
)
HOW_TREND = Rule(
    "每个时间点的行、文件、字节",
    "读取该时间点时会打开的内容。",
    f"{_MANIFESTS}行数取自快照本身。",
    "每个时间点的有效文件：已加入而未删除的条目。读不完整的时间点略去。",
    f"行、文件、字节。{_ROWS}",
)
HOW_DUE = Rule(
    "自行到期的",
    "下一次按表自己的选项过期时会被删去的时间点。",
    "分支的 snapshot.* 选项（Iceberg：history.expire.* 和每个引用自己的选项）、标签自己的期限。",
    "引擎的过期规则（Paimon 2.0、Iceberg 1.11），从侧栏所示的时刻算起。",
    "时间点的个数。",
)
HOW_ASOF = Rule(
    "答案",
    "按该时间、编号或名称读取的人所看到的那一个快照。",
    _REFERENCES,
    "时间：提交时刻不晚于它的保留快照中编号最大的（Iceberg：按 snapshot-log，main 当时指向的）。"
    "标签从不回答时间。旁边另按引擎自己的查找走一遍。",
    "时间：1970 年以来的毫秒，按所选时区显示。",
)
HOW_DIFF = Rule(
    "新增和移除",
    "在 B 有效而在 A 无效的文件，以及反过来的文件，连同其中的行。",
    _MANIFESTS,
    "比较的是有效文件的集合，不是提交之和：中途来了又走的文件两边都没有。仅由合并重写的另计。",
    f"文件、字节、行。{_ROWS}",
)
HOW_DIFF_PARTITIONS = Rule(
    "按分区",
    "同样的文件，归入清单条目所写的分区和桶。",
    _MANIFESTS,
    "精确求和：各行加起来就是上面的总数。",
    _BYTES,
)
HOW_FREED = Rule(
    "释放",
    "某个将删除的时间点持有，而任何分支上其余的时间点、标签和变更日志都不持有的文件。",
    _ALL_MANIFESTS,
    _HELD,
    _BYTES,
)
HOW_KEPT = Rule(
    "仍被持有",
    "将删除的时间点持有，而某个留下的时间点也持有的文件。",
    "同样的清单。",
    "释放之外的其余部分。",
    _BYTES,
)
HOW_TAGS_KEEP = Rule(
    "仅由标签保留",
    "在将删除的时间点所持有的文件中：留下的快照都不持有，但有标签持有的。",
    "同样的清单。",
    _HELD,
    _BYTES,
)
HOW_VERDICTS = Rule(
    "将删除的时间点",
    "表的全部时间点中，这次改动会移除的。",
    _REFERENCES,
    "第一条要保留该时间点的规则说了算：最新 N 个、时长、消费者、标签、分支。下面逐点写明。",
    "时间点的个数。",
)
HOW_CURVE = Rule(
    "每种保留数",
    "对每个 N，保留本分支最新 N 个快照会释放多少；标签、分支和变更日志都留下。",
    _ALL_MANIFESTS,
    f"{_HELD}每个 N 都与同样数目的计划是同一个问题，一次全部算出。",
    _BYTES,
)
HOW_HOLDERS = Rule(
    "谁持有这些字节",
    "按持有者名称的确切集合分组的文件；每个文件只在一行里。",
    _ALL_MANIFESTS,
    f"{_HELD}一行中的名称全部去掉后，其字节才会释放。各行加起来是整张表。",
    _BYTES,
)
HOW_DROPS = Rule(
    "最值得删的标签",
    "对每个标签数目，其余不变时删掉后释放最多的一组。",
    _ALL_MANIFESTS,
    "在区段上做动态规划，每个答案再精确计算一遍。Iceberg：没有这些标签时，下一次过期才会释放的。",
    _BYTES,
)
HOW_TAG_COST = Rule(
    "现在释放",
    "只有这一个标签持有的文件。",
    _ALL_MANIFESTS,
    "同一快照上的两个标签各自都释放不了什么，所以这些数字不能相加。",
    _BYTES,
)
HOW_TAG_LATER = Rule(
    "按策略过期之后",
    "每个分支按自己的选项删去现在该删的之后，只有这个标签会持有的文件。",
    "同样的清单；各分支的 snapshot.* 选项（Iceberg：history.expire.* 和每个引用自己的选项）。",
    "按下一个写入者会执行的方式过期，再问与“现在释放”相同的问题。",
    _BYTES,
)
HOW_AUTO_TAGS = Rule(
    "自动标签",
    "按表自己的 tag.* 选项现在该创建的标签，以及接下来的。",
    "当前模式的选项，以及快照的提交时刻和水位线。",
    "Paimon 2.0 自己的规则，逐个快照执行。",
    "标签的个数。",
)
