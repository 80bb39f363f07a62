"""core 关于查询的话：SQL、Spark、连接器。一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_QUERIES: Mapping[str, str] = {
    "The aggregate function '{name}' is not known.": "不认识聚合函数 '{name}'。",
    "A number does not fit its type {type} when it is aggregated.": "聚合时有数值超出了类型 {type} 的范围。",
    "A sum in the column '{name}' does not fit its type {type}: it is null to every reader until it is corrected, and "
    "written so its rows could not be summed any more.": (
        "列 '{name}' 中有一个总和超出其类型 {type}：更正之前人人读到空值；若这样写入，其各行便无法再求和。"
    ),
    "Widen the column, or correct its rows, then compact.": "请加宽该列或更正其行，然后再合并（compact）。",
    "The engine keeps a number here that its type has no room for; ask the engine itself.": (
        "引擎在此保留了一个其类型容纳不下的数；请直接询问引擎。"
    ),
    "The engine's releases answer differently here; none can be called right.": (
        "引擎的不同版本在这里的答案不同；说不出哪个是对的。"
    ),
    "There is no branch '{branch}'.": "没有分支 '{branch}'。",
    "There is no column '{name}'; the table has {fields}.": "没有列 '{name}'；表中的列有 {fields}。",
    "The column '{name}' of type {types} has no statistics.": "类型为 {types} 的列 '{name}' 没有统计信息。",
    "Row {deleted} is deleted in a file of {rows} rows.": "文件只有 {rows} 行，却删除了第 {deleted} 行。",
    "Spark can only write to the local disk here.": "Spark 在这里只能写入本地磁盘。",
    "Left out: {each}": "省略：{each}",
    "Not compared, because only the first point has that: {dropped}": "未比较，因为只有第一个时间点有：{dropped}",
    "Unchanged rows are not counted: those of files that were not read are known only by merging them": (
        "没有统计未变的行：未读取的文件中的行，要合并之后才能知道"
    ),
    "Ask plain Spark instead (--engine plain).": "请改用普通 Spark（--engine plain）。",
    "Set {setting} (or --connector) to {example}. {ask_plain}": (
        "请把 {setting}（或 --connector）设为 {example}。{ask_plain}"
    ),
    "No Spark connector is configured to read {form} tables.": "没有配置能读取 {form} 表的 Spark 连接器。",
    "Name one that does in {setting}, such as {example}. {ask_plain}": (
        "请在 {setting} 中指定一个能读取的，例如 {example}。{ask_plain}"
    ),
    "Nothing here reads rows of {format} tables.": "这里无法读取 {format} 表的行。",
    "No connector of those configured ({named}) reads {form} tables.": (
        "已配置的连接器（{named}）都不能读取 {form} 表。"
    ),
    "Spark takes the branch name {branch} for a snapshot id.": "Spark 会把分支名 {branch} 当作快照 id。",
    "The table's own option '{starts}' says where reading starts, and would contradict the point.": (
        "表自己的选项 '{starts}' 规定了从哪里开始读取，会与该时间点矛盾。"
    ),
    "A file of the table lies on another kind of store, which no file of a table is let choose.": (
        "表的一个文件位于另一种存储上，而表的文件无权选择存储。"
    ),
    "{engine} shows the columns {shown} at {point}; they were {wanted}.": (
        "{engine} 在 {point} 处的列是 {shown}；当时的列是 {wanted}。"
    ),
    "{engine} cannot open {point}. {said}": "{engine} 无法打开 {point}。{said}",
    "The engine's own Spark connector may read it (--engine connector).": (
        "引擎自己的 Spark 连接器也许可以读取（--engine connector）。"
    ),
    "The table's property '{name}' names a class ({options}), and no file of a table is let choose what Spark "
    "loads.": "表属性 '{name}' 写的是一个类（{options}），而表的文件无权决定 Spark 加载什么。",
    "The connector for {form} tables cannot be loaded. {said}": "无法加载 {form} 表的连接器。{said}",
    "Check the coordinates, or name a jar in {setting}. {ask_plain}": (
        "请检查坐标，或在 {setting} 中指定 jar。{ask_plain}"
    ),
    "Spark found nothing at Maven's {coordinates}. {words}": (
        "Spark 按 Maven 坐标 {coordinates} 什么也没有找到。{words}"
    ),
    "Write {example}; several are parted by commas.": "请写 {example}；多个之间用逗号分隔。",
    "{setting} names {each!r}, which is neither a .jar nor group:artifact:version.": (
        "{setting} 中的 {each!r} 既不是 .jar，也不是 group:artifact:version。"
    ),
    "The engine's own Spark connector may read it (set {setting}, then --engine connector).": (
        "引擎自己的 Spark 连接器也许可以读取（设置 {setting}，再用 --engine connector）。"
    ),
    "{setting} names a jar that cannot be read: {error}.": "{setting} 中有一个 jar 无法读取：{error}。",
    "It reads this point with today's '{name}' ({now}); at the time it was {then}": (
        "它按现在的 '{name}'（{now}）读取这个时间点；当时是 {then}"
    ),
    "A file with rows was expected, found none.": "应为有行的文件，却没有行。",
    "The column '{name}' may not be null, but {empty} of the rows have no value.": (
        "列 '{name}' 不可为空，而有 {empty} 行没有值。"
    ),
    "Its last words: {lines}": "它最后的输出：{lines}",
    "It said nothing.": "它没有任何输出。",
    "Spark's JVM ended with status {returncode} while starting.": "Spark 的 JVM 在启动时以状态码 {returncode} 结束。",
    "Spark's JVM failed while starting.": "Spark 的 JVM 启动失败。",
    "Spark's JVM did not answer within {deadline_s:g} seconds.": "Spark 的 JVM 在 {deadline_s:g} 秒内没有回答。",
    "Allowed is one query (SELECT, WITH, VALUES, TABLE or FROM …) over {over}.": (
        "只允许一条在 {over} 上的查询（SELECT、WITH、VALUES、TABLE 或 FROM …）。"
    ),
    "Spark cannot run this query. {said}": "Spark 无法执行这条查询。{said}",
    "values alone (no table is open)": "纯粹的值（没有打开的表）",
    "The query was refused: it is nested too deeply.": "查询被拒绝：嵌套太深。",
    "The query was refused: it has more than {most_nodes:,} parts.": "查询被拒绝：它的组成部分超过 {most_nodes:,} 个。",
    "The query was refused: it is a script, and only one query at a time may run.": (
        "查询被拒绝：它是脚本，而一次只能执行一条查询。"
    ),
    "The query was refused: it needs more memory than Spark has before it even runs.": (
        "查询被拒绝：还没执行，它所需的内存就超过了 Spark 所有的。"
    ),
    "The query was refused: {refused}.": "查询被拒绝：{refused}。",
    "it is {sql:,} characters long, {most_characters:,} are allowed": (
        "它有 {sql:,} 个字符，最多允许 {most_characters:,} 个"
    ),
    "`${{` is how Spark inserts settings and the environment into SQL": "Spark 会用 `${{` 把设置和环境变量代入 SQL",
    "it contains a NUL character": "它含有 NUL 字符",
    "{words} is not part of a query that only reads": "{words} 不属于只读查询",
    "{words} tells of or acts on the machine, not the table": "{words} 涉及或作用于机器，而不是表",
    "{words} reads outside the opened tables": "{words} 会读取已打开的表以外的内容",
    "with every WITH name written out it reads {relations:,} relations, {most_relations} are allowed": (
        "展开所有 WITH 名称之后，它要读取 {relations:,} 个关系，最多允许 {most_relations} 个"
    ),
    "`{names}` is not an opened table": "`{names}` 不是已打开的表",
    "`{names}` can be read only as it is, without STREAM and without options": (
        "`{names}` 只能直接读取，不能带 STREAM 或选项"
    ),
    "{names} is a function of Spark's own": "{names} 是 Spark 的内部函数",
    "the function {name} is not on the list of allowed functions": "函数 {name} 不在允许的函数之列",
    "{name} is allowed with at most {most_arguments} arguments": "{name} 最多允许 {most_arguments} 个参数",
    "{name} is allowed only with a plain pattern, of widths below {largest_answer:,}": (
        "{name} 只允许简单的格式，宽度须小于 {largest_answer:,}"
    ),
    "{name} is told to make up to {size:,.0f} elements, {most:,} are allowed": (
        "{name} 要生成多达 {size:,.0f} 个元素，最多允许 {most:,} 个"
    ),
    "{name} would make up to {bulk:,.0f} elements, {largest_bulk:,} are allowed": (
        "{name} 会生成多达 {bulk:,.0f} 个元素，最多允许 {largest_bulk:,} 个"
    ),
    "it makes up to {made:,.0f} rows out of nothing, {most:,} are allowed": (
        "它会凭空生成多达 {made:,.0f} 行，最多允许 {most:,} 行"
    ),
    "GROUP BY asks for {groupings:,} grouping sets, {most_groupings:,} are allowed": (
        "GROUP BY 要求 {groupings:,} 个分组集，最多允许 {most_groupings:,} 个"
    ),
    "`{table}` is not an opened table": "`{table}` 不是已打开的表",
    "a recursion of {levels:,} levels is asked for, {most_recursion} are allowed": (
        "要求递归 {levels:,} 层，最多允许 {most_recursion} 层"
    ),
    "the hint {parts} is not allowed, only those that choose a join are": (
        "不允许 hint {parts}，只允许选择 join 方式的 hint"
    ),
    "Files of the format {form!r} are not read through plain Spark; only Parquet is.": (
        "普通 Spark 不读取 {form!r} 格式的文件；只读 Parquet。"
    ),
    "Read it with Iceberg's own runtime in Spark 4.1 or older, with Trino or with DuckDB.": (
        "请用带 Iceberg 自己 runtime 的 Spark（4.1 或更早）、Trino 或 DuckDB 读取。"
    ),
    "The table has no columns, so there is nothing to read.": "表没有列，没有可读的内容。",
    "Columns that differ only in case ({twice}) cannot be told apart in Spark's SQL.": (
        "只有大小写不同的列（{twice}）在 Spark SQL 中无法区分。"
    ),
    "Equality deletes compare by the column with id {id}, which no schema of the metadata has any more.": (
        "等值删除按 id 为 {id} 的列比较，而元数据的所有表结构中都已没有这一列。"
    ),
    "Open an older metadata.json, which still has that schema.": "请打开仍含有该表结构的旧 metadata.json。",
    "Equality deletes compare by the column '{name}', which is a {root}.": (
        "等值删除按列 '{name}' 比较，而它是 {root}。"
    ),
    "Its deletes name {name}, which the table's manifests write in another way (scheme or host), so engines that "
    "compare locations as texts would bring deleted rows back.": (
        "它的删除记录写的是 {name}，而表的清单用的是另一种写法（scheme 或主机），因此把位置当文本比较的引擎会让已"
        "删除的行重新出现。"
    ),
    "The table was moved or is named by two schemes; its own engine must rewrite the delete files.": (
        "表被移动过，或以两种 scheme 称呼；须由它自己的引擎重写删除文件。"
    ),
    "A manifest has an existing file without a sequence number, so deletes cannot be applied.": (
        "有清单中的现有文件没有序列号，因此无法应用删除。"
    ),
    "The table must be repaired by its own engine.": "须由表自己的引擎修复。",
    "A delete file is of partition spec {spec_id}, which is not known.": (
        "有删除文件属于分区规范 {spec_id}，而它是未知的。"
    ),
    "Engines differ in whether they apply; the table must be repaired by its own engine.": (
        "各引擎对它们是否生效看法不同；须由表自己的引擎修复。"
    ),
    "A deletion vector of sequence number {sequence} names a file of the later {own}, {path}.": (
        "序列号为 {sequence} 的删除向量指向序列号更大（{own}）的文件 {path}。"
    ),
    "{text!r:.40} of the partition field {id} is no {of}.": "分区字段 {id} 的 {text!r:.40} 不是 {of}。",
    "A file of equality deletes names no columns to compare by.": "有等值删除文件没有写明按哪些列比较。",
    "Its deletes name a data file of another partition, {path}.": "它的删除记录指向另一个分区的数据文件 {path}。",
    "A deletion vector does not name its data file, or where it lies.": "有删除向量没有写明它的数据文件或所在位置。",
    "{referenced} has more than one deletion vector.": "{referenced} 有多个删除向量。",
    "A file that the table names is not there.": "表所引用的一个文件不存在。",
    "The point cannot be read in full; choose another one.": "这个时间点无法完整读取；请选择另一个。",
    "A file of position deletes has rows without a path or a position.": "有位置删除文件的行缺少路径或位置。",
    "A file of position deletes names a negative position.": "有位置删除文件写了负的位置。",
    "Row {gone} is deleted in a file of {start} rows.": "文件只有 {start} 行，却删除了第 {gone} 行。",
    "The column '{name}' was expected to be {root}; the file has {have}.": "列 '{name}' 应为 {root}；文件中是 {have}。",
    "The data file's columns have no field ids, so only a name mapping tells which is which "
    "(schema.name-mapping.default), and that is not read here.": (
        "数据文件的列没有字段 id，只有名称映射（schema.name-mapping.default）才能说明哪列是哪列，而这里不读取它。"
    ),
    "The data file has no column '{name}', and its manifest does not tell by which spec it is partitioned.": (
        "数据文件中没有列 '{name}'，而它的清单没有写明按哪个分区规范分区。"
    ),
    "{since} does not come before {at} on one branch, so nothing lies between them.": (
        "{since} 在同一分支上不早于 {at}，两者之间没有内容。"
    ),
    "Name the earlier point as the one since which changes are asked for.": "请把较早的时间点作为变更的起点。",
    "rows as the APPEND commits wrote them": "APPEND 提交写入的行",
    "the changelogs of the commits": "各次提交的 changelog",
    "Changes are {what} after {since} up to {at} ({mode})": "变更取自 {since} 之后到 {at} 为止{what}（{mode}）",
    "Changes are the difference between the rows at {since} and at {at} ({diff}): {why}": (
        "变更是 {since} 与 {at} 两处的行之差（{diff}）：{why}"
    ),
    "{passed} passed over, as the engine does": "跳过了 {passed}，与引擎一致",
    "commit {gone} is not retained": "提交 {gone} 已不再保留",
    "a tag was named": "指定了标签",
    "the table writes no changelog": "表不写 changelog",
    "the APPEND commit {id} also took files away": "APPEND 提交 {id} 也移除了文件",
    "the changelog of commit {id} was compacted into files of several buckets": (
        "提交 {id} 的 changelog 被合并成了跨多个桶的文件"
    ),
    "{count} OVERWRITE commit": "{count} 次 OVERWRITE 提交",
    "{count} OVERWRITE commits": "{count} 次 OVERWRITE 提交",
    "No Java {oldest_java} or newer was found ({tried}).": "找不到 Java {oldest_java} 或更新版本（{tried}）。",
    "Install a Java runtime, set SNAPSCOPE_JAVA_HOME to one, or run: {command}": (
        "请安装 Java 运行时，或把 SNAPSCOPE_JAVA_HOME 指向一个，或运行：{command}"
    ),
    "SNAPSCOPE_JAVA_HOME does not lead to a usable Java: {complaint}.": (
        "SNAPSCOPE_JAVA_HOME 指向的不是可用的 Java：{complaint}。"
    ),
    "there was nothing to try": "没有可尝试的",
    "Data files were written with schema {gone}, which cannot be read.": (
        "数据文件是用表结构 {gone} 写入的，而它无法读取。"
    ),
    "Data files of the format {form!r} cannot be read.": "无法读取 {form!r} 格式的数据文件。",
    "{found} with {rows} wait in the postpone bucket ({postpone_bucket}); the engine shows them after they are "
    "compacted into real buckets": (
        "{found}（{rows}）在 postpone 桶（{postpone_bucket}）中等待；合并到真正的桶之后引擎才显示它们"
    ),
    "a first-row table": "first-row 表",
    "a table with deletion vectors": "带删除向量的表",
    "{found} of level 0 with {sum}: {cause} shows rows once they are compacted": (
        "第 0 层有 {found}（{sum}）：{cause}在合并之后才显示这些行"
    ),
    "The data file {path} lies on another store, which cannot be read yet.": (
        "数据文件 {path} 在另一个存储上，尚不能读取。"
    ),
    "{count} row": "{count} 行",
    "{count} rows": "{count} 行",
    "{point} went while it was read: {who}.": "读取期间 {point} 消失：{who}。",
    "The nearest point left is {id}, committed {in_words}: ask at {id}.": (
        "留下的最近的时间点是 {id}，提交于 {in_words}：请在 {id} 查询。"
    ),
    "No snapshot is left on its branch.": "它的分支上已没有快照。",
    "not by this Snapscope, so another engine or user expired, deleted or replaced it": (
        "不是这个 Snapscope 所为，因此是另一个引擎或用户将它过期、删除或替换"
    ),
    "{who} removed it in run {id} ({change_kind}), begun {in_words}": (
        "{who} 在执行 {id}（{change_kind}，开始于 {in_words}）中移除了它"
    ),
    "{who}.": "{who}。",
    "A deleted row was met, and a first-row table takes those only with 'ignore-delete'.": (
        "遇到了已删除的行，而 first-row 表只有在设置 'ignore-delete' 时才接受它们。"
    ),
    "A deleted row was met, and a partial-update table takes those only with 'ignore-delete', "
    "'partial-update.remove-record-on-delete' or sequence groups.": (
        "遇到了已删除的行，而 partial-update 表只有在设置 'ignore-delete'、"
        "'partial-update.remove-record-on-delete' 或序列组时才接受它们。"
    ),
    "The engine refuses to read this point too.": "引擎也会拒绝读取这个时间点。",
    "A deleted or updated row was met, which the function '{function}' of the column '{column}' cannot take back.": (
        "遇到了已删除或已更新的行，而列 '{column}' 的函数 '{function}' 无法撤回它。"
    ),
    "The engine refuses to read this point too, unless 'ignore-retract' is set for the column.": (
        "引擎也会拒绝读取这个时间点，除非该列设置了 'ignore-retract'。"
    ),
    "The merge engine '{engine}' is not known to Snapscope.": "Snapscope 不认识合并引擎 '{engine}'。",
    "The table's option 'sequence.snapshot-ordering' is true; its order is not in its files.": (
        "表选项 'sequence.snapshot-ordering' 为 true；其顺序不在它的文件中。"
    ),
    "The column '{name}' is aggregated by '{function}', which is not merged here.": (
        "列 '{name}' 用 '{function}' 聚合，这里不支持合并。"
    ),
    "The column '{name}' of type {root} is not merged by '{function}' here.": (
        "这里不支持用 '{function}' 合并类型为 {root} 的列 '{name}'。"
    ),
    "The table's option 'sequence.field' names '{name}', which is no column to order by.": (
        "表选项 'sequence.field' 中的 '{name}' 不是可用于排序的列。"
    ),
    "The column '{name}' of a partial-update table is aggregated by '{function}' outside of a sequence group.": (
        "partial-update 表的列 '{name}' 在序列组之外用 '{function}' 聚合。"
    ),
    "The table's option '{option}' names '{name}', which is no column it can be of.": (
        "表选项 '{option}' 中的 '{name}' 不是它可用的列。"
    ),
    "The column '{name}' stands in two sequence groups ('{option}').": "列 '{name}' 属于两个序列组（'{option}'）。",
    "The table has a column '{kind}' of its own, so its rows would have two.": (
        "表自己有列 '{kind}'，这样它的行就会有两个同名列。"
    ),
    "Spark keeps six digits of a second, so later ones of {columns} are cut off, in comparisons too": (
        "Spark 只保留秒后六位，因此 {columns} 更后面的数字被截去，比较时也是如此"
    ),
    "Paimon itself reads this point with today's '{name}' ({today}); this is with the point's own ({own})": (
        "Paimon 自己按现在的 '{name}'（{today}）读取这个时间点；这里按该时间点自己的（{own}）"
    ),
    "not set": "未设置",
    "A data file that the table names is not there.": "表所引用的一个数据文件不存在。",
    "The data file could not be read: {error}.": "无法读取该数据文件：{error}。",
    "{engine!r} is no engine.": "{engine!r} 不是引擎。",
    "{what} tells the kinds of rows, which Paimon's files say and Iceberg's do not.": (
        "{what} 要给出行的变更类型，Paimon 的文件里有，Iceberg 的没有。"
    ),
    "Compare two points: --at and --before in one query, or Diff.": (
        "请比较两个时间点：在一条查询中用 --at 和 --before，或用“差异”页。"
    ),
    "{what} is not asked of a connector.": "不能对连接器使用 {what}。",
    "Ask plain Spark (--engine plain).": "请用普通 Spark（--engine plain）。",
    "Ask {engines}.": "请用 {engines}。",
    "Its rows must be merged by key; this reads files as they stand.": "它的行必须按主键合并；这里只按文件原样读取。",
    "Spark takes a data file's name for a hidden file and would not read it.": (
        "Spark 会把某个数据文件的名称当作隐藏文件而不读取。"
    ),
    "Rows of the postpone bucket have no order in their files.": "postpone 桶中的行在文件里没有顺序。",
    "Several files hold different columns of the same rows.": "同样的行的不同列分在多个文件中。",
    "The table's catalog masks rows or columns.": "表的 Catalog 会屏蔽行或列。",
    "Rows are clustered against their key.": "行的聚簇方式与主键不一致。",
    "The table has a primary key ({primary_keys}). {needs_merging}": "表有主键（{primary_keys}）。{needs_merging}",
    "The table's option '{deleted}' is true. Its files hold deleted rows; this reads them all.": (
        "表选项 '{deleted}' 为 true。它的文件含有已删除的行；这里会全部读取。"
    ),
    "The table is of the type '{kind}', which is not read from data files.": (
        "表的类型是 '{kind}'，它不从数据文件读取。"
    ),
    "A data file's path has a line break.": "某个数据文件的路径含有换行。",
    "Data files were written with schema {schema_id}, which cannot be read.": (
        "数据文件是用表结构 {schema_id} 写入的，而它无法读取。"
    ),
    "The table's option '{name}' is {value}. {why}": "表选项 '{name}' 为 {value}。{why}",
    "The table's option '{name}' is set; its rows are not simply those of its files.": (
        "设置了表选项 '{name}'；它的行不只是文件中的行。"
    ),
    "{doubled} stand in the table more than once, so rows cannot be compared by it.": (
        "{doubled}在表中出现不止一次，因此无法按主键比较行。"
    ),
    "{count} primary key": "{count} 个主键",
    "{count} primary keys": "{count} 个主键",
    "SNAPSCOPE_SPARK_CONF names a JSON file that does not hold one object.": (
        "SNAPSCOPE_SPARK_CONF 指向的 JSON 文件应是一个对象，却不是。"
    ),
    "Another part of this process has started a Spark of its own, without the settings Snapscope depends on.": (
        "这个进程的另一部分启动了自己的 Spark，而没有 Snapscope 所依赖的设置。"
    ),
    "Run Snapscope in a process of its own, or let it start Spark first.": (
        "请在单独的进程中运行 Snapscope，或让它先启动 Spark。"
    ),
    "{expected}: {error}.": "{expected}：{error}。",
    "`{name}` is not a Spark setting: their names begin with `spark.`.": (
        "`{name}` 不是 Spark 设置：它们的名称以 `spark.` 开头。"
    ),
    "`{name}={value}` asks for Spark Connect, where a client cannot check a parsed query before it runs.": (
        "`{name}={value}` 要求使用 Spark Connect，客户端在那里无法在执行之前检查已解析的查询。"
    ),
    "Name the cluster with spark.master instead (spark://…, yarn, k8s://…).": (
        "请改用 spark.master 指定集群（spark://…、yarn、k8s://…）。"
    ),
    "`{name}={value}` cannot be set: right answers depend on {right}={locked}.": (
        "不能设置 `{name}={value}`：正确的答案依赖于 {right}={locked}。"
    ),
    "Spark could not open a session on {where}. {said}": "Spark 无法在 {where} 上打开会话。{said}",
    "Spark is already running in this process with other settings.": "这个进程中的 Spark 已用其他设置启动。",
    "Stop it first, or give the settings at its first use.": "请先停止它，或在首次使用时给出设置。",
    "SNAPSCOPE_SPARK_CONF: `{name}` has no value; expected spark.a=1,spark.b=2.": (
        "SNAPSCOPE_SPARK_CONF：`{name}` 没有值；应写成 spark.a=1,spark.b=2。"
    ),
    "Spark could not run this query. {said}": "Spark 无法执行这条查询。{said}",
    "The row cap must be at least 1, not {row_cap}.": "行数上限至少为 1，不能是 {row_cap}。",
    "The query was cancelled.": "查询已取消。",
    "The query was stopped after {timeout_s:g} seconds, its time limit.": "查询在 {timeout_s:g} 秒的时限到达时被停止。",
    "Ask for less (a filter, fewer columns), or raise the limit (--timeout on the command line).": (
        "请缩小查询（加过滤条件、少选列），或提高时限（命令行上为 --timeout）。"
    ),
    "Spark's process ended while the query ran.": "查询执行期间 Spark 进程结束了。",
    "Ask again: a new one is started.": "请重新查询：会启动一个新的进程。",
    "The query needs more memory than Spark has.": "查询所需的内存超过了 Spark 所有的。",
    "Spark ran out of memory and ended: this query or one that ran beside it needs more.": (
        "Spark 内存耗尽而结束：此查询或同时执行的另一查询需要更多内存。"
    ),
    "Ask for fewer rows or columns, or give Spark more with spark.driver.memory.": (
        "请少查一些行或列，或用 spark.driver.memory 给 Spark 更多内存。"
    ),
    "A data file's columns have no field ids, so only a name mapping tells which is which "
    "(schema.name-mapping.default), and that is not read here. {said}": (
        "数据文件的列没有字段 id，只有名称映射（schema.name-mapping.default）才能说明哪列是哪列，而这里不读取它。{said}"
    ),
    "Read the table with its own engine.": "请用表自己的引擎读取。",
    "Spark could not read a data file. {said}": "Spark 无法读取一个数据文件。{said}",
    "A query with the id {id} is already running.": "id 为 {id} 的查询已在执行。",
    "Spark was started anew while the query ran.": "查询执行期间 Spark 重新启动了。",
    "Ask again.": "请重新查询。",
}
