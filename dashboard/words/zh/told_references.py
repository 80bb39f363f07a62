"""core 关于引用的话：标签、分支、消费者。一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_REFERENCES: Mapping[str, str] = {
    "A row lies outside of the partitions that were named to be overwritten.": "有一行不在指定要覆盖的分区之内。",
    "{missing} is no longer live; another commit replaced it.": "{missing} 已不再有效；另一次提交替换了它。",
    "Write the rows again.": "请重新写入这些行。",
    "The schema changed since the rows were written, and they do not fit any more: {message}": (
        "写入这些行之后表结构发生了变化，它们不再相符：{message}"
    ),
    "Snapshot {next_snapshot} is not retained, so nobody can begin to read there.": (
        "快照 {next_snapshot} 已不再保留，没有消费者能从那里开始读取。"
    ),
    "Name a retained snapshot.": "请指定一个保留着的快照。",
    "No consumer has such a name, so there is nothing to do.": "没有叫这个名称的消费者，没有要做的事。",
    "There is no consumer {name!r}.": "没有消费者 {name!r}。",
    "{including!r} is no pattern: {error}.": "{including!r} 不是正则表达式：{error}。",
    "its name is among those to be cleared": "它的名称属于要清除的",
    "Consumers: {line}.": "现有消费者：{line}。",
    "Write to this table with its own engine.": "请用表自己的引擎写入。",
    "A table needs columns, and their names must differ by more than their case.": (
        "表必须有列，且列名不能只是大小写不同。"
    ),
    "Partition keys must be different columns of the table.": "分区键必须是表中互不相同的列。",
    "A primary key must be different columns of the table, and have all partition keys among them.": (
        "主键必须是表中互不相同的列，并包含所有分区键。"
    ),
    "A primary key must have a column that is no partition key.": "主键中必须有不是分区键的列。",
    "The new column '{name}' must be nullable: the rows that exist have no value for it.": (
        "新列 '{name}' 必须可为空：已有的行没有它的值。"
    ),
    "A column named '{name}' cannot be added: the name is blank or taken.": "无法新增列 '{name}'：名称为空或已被占用。",
    "A tag with a retention needs its creation time as a wall clock without a zone.": (
        "带保留期限的标签需要写明创建时间，即不带时区的本地时钟时间。"
    ),
    "A snapshot document was expected to tag, found something else.": "要打标签的应是快照文件，实际是别的内容。",
    "A table with a primary key takes no plain rows; they are merged by key.": (
        "主键表不能直接写入行；它的行要按主键合并。"
    ),
    "Write to it by core.spark.write.upsert, and compact it by core.spark.write.compact.": (
        "请用 core.spark.write.upsert 写入，用 core.spark.write.compact 合并。"
    ),
    "The table has no primary key.": "表没有主键。",
    "Write to it by `append` of core.spark.write.append.": "请用 core.spark.write.append 的 `append` 写入。",
    "The option 'bucket' = '{bucket}' is not honoured: only a fixed number of buckets is.": (
        "不支持选项 'bucket' = '{bucket}'：只支持固定的桶数。"
    ),
    "The option 'sequence.field' is not honoured for the merge engine 'first-row'.": (
        "合并引擎 'first-row' 不支持选项 'sequence.field'。"
    ),
    "The column '{name}' of type {of} cannot be written: Spark's Parquet files hold times in microseconds "
    "(TIMESTAMP(6)), and no TIME, VARIANT, BLOB, VECTOR or MULTISET.": (
        "无法写入类型为 {of} 的列 '{name}'：Spark 的 Parquet 文件只能以微秒保存时间（TIMESTAMP(6)），也不能保存 "
        "TIME、VARIANT、BLOB、VECTOR 或 MULTISET。"
    ),
    "The option 'bucket-key' names '{name}', which is not of the primary key.": (
        "选项 'bucket-key' 中的 '{name}' 不属于主键。"
    ),
    "The key '{name}' of type {fields} cannot be written.": "无法写入类型为 {fields} 的键 '{name}'。",
    "The partition key '{key}' of type {types} cannot be written.": "无法写入类型为 {types} 的分区键 '{key}'。",
    "The option '{name}' = '{value}' is not honoured by this writer.": "这里的写入不支持选项 '{name}' = '{value}'。",
    "The option '{name}' is not known to this writer.": "这里的写入不认识选项 '{name}'。",
    "Apache Paimon 2.0: a commit ends files, and an expiry deletes them once no point holds them": (
        "Apache Paimon 2.0：提交只让文件失效；要等没有任何时间点占用它们，才由过期删除"
    ),
    "{point} ({count:,})": "{point}（{count:,} 个）",
    " and {count} more point": " 等，另有 {count} 个时间点",
    " and {count} more points": " 等，另有 {count} 个时间点",
    "There is no snapshot on {branch}, so there is nothing to do.": "{branch} 上没有快照，没有要做的事。",
    "No live file lies there, so there is nothing to do.": "那里没有有效文件，没有要做的事。",
    "Of a table with a primary key whole buckets are compacted, however many files they have.": (
        "主键表按整个桶合并，无论桶里有多少文件。"
    ),
    "{point} (all)": "{point}（全部）",
    "No file is deleted from the disk: that is an expiry's, once no point holds it any more.": (
        "不会从磁盘删除任何文件：那是过期的事，要等没有任何时间点占用它们。"
    ),
    "Points that still have them: {points}{more}.": "仍然保有它们的时间点：{points}{more}。",
    "The same rows will stand in files of about {target} (target-file-size).": (
        "同样的行将保存在约 {target} 的文件中（target-file-size）。"
    ),
    "No tag has all of them: snapshot {id} does, until it expires (create-tag keeps it).": (
        "没有标签保有全部这些文件：快照 {id} 保有，直到它过期（create-tag 可以留住它）。"
    ),
    "{text!r} names no partition; the keys are {partition_keys}.": "{text!r} 没有指明分区；分区键是 {partition_keys}。",
    "Name it as key=value,key=value.": "请写成 键=值,键=值。",
    "No partition was named.": "没有指定分区。",
    "Name one, or truncate the table.": "请指定分区，或清空整张表（truncate）。",
    "Name each partition by itself.": "请逐个指定分区。",
    "{text!r} gives a key two values.": "{text!r} 给同一个键写了两个值。",
    "There is no column '{name}'; the table has {known}.": "没有列 '{name}'；表中的列有 {known}。",
    "Apache Paimon 2.1: references alone; what nothing names any more is left to be found as orphans": (
        "Apache Paimon 2.1：只改引用；不再被任何东西引用的文件留作孤儿文件"
    ),
    "The table is just so already, so there is nothing to do.": "表已经是这样了，没有要做的事。",
    "The id {id} is another snapshot's by now than the one that {point} keeps.": (
        "编号 {id} 现在是另一个快照，不再是 {point} 所保留的那个。"
    ),
    "Roll back to another point, or without --destructive.": "请回滚到别的时间点，或不用 --destructive。",
    "What a branch keeps of itself is Iceberg's to say; a Paimon branch has the table's options.": (
        "分支自己的保留设置是 Iceberg 的概念；Paimon 分支遵循表的选项。"
    ),
    "Paimon makes branches of main only.": "Paimon 只能从 main 创建分支。",
    "A Paimon branch starts at a tag of main or empty, not at {point}: expiry heeds tags alone.": (
        "Paimon 分支从 main 的标签开始，或从空开始，而不能从 {point} 开始：过期只顾及标签。"
    ),
    "Make a tag there first (create-tag), and name it as tag:NAME.": (
        "请先在那里打标签（create-tag），再以 tag:NAME 指定。"
    ),
    "Branch {to!r} exists already.": "分支 {to!r} 已存在。",
    "The directory of branch {inner!r} lies within it.": "分支 {inner!r} 的目录在它里面。",
    "Deal with that one first.": "请先处理那一个。",
    "Paimon forwards main only.": "Paimon 只能快进 main。",
    "Branch {branch} has no snapshot, so main cannot become what it is.": "分支 {branch} 没有快照，main 无法快进到它。",
    "Branch main is the table itself.": "分支 main 就是表本身。",
    "Name another branch.": "请指定另一个分支。",
    "A Paimon branch is a line of snapshots of its own, so it cannot be let point elsewhere.": (
        "Paimon 的分支有自己的一串快照，不能让它指向别处。"
    ),
    "Roll it back (--branch), or delete it and create it anew.": "请回滚它（--branch），或删除后重新创建。",
    "Ids that go are used again: who remembers one by its number will find another snapshot.": (
        "被删除的编号会重新使用：按编号记住快照的人会找到另一个快照。"
    ),
    "{kind} {name} cannot be read, so nobody knows whether it goes. {problem}": (
        "{kind} {name} 无法读取，无从得知它是否会被删除。{problem}"
    ),
    "It is needed for the branch, and it is not there.": "该分支需要它，而它不存在。",
    "Branch {name} is the table's {option}.": "分支 {name} 是表的 {option}。",
    "Set the option otherwise first.": "请先改掉该选项。",
    "{point} stays, but it cannot be read in full, so nobody knows which files it still needs: {problem}": (
        "{point} 会留下，却无法完整读取，无从得知它还需要哪些文件：{problem}"
    ),
    "No branch was named.": "没有指定分支。",
    "Name at least one branch to delete.": "请至少指定一个要删除的分支。",
    "Consumer {name} waits for snapshot {next_snapshot}: it will read what is committed under that id anew, and "
    "miss what comes before. reset-consumer sets it back.": (
        "消费者 {name} 在等待快照 {next_snapshot}：它会读到以该编号重新提交的内容，而错过之前的内容。可用 "
        "reset-consumer 把它退回去。"
    ),
    "Main keeps its snapshots before {id}. Paimon's own fast-forward hides them behind the branch's EARLIEST, and "
    "they are never expired.": (
        "main 会留着 {id} 之前的快照。Paimon 自己的快进会把它们藏在该分支的 EARLIEST 之后，使它们永不过期。"
    ),
    "Branches: {known}.": "现有分支：{known}。",
    "named by nothing yet, but younger than the guard: a running writer may be about to commit them": (
        "尚未被任何东西引用，但还没有到安全期限：可能有写入作业正要提交它们"
    ),
    "named by nothing, but the store tells no age for them": "未被任何东西引用，但存储没有给出它们的时间",
    "not named like a table's files": "名称不像表的文件",
    "{count:,} files stay: {why}.": "{count:,} 个文件留下：{why}。",
    "The newest snapshot kept vanishing while it was read.": "读取时最新的快照一再消失。",
    "Other schema changes kept coming first.": "其他表结构变更一直抢先。",
    "{source} {fate} since it was read; no new reference was left.": "{source} 在读取之后{fate}；没有留下新的引用。",
    "Look at the table again.": "请再看一下这张表。",
    "There is no schema file, so this is not {what}.": "没有表结构文件，所以这不是{what}。",
    "There is a table already.": "这里已经有一张表。",
    "The branch '{name}' exists already.": "分支 '{name}' 已存在。",
    "is gone": "已消失",
    "was replaced": "被替换",
    "a table": "一张表",
    "a branch '{branch}'": "分支 '{branch}'",
    "There is no schema file, so this is not a table.": "没有表结构文件，所以这不是一张表。",
    "The table has no snapshot to tag.": "表没有可打标签的快照。",
    "Another writer replaced {path} right after it was published.": "{path} 刚发布就被另一个写入者替换。",
    "It is not known whether {path} was published ({failed}); nothing was deleted.": (
        "无从得知 {path} 是否已发布（{failed}）；没有删除任何东西。"
    ),
    "Look at the table again before repeating the change.": "请先再看一下这张表，再重做这项修改。",
    "the first at or after {words}.": "在 {words} 或之后的第一个。",
    "A tag is made from a time or from a watermark.": "标签从时间或 watermark 创建。",
    "Give one of them.": "请给出其中之一。",
    "{format} makes no tag from a time.": "{format} 不能按时间打标签。",
    "{format} tables tell no manifests.": "{format} 表不给出 manifest。",
    "Name a snapshot; `as-of` says which was there then.": "请指定快照；`as-of` 会告诉你当时是哪一个。",
    "No snapshot or tag is at or after {words}.": "没有在 {words} 或之后的快照或标签。",
    "the first at or after {words}, which has expired and is kept by tag {tag}.": (
        "在 {words} 或之后的第一个，它已过期，由标签 {tag} 保留。"
    ),
    "The tag names snapshot {id}: {rule}": "该标签将指向快照 {id}：{rule}",
    "Time travel answers {answer} there.": "时间旅行在那里的答案：{answer}。",
    "What was there then is not known: {problem}": "无从得知当时有什么：{problem}",
    "a watermark of {watermark}": "watermark 值 {watermark}",
    "There is none.": "一个也没有。",
    "The newest is {value}.": "最新的是 {value}。",
    "finds nothing": "什么也找不到",
    "finds {engine}": "找到 {engine}",
    "Paimon's own search {own}: it stops at a tie or skew.": "Paimon 自己的查找{own}：遇到时间相同或偏差就会停下。",
    "Name a snapshot instead.": "请改为指定快照。",
    "The state directory cannot be written: {strerror}. Without it nothing is changed.": (
        "无法写入状态目录：{strerror}。没有它就不做任何修改。"
    ),
    "Another change of this table is running on this machine.": "本机正在执行这张表的另一项修改。",
    "Wait for it to end.": "请等它结束。",
    "tag": "标签",
    "branch": "分支",
    "consumer": "消费者",
    "The {kind} name {name!r} {wrong}.": "{kind}名称 {name!r} {wrong}。",
    "Choose another name, of letters, digits and dashes.": "请换一个由字母、数字和连字符组成的名称。",
    "is blank": "为空",
    "has outer spaces": "首尾有空格",
    "has a slash, backslash, comma or control character": "含有斜杠、反斜杠、逗号或控制字符",
    "starts with a dot or holds two in a row": "以点开头或含有连续两个点",
    "is longer than {max_bytes} bytes": "超过 {max_bytes} 字节",
    "is a number, which reads as a snapshot id": "是数字，会被当作快照 id",
    "reads as a watermark to travel to": "会被当作时间旅行的 watermark",
    "is reserved": "是保留名称",
    "Consumer {name} cannot be read, so nobody knows which snapshots it still needs. {problem}": (
        "消费者 {name} 无法读取，无从得知它还需要哪些快照。{problem}"
    ),
    "A schema cannot be read, so the table's options and partitions are not wholly known. {problem}": (
        "有一个表结构无法读取，因此表的选项和分区并不完全清楚。{problem}"
    ),
    "{name} rewrites references, so its plan is its format's.": "{name} 会改写引用，因此它的计划由表格式制定。",
    "There is no tag {name!r}, so nothing was changed.": "没有标签 {name!r}，因此未作任何修改。",
    "No tag was named.": "没有指定标签。",
    "Name at least one tag to delete.": "请至少指定一个要删除的标签。",
    "Orphans can only be older than now.": "孤儿文件的时间只能早于现在。",
    "Name a time in the past.": "请给出过去的时间。",
    "Restore the file, or let this point go in the same plan ({way}).": (
        "请恢复该文件，或让这个时间点在同一计划中删除（{way}）。"
    ),
    "ignoreIfExists: a branch that is there is never taken for the one that was asked for.": (
        "ignoreIfExists：已存在的分支从不被当作所要创建的分支。"
    ),
    "A rollback names exactly one of version, snapshot and tag.": "回滚必须且只能指定 version、snapshot、tag 之一。",
    "set_current_snapshot names a snapshot_id or a ref.": "set_current_snapshot 指定 snapshot_id 或 ref。",
    "is another's by now": "已被他人占用",
    "is gone, too": "也已不在",
    "Run {run_id} is finished ({state}); there is nothing to resume.": (
        "执行 {run_id} 已结束（{state}）；没有可继续的。"
    ),
    "Run {run_id} cannot be undone: {why}.": "执行 {run_id} 无法撤回：{why}。",
    "{path} {said}: others have rolled back or expired since, so nothing was brought back.": (
        "{path} {said}：此后有他人回滚或过期过，因此没有恢复任何东西。"
    ),
    "it is finished": "它已结束",
    "its sweep has started, so files may be gone": "它已开始删除文件，可能已有文件被删除",
    "There is no {kinds} {name!r}, so nothing was changed.": "没有{kinds} {name!r}，因此未作任何修改。",
    "Branch main is not replaced: {what}.": "分支 main 不能改指：{what}。",
    "Use rollback TABLE POINT, or leave it out.": "请用 rollback TABLE POINT，或不要给出它。",
    "Branch {name} is at snapshot {id} and keeps just so already.": "分支 {name} 已在快照 {id}，保留设置也正是如此。",
    "What a branch keeps must be more than nothing.": "分支的保留设置必须大于零。",
    "Only main is rolled back.": "只有 main 可以回滚。",
    "Let another branch point elsewhere by replace-branch.": "其他分支请用 replace-branch 改指别处。",
    "An Iceberg rollback destroys nothing: what it leaves behind lives until an expiry takes it.": (
        "Iceberg 的回滚不会销毁任何东西：留在后面的内容会一直存在，直到过期删除它。"
    ),
    "Leave --destructive out.": "请不要用 --destructive。",
    "Snapshot {id} is no ancestor of {snapshot_id}, where main is: that would be no way back.": (
        "快照 {id} 不是 main 所在的 {snapshot_id} 的祖先：那就不是往回走了。"
    ),
    "Pass --set to let main point there all the same.": "要让 main 仍然指向那里，请加 --set。",
    "ref": "引用",
    "A {kind}'s retention must be longer than nothing.": "{kind}的保留期限必须大于零。",
    "Iceberg counts a {kind}'s time from its snapshot, which is {age_ms} old: with {kept_ms} the very next expiry "
    "would drop it.": "Iceberg 从{kind}的快照起计算期限，该快照已有 {age_ms}：若设为 {kept_ms}，下一次过期就会删除它。",
    "Give a retention longer than that, or none.": "请给出比这更长的保留期限，或不设期限。",
    "Ref {name!r} exists already.": "引用 {name!r} 已存在。",
    "Branch main is never {done}: without it the table reads as empty.": (
        "分支 main 永远不能{done}：没有它，表读起来就是空的。"
    ),
    "Leave it out.": "请去掉它。",
    "Branch {name} is at snapshot {id} already, so there is nothing to do.": (
        "分支 {name} 已在快照 {id}，没有要做的事。"
    ),
    "rollback sets main back": "让 main 往回走要用 rollback",
    "main never ends": "main 没有期限",
    "Refs": "引用",
    "Tags": "标签",
    "Branches": "分支",
    "{plural}: {known}.": "现有{plural}：{known}。",
    "renamed": "重命名",
    "No {kind} was named.": "没有指定{kind}。",
    "{name} cannot be forwarded to {to}: its head {head} is no ancestor of {id}, so what it holds would be lost.": (
        "{name} 无法快进到 {to}：它的头 {head} 不是 {id} 的祖先，会失去它所含的内容。"
    ),
    "{name!r} is a {there}, not a {wanted}, so nothing was changed.": (
        "{name!r} 是{there}，不是{wanted}，因此未作任何修改。"
    ),
    "deleted": "删除",
    "Name at least one {kind} to delete.": "请至少指定一个要删除的{kind}。",
    "Roll it back to where {name} left it first, or let it point there by rollback --set (main) or replace-branch.": (
        "请先把它回滚到 {name} 离开它的位置，或用 rollback --set（main）或 replace-branch 让它指向那里。"
    ),
    "on no ref then: until an expiry finds it too old": "届时不在任何引用上：直到过期判定它太旧",
    "{unheeded}: Iceberg's expiry knows no such thing.": "{unheeded}：Iceberg 的过期没有这个概念。",
    "Give older-than, retain-min, snapshots or refs to drop; each branch keeps by its own rule.": (
        "请给出 older-than、retain-min、快照或要删除的引用；每个分支按自己的规则保留。"
    ),
    "older-than and time-retained both say from when on snapshots stay.": (
        "older-than 和 time-retained 都表示从何时起的快照留下。"
    ),
}
