"""core 关于修改的话：计划被拒绝、存储过程、提交与撤回。一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_CHANGES: Mapping[str, str] = {
    "The table's references kept changing; no file was deleted.": "表的引用一直在变；没有删除任何文件。",
    "Resume when it is calmer.": "请等变动平息后再继续。",
    "The plan was made for {table}, not for {location}; nothing was changed.": (
        "该计划是为 {table} 制定的，而不是为 {location}；未作任何修改。"
    ),
    "Run {id} of {change_kind} on this table is unfinished ({state}).": (
        "这张表的执行 {id}（{change_kind}）还没有结束（{state}）。"
    ),
    "The table has changed since the plan was made, and other references would have to be rewritten now; nothing "
    "was changed.": "制定计划之后表已变化，现在需要改写的引用不同了；未作任何修改。",
    "Plan again.": "请重新制定计划。",
    "There is no branch {branch!r}.": "没有分支 {branch!r}。",
    "{point} may no longer go: {reasons}. Nothing was changed.": "{point} 可能已不能删除：{reasons}。未作任何修改。",
    "{missing} of the point are not there, so the tag could not protect it and was withdrawn.": (
        "该时间点有 {missing}不存在，标签无法保护它，因此已撤销该标签。"
    ),
    "{path} is gone since the plan was made; nothing was changed.": "制定计划之后 {path} 已消失；未作任何修改。",
    "{path} was rewritten since the plan was made; nothing was changed.": "制定计划之后 {path} 被改写；未作任何修改。",
    "Finish it first: snapscope resume {id}, or take it back: snapscope undo {id}.": (
        "请先把它做完：snapscope resume {id}；或者撤回：snapscope undo {id}。"
    ),
    "Finish it first: snapscope resume {id}.": "请先把它做完：snapscope resume {id}。",
    "{count} data file": "{count} 个数据文件",
    "{count} data files": "{count} 个数据文件",
    "Such as count(*) > 1000, max(amount) < 0 or exists(select 1 from t where amount < 0).": (
        "例如 count(*) > 1000、max(amount) < 0 或 exists(select 1 from t where amount < 0)。"
    ),
    "{point} is snapshot {id}, which is not in the history of branch {branch}.": (
        "{point} 是快照 {id}，不在分支 {branch} 的历史中。"
    ),
    "Name points of one branch, and the branch with --branch.": "请指定同一分支上的时间点，并用 --branch 指定分支。",
    "Branch {branch} has no snapshot to look at.": "分支 {branch} 上没有可查看的快照。",
    "{start} comes after {end}.": "{start} 晚于 {end}。",
    "Name the earlier point first.": "请把较早的时间点写在前面。",
    "A condition is one SQL expression.": "条件必须是一个 SQL 表达式。",
    "This is true or false of each row by itself, not of the table.": "它是对每一行判断真假，而不是对整张表。",
    "The condition is no SQL expression: {plain}": "条件不是 SQL 表达式：{plain}",
    "Ask whether such rows are there: exists(select 1 from t where {own}).": (
        "请改问是否存在这样的行：exists(select 1 from t where {own})。"
    ),
    "These are {looked:,} points, too many to ask one by one (at most {every_most}).": (
        "这一段有 {looked:,} 个时间点，逐个查询太多（最多 {every_most} 个）。"
    ),
    "Name a shorter stretch, or search without asking every point.": "请指定较短的一段，或不要逐个查询。",
    "The condition gave {which} at {point}.": "条件在 {point} 处返回了{which}。",
    "Ask one thing of the whole table, such as exists(select 1 from t where …) or an aggregate.": (
        "请对整张表提一个问题，例如 exists(select 1 from t where …) 或聚合。"
    ),
    "The condition is neither true nor false at {point}: it gives {value!r}.": (
        "条件在 {point} 处既不为真也不为假：结果是 {value!r}。"
    ),
    "Compare it with something, such as count(*) > 1000.": "请把它与某个值比较，例如 count(*) > 1000。",
    "The search was cancelled.": "查找已取消。",
    "no row": "零行",
    "more than one row": "多行",
    "The CALL names the table {named}, which is not at {location}.": "CALL 中的表是 {named}，而它不在 {location}。",
    "{title} is a table of {format}: its procedures are {own}.NAME.": (
        "{title} 是 {format} 表：它的存储过程写作 {own}.NAME。"
    ),
    "{named} is the name of more than one table.": "有不止一张表叫 {named}。",
    "No retained snapshot has a watermark at or before {watermark}.": (
        "没有 watermark 不大于 {watermark} 的保留着的快照。"
    ),
    "There: {there}.": "那里有：{there}。",
    "Name its database: {there}.": "请写明它的数据库：{there}。",
    "Tag {name} stays: {why}.": "标签 {name} 留下：{why}。",
    "There is no tag or branch {name!r}.": "没有叫 {name!r} 的标签或分支。",
    "No tag is due.": "没有到期应打的标签。",
    "No tag's time is over.": "没有期限已过的标签。",
    "tables are compacted one by one; call compact on each.": "表是逐张合并的；请对每张表调用 compact。",
    "Paimon 2.0 has no such procedure; `snapscope drop-partition` takes partitions out.": (
        "Paimon 2.0 没有这个存储过程；请用 `snapscope drop-partition` 删除分区。"
    ),
    "manifests are merged by commits alone; run it in the table's own engine.": (
        "这里只在提交时合并清单；请用表自己的引擎执行。"
    ),
    "no commit here gives one file two owners; run it in the table's own engine.": (
        "这里的提交不会让一个文件同时属于两个分支；请用表自己的引擎执行。"
    ),
    "partitions are not expired here; run it in the table's own engine.": "这里不做分区过期；请用表自己的引擎执行。",
    "it drops every tag, branch and file at once; delete them by plans of their own.": (
        "它会一次删除所有标签、分支和文件；请分别制定计划来删除。"
    ),
    "hints are never trusted here, and repaired by expiries; run it in the table's own engine.": (
        "这里从不相信 hint，过期时会修复它们；请用表自己的引擎执行。"
    ),
    "nothing here commits that a file is lost; run it in the table's own engine.": (
        "这里没有宣告文件丢失的提交；请用表自己的引擎执行。"
    ),
    "nothing here commits that a manifest is lost; run it in the table's own engine.": (
        "这里没有宣告清单丢失的提交；请用表自己的引擎执行。"
    ),
    "it goes by the ancestors' times; roll back to the snapshot that as-of names.": (
        "它按祖先的时间查找；请回滚到 as-of 所指出的快照。"
    ),
    "no commit here replays another; run it in the table's own engine.": (
        "这里的提交不会重放另一个提交；请用表自己的引擎执行。"
    ),
    "orphans of Iceberg tables are not looked for; run it in the table's own engine.": (
        "这里不查找 Iceberg 表的孤儿文件；请用表自己的引擎执行。"
    ),
    "nothing here rewrites data of Iceberg tables; run it in the table's own engine.": (
        "这里不重写 Iceberg 表的数据；请用表自己的引擎执行。"
    ),
    "nothing here rewrites manifests; run it in the table's own engine.": "这里不重写清单；请用表自己的引擎执行。",
    "The CALL names no procedure.": "CALL 没有写明存储过程。",
    "Write CALL sys.NAME(…), or system.NAME(…) for Iceberg.": "请写 CALL sys.NAME(…)，Iceberg 则写 system.NAME(…)。",
    "There is no namespace {namespace!r}.": "没有命名空间 {namespace!r}。",
    "Paimon's is sys, Iceberg's is system.": "Paimon 用 sys，Iceberg 用 system。",
    "CALL {namespace}.{name} has no action here: {why}": "这里不支持 CALL {namespace}.{name}：{why}",
    "There is no procedure {namespace}.{name}.": "没有存储过程 {namespace}.{name}。",
    "{procedure} takes {count} arguments at the most.": "{procedure} 最多接受 {count} 个参数。",
    "One CALL was expected.": "此处应为一条 CALL。",
    "Write CALL sys.create_tag(table => 'db.t', tag => 'v1').": (
        "请写 CALL sys.create_tag(table => 'db.t', tag => 'v1')。"
    ),
    "The CALL cannot be read: {said}": "无法解析这条 CALL：{said}",
    "Write CALL sys.NAME(name => value, …).": "请写 CALL sys.NAME(参数名 => 值, …)。",
    "{value} is no constant.": "{value} 不是常量。",
    "Give a text, a number or a boolean.": "请给出字符串、数字或布尔值。",
    "{procedure} knows no argument {name!r}, or it has no say here.": (
        "{procedure} 没有参数 {name!r}，或它在这里不起作用。"
    ),
    "The argument {name} of {procedure} is given twice.": "{procedure} 的参数 {name} 给了两次。",
    "{procedure} needs the argument {name}.": "{procedure} 缺少参数 {name}。",
    "The argument {name} is given twice.": "参数 {name} 给了两次。",
    "An argument without a name follows one with a name.": "未写名称的参数出现在写了名称的参数之后。",
    "Name them all.": "请给每个参数都写上名称。",
    "There are {known}.": "可用的有：{known}。",
    "They are {listed}.": "它们是：{listed}。",
    "There are {listed}.": "可用的有：{listed}。",
    "There is no readable tag {name!r}, so nothing was changed.": "没有可读的标签 {name!r}，因此未作任何修改。",
    "Snapshots were named, and so was a policy ({given}): only one of them can say which go.": (
        "既点名了快照，又给出了策略（{given}）：删除哪些只能由其中之一决定。"
    ),
    "Give the snapshots, or the policy.": "请只给出快照，或只给出策略。",
    "Tag {name!r} exists already.": "标签 {name!r} 已存在。",
    "Delete it first, or choose another name.": "请先删除它，或换一个名称。",
    "A tag's retention must be longer than nothing.": "标签的保留期限必须大于零。",
    "{given}: of snapshots, and only long-lived changelogs were to go.": (
        "{given}：这些是快照的条件，而这里只要求删除长期 changelog。"
    ),
    "Give changelog-retain-max, changelog-retain-min or changelog-time-retained; expire snapshots in a plan of "
    "their own.": (
        "请给出 changelog-retain-max、changelog-retain-min 或 changelog-time-retained；快照过期请另行制定计划。"
    ),
    "Tags: {known}.": "现有标签：{known}。",
    "Other commits kept coming first; nothing was changed.": "其他提交一直抢先；未作任何修改。",
    "Try again.": "请重试。",
    "A reference that was to be made is another's by now.": "要创建的引用已被他人占用。",
    "Undo this run.": "请撤回这次执行。",
    "Run {id} cannot be undone: {files} of what it removed are gone by another hand, such as {first}.": (
        "执行 {id} 无法撤回：它所移除的文件中有 {files}已被他人删除，例如 {first}。"
    ),
    "Resume it instead.": "请改为继续。",
    "Snapshot {id} was committed, and others may stand on it: it is not taken away again.": (
        "快照 {id} 已提交，可能已有其他提交以它为基础：它不会再被撤掉。"
    ),
    "Resume this run; then roll back to where the table was.": "请继续这次执行；然后回滚到表原来的位置。",
    "There is nothing to do any more.": "已经没有要做的事了。",
    "Others have committed since this was planned; nothing was committed.": (
        "制定计划之后又有其他提交；没有提交任何东西。"
    ),
    "The metadata-log does not name the metadata that the commit replaced, so nobody knows what it took away; no "
    "file was deleted.": "metadata-log 没有记录这次提交所替换的元数据，无从得知它移除了什么；没有删除任何文件。",
    "Undo this run; then plan again.": "请撤回这次执行；然后重新制定计划。",
    "{codec} is {packed!r}, which no engine knows.": "{codec} 是 {packed!r}，没有引擎认识它。",
    "Another writer wrote over {path} right after it was published; no file was deleted.": (
        "{path} 刚发布就被另一个写入者覆盖；没有删除任何文件。"
    ),
    "The metadata that the commit replaced cannot be read, so nobody knows what it took away ({error}); no file "
    "was deleted.": "这次提交所替换的元数据无法读取，无从得知它移除了什么（{error}）；没有删除任何文件。",
    "Undo this run, or restore the file and resume.": "请撤回这次执行，或恢复该文件后继续。",
    "{lost} named a snapshot that goes, and was made while the commit ran; no file was deleted.": (
        "{lost} 指向将删除的快照，且是在提交进行时创建的；没有删除任何文件。"
    ),
    "It is not known whether {path} was written ({failed}); no file was deleted.": (
        "无从得知 {path} 是否已写入（{failed}）；没有删除任何文件。"
    ),
    "{name} names snapshot {named}, which was to go; nothing was changed.": (
        "{name} 指向快照 {named}，而它本应删除；未作任何修改。"
    ),
    "The snapshot {snapshot_id} of {name} is gone since; nothing was changed.": (
        "{name} 的快照 {snapshot_id} 此后已消失；未作任何修改。"
    ),
    "Resume the run instead.": "请改为继续这次执行。",
    "The metadata holds what JSON cannot say ({error}), so it is not written anew.": (
        "元数据中有 JSON 无法表达的内容（{error}），因此不重新写出。"
    ),
    "Make this change with the table's own engine.": "请用表自己的引擎做这项修改。",
    "{path} is gone or was rewritten since; nothing was changed.": "{path} 此后已消失或被改写；未作任何修改。",
    "{path} was made by another hand since; nothing was changed.": "{path} 此后已被他人创建；未作任何修改。",
    "It cannot be taken back exactly: {path} is another's by now. Nothing was changed.": (
        "无法原样撤回：{path} 已被他人占用。未作任何修改。"
    ),
    "It cannot be taken back exactly: the snapshot-log was changed by another hand since. Nothing was changed.": (
        "无法原样撤回：snapshot-log 此后已被他人修改。未作任何修改。"
    ),
    "It cannot be taken back: a REST catalog takes no removed snapshot back ({unsaid}).": (
        "无法撤回：REST Catalog 不接受恢复已移除的快照（{unsaid}）。"
    ),
    "A REST catalog would lose what else is written of {name}: {lost}.": (
        "REST Catalog 会丢失 {name} 的其他内容：{lost}。"
    ),
    "Plain Java (expireSnapshots().commit(), Iceberg 1.11) would delete {files} that {points}, such as {first}: it "
    "takes a whole Puffin file with the first of its vectors that was removed.": (
        "普通 Java（expireSnapshots().commit()，Iceberg 1.11）会删除{points}的 {files}，例如 {first}：一个 Puffin"
        " 文件中的第一个删除向量被移除时，它就删掉整个文件。"
    ),
    "{why}; nothing was changed.": "{why}；未作任何修改。",
    "Carry the change out with the table's own engine, such as CALL system.expire_snapshots in Spark.": (
        "请用表自己的引擎做这项修改，例如在 Spark 中 CALL system.expire_snapshots。"
    ),
    "Of these, plain Java (expireSnapshots().commit()) frees {files} only later: on an unbroken line it deletes a "
    "data file when the snapshot that removed it expires, and that one stays.": (
        "其中 {files}，普通 Java（expireSnapshots().commit()）要到以后才释放：在没有分叉的线上，移除数据文件的快"
        "照过期时它才删除该文件，而那个快照会留下。"
    ),
    "Of these, plain Java (expireSnapshots().commit()) never frees {files}: on an unbroken line it passes over "
    "snapshots that were cherry-picked or picked from, and forgets them.": (
        "其中 {files}，普通 Java（expireSnapshots().commit()）永远不会释放：在没有分叉的线上，它会跳过 "
        "cherry-pick 而来或被 cherry-pick 过的快照，并忘掉它们。"
    ),
    "One metadata file was named, and only the table's directory or its catalog says which is current": (
        "打开的是单个元数据文件，而哪一个才是当前的，只有表的目录或 Catalog 知道"
    ),
    "{count} remaining point still needs": "{count} 个留下的时间点仍然需要",
    "{count} remaining points still need": "{count} 个留下的时间点仍然需要",
    "A table without a catalog is safely changed on a local disk only, not on {protocol!r}": (
        "没有 Catalog 的表只有在本地磁盘上才能安全修改，在 {protocol!r} 上不行"
    ),
    "A catalog owns this table (its metadata is named by uuid), and only through it can it be changed": (
        "这张表归 Catalog 管理（它的元数据以 uuid 命名），只能通过该 Catalog 修改"
    ),
    "Apache Paimon 2.0: rollback as latest, a new snapshot with an old one's content": (
        "Paimon 2.0：以最新快照方式回滚，即一个带有旧内容的新快照"
    ),
    "A Paimon branch is rolled back to a point of its own only.": "Paimon 分支只能回滚到自己的时间点。",
    "Name one of its points.": "请指定它自己的一个时间点。",
    "Snapshot {id} is the newest already, so there is nothing to do.": "快照 {id} 已经是最新的，没有要做的事。",
    "Snapshot {id} will have the content of {point}: {goes} not in it, {comes}. Every snapshot stays.": (
        "快照 {id} 将具有 {point} 的内容：{goes}不在其中，{comes}在其中。所有快照都留下。"
    ),
    "Tag {name} keeps those files. Paimon's own expiry and tag deletion know of one life of a file only: while "
    "that tag is there they take none of them.": (
        "标签 {name} 会留住那些文件。Paimon 自己的过期和标签删除只认文件的一段生命：只要该标签还在，它们就一个也"
        "不会删除。"
    ),
    "finds none": "找不到任何快照",
    "{count} data file of now is": "现在的 {count} 个数据文件",
    "{count} data files of now are": "现在的 {count} 个数据文件",
    "{count} file of then is": "当时的 {count} 个文件",
    "{count} files of then are": "当时的 {count} 个文件",
    "The first snapshot at or past that watermark is {id}; Paimon's own rollback_to_watermark {theirs}: it takes "
    "the last one at or before it.": (
        "watermark 达到或超过它的第一个快照是 {id}；Paimon 自己的 rollback_to_watermark {theirs}：它取 watermark "
        "不大于它的最后一个。"
    ),
    "not among the newest {retained_max} tags, which batch mode counts all (tag.num-retained-max)": (
        "不属于最新的 {retained_max} 个标签，batch 模式会把所有标签都计入（tag.num-retained-max）"
    ),
    "The table option {option} was expected to be process-time, watermark, batch or none, found {mode!r}.": (
        "表选项 {option} 应为 process-time、watermark、batch 或 none，实际是 {mode!r}。"
    ),
    "tag.creation-delay ({delay_ms}) must be shorter than the period ({period_ms}).": (
        "tag.creation-delay（{delay_ms}）必须短于周期（{period_ms}）。"
    ),
    "tag.num-retained-max was expected to be at least 1, found {most!r}: no tag would stay.": (
        "tag.num-retained-max 至少应为 1，实际是 {most!r}：那样一个标签也留不下。"
    ),
    "{create_time} was expected as hh:mm, found {at!r}.": "{create_time} 应写作 hh:mm，实际是 {at!r}。",
    "{create_interval} was expected to be whole days, found {options!r}.": (
        "{create_interval} 应为整天数，实际是 {options!r}。"
    ),
    "One snapshot would have more than one automatic tag ({names}), which the engine refuses, too.": (
        "一个快照会有多个自动标签（{names}），引擎也会拒绝。"
    ),
    "Delete or rename all but one of them.": "请只留下其中一个，其余的删除或重命名。",
    "The table option {key} was expected to be one of {known}, found {found!r}.": (
        "表选项 {key} 应为 {known} 之一，实际是 {found!r}。"
    ),
    "{create_time} and {create_interval} never came: no engine heeds them. Today's options: {said}.": (
        "{create_time} 和 {create_interval} 从未实现：没有引擎理会它们。相当于现在的选项：{said}。"
    ),
    "The table option {key} = {options} asks for more than a tag, which is not done here.": (
        "表选项 {key} = {options} 要求的不只是打标签，这里不做。"
    ),
    "Let the table's own engine make its tags.": "请让表自己的引擎打标签。",
    "snapshot.watermark-idle-timeout: no empty snapshot is committed here to move the watermark on.": (
        "snapshot.watermark-idle-timeout：这里不会为推进 watermark 而提交空快照。"
    ),
    "Which tags are due is not known: {problem}": "无从得知哪些标签到期应打：{problem}",
    "The table option {key} = {options} makes the engine do more than a tag; that is not done here.": (
        "表选项 {key} = {options} 会让引擎做打标签以外的事；这里不做。"
    ),
    "tag.creation-period-duration must be longer than nothing.": "tag.creation-period-duration 必须大于零。",
    "The table option {key} names no time zone that is known here: {name!r}.": (
        "表选项 {key} 所写的时区 {name!r} 在这里不认识。"
    ),
    "{time_ms} ms since 1970 is no calendar time.": "1970 年以来的 {time_ms} 毫秒不是日历上的时间。",
    "not among the newest {retained_max} automatic tags (tag.num-retained-max)": (
        "不属于最新的 {retained_max} 个自动标签（tag.num-retained-max）"
    ),
    "The table option {key} cannot be read: {message}": "表选项 {key} 无法解析：{message}",
    "No partition was named to overwrite.": "没有指定要覆盖的分区。",
    "Name one; an empty mapping is the whole table.": "请指定分区；空的映射表示整张表。",
    "Other commits kept coming first.": "其他提交一直抢先。",
}
