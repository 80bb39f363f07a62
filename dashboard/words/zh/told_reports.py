"""core 在报告里说的话，一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_REPORTS: Mapping[str, str] = {
    "en": "zh-CN",
    # 计划
    "{title}: {headline}": "{title}：{headline}",
    "A plan, for approval. Nothing was changed.": "待批准的计划。未作任何修改。",
    "Table": "表",
    "Change": "修改",
    "{kind}, branch {branch}": "{kind}，分支 {branch}",
    "Frees": "释放",
    "Still held": "仍被占用",
    "Points that go": "将删除的时间点",
    "{goes:,} of {all:,}": "{all:,} 个中的 {goes:,} 个",
    "Rules": "规则",
    "Judged at": "判断时刻",
    "Fingerprint": "指纹",
    "What to mind": "注意事项",
    "This plan is grave: {why}.": "这个计划影响重大：{why}。",
    "To carry it out": "如何执行",
    "This command runs exactly this plan or refuses: it plans again at the same moment, and where one reference of the "
    "table has changed since, the fingerprint is another one and nothing is touched.": (
        "这条命令恰好执行这个计划，否则拒绝：它按同一时刻重新制定计划；只要表的某个引用此后有变，"
        "指纹就会不同，什么也不会动。"
    ),
    "It asks for “{phrase}” to be typed.": "它会要求输入“{phrase}”。",
    "What goes": "删除什么",
    "goes": "删除",
    "What stays, and why": "留下什么，为什么",
    "Files that go": "将删除的文件",
    "A file goes if some going point holds it and no remaining point of any branch, tag or changelog does.": (
        "文件被某个将删除的时间点占用，且任何分支、标签、changelog 留下的时间点都不占用它时，才会删除。"
    ),
    "Held by nothing afterwards": "此后不被任何东西占用",
    "Live files that the commit ends": "提交后失效的文件",
    "References that are written": "写入的引用",
    "made": "创建",
    "The engine's own deletion, beside it": "对照：引擎自己的删除",
    "What the next commit does by itself": "下一次提交会自动做什么",
    # 差异
    "{title}: from {a} to {b}, {rows} rows in files, {bytes}": "{title}：从 {a} 到 {b}，文件中的行 {rows}，{bytes}",
    "The difference of two points, from manifests; no data was read.": "两个时间点的差异，取自清单；没有读取数据。",
    "The second point is the older one: what was added since reads as removed.": (
        "第二个时间点更早：此后新增的在这里显示为移除。"
    ),
    "From": "从",
    "To": "到",
    "Added": "新增",
    "Removed": "移除",
    "of it compaction: files": "其中合并：文件",
    "rows": "行",
    "bytes": "字节",
    "Commits between": "其间的提交",
    "Columns": "列",
    "By partition": "按分区",
    "Files added": "新增的文件",
    "Files removed": "移除的文件",
    "To see it again": "如何再次查看",
    # 表
    "{title} at {point}": "{title}，时间点 {point}",
    "{title} without any commit": "{title}，没有任何提交",
    "The state of a table, from its metadata; no data was read.": "表的状态，取自它的元数据；没有读取数据。",
    "Format": "格式",
    "Read at": "读取时刻",
    "Everything held": "占用总量",
    "What could not be read is missing from every sum here: sizes, rows and files are at least what is told (≥), and "
    "what deleting a tag frees is not told.": (
        "无法读取的内容没有计入这里的任何合计：大小、行数和文件数都是下限（≥），也不给出删除标签会释放多少。"
    ),
    "Points that cannot be read may hold some of these files, too.": "无法读取的时间点可能也占用其中一些文件。",
    "Columns (schema {id})": "列（表结构 {id}）",
    "key": "主键",
    "partition": "分区",
    "Readers": "消费者",
    "Who holds the bytes": "谁占用这些字节",
    "Each file stands in one line: that of the exact set of names that hold it.": (
        "每个文件只归入一行：恰好由这些名称共同占用的那一行。"
    ),
    "Options": "选项",
    "Partitions at {point}": "时间点 {point} 的分区",
    "To make it again": "如何再次生成",
    "At {point}": "时间点 {point}",
    "Commit": "提交",
    "Rows in files": "文件中的行",
    # 列名
    "Point": "时间点",
    "Points": "时间点数",
    "Committed": "提交时间",
    "By": "提交用户",
    "Why": "原因",
    "Kind": "种类",
    "File": "文件",
    "Files": "文件",
    "Rows": "行",
    "Rows ±": "行 ±",
    "Bytes": "大小",
    "Path": "路径",
    "Partition": "分区",
    "Bucket": "桶",
    "Id": "编号",
    "Name": "名称",
    "Type": "类型",
    "Tag": "标签",
    "Branch": "分支",
    "Head": "头",
    "Snapshot": "快照",
    "Snapshots": "快照",
    "Consumer": "消费者",
    "Reads next": "下一个读取",
    "Held by exactly": "恰好由谁占用",
    "Option": "选项",
    "Value": "值",
    "Frees now": "现在释放",
    "After the policy": "按策略过期之后",
    "Goes by itself": "何时自动到期",
    # 其他
    "(snapshot {id}, committed {at})": "（快照 {id}，提交于 {at}）",
    "{bytes:,} bytes": "{bytes:,} 字节",
    "{size} ({bytes:,} bytes)": "{size}（{bytes:,} 字节）",
    "The first {shown:,} of {all:,} {what} are listed.": "共 {all:,} 个{what}，只列出前 {shown:,} 个。",
    "points": "时间点",
    "files": "文件",
    "partitions": "分区",
    "partitions, greatest first,": "分区（按大小从大到小）",
    "references": "引用",
    "tags": "标签",
    "snapshots": "快照",
    "Snapscope {version}. Sizes in decimal units: 1 kB is 1,000 bytes. Rows as files hold them, before keys are "
    "merged. State of the table's references: SHA-256 {digest}.": (
        "Snapscope {version}。大小用十进制单位：1 kB 为 1,000 字节。行数按文件计，尚未按主键合并。"
        "表的引用状态：SHA-256 {digest}。"
    ),
}
