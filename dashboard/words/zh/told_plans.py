"""core 关于计划的话，一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_PLANS: Mapping[str, str] = {
    # 保留规则
    "retain-min was lowered from the default {least} to {greatest}, because retain-max asks for it.": (
        "retain-min 从默认的 {least} 降到了 {greatest}，因为 retain-max 如此要求。"
    ),
    "among the newest {least} (retain-min)": "属于最新的 {least} 个（retain-min）",
    "max-deletes {most} was reached": "已达到 max-deletes {most}",
    "consumer {name} reads on from snapshot {id}": "消费者 {name} 将从快照 {id} 继续读取",
    "not among the newest {most} (retain-max)": "不属于最新的 {most} 个（retain-max）",
    "the age of snapshot {id} cannot be read": "快照 {id} 的时间无法读取",
    "its successor {id} was": "其后继快照 {id} ",
    "it was": "它",
    "{whose} committed {at}, too young (age protects)": "{whose}提交于 {at}，还太新（受时限保护）",
    "{whose} committed before {at}": "{whose}提交于 {at} 之前",
    "only a prefix may go, and snapshot {id} stays: {why}": "只能从最早的开始连续删除，而快照 {id} 留下：{why}",
    "not named, and {id} is the newest that goes": "没有点名，而 {id} 是将删除的最新一个",
    "named to go": "被点名删除",
    "the newest long-lived changelog always stays": "最新的长期 changelog 总是保留",
    "among the newest {least} (changelog retain-min)": "属于最新的 {least} 个（changelog retain-min）",
    "consumer {name} reads on from {id}": "消费者 {name} 将从 {id} 继续读取",
    "too young (age protects)": "还太新（受时限保护）",
    "its age cannot be read": "它的时间无法读取",
    "committed before {at}": "提交于 {at} 之前",
    "not among the newest {most} (changelog retain-max)": "不属于最新的 {most} 个（changelog retain-max）",
    "its retention ended {ended}; this machine's wall clock says {now}": "保留期限止于 {ended}；本机时钟为 {now}",
    "it tells no creation time, so nobody knows its age": "没有记录创建时间，因此无从得知它的年龄",
    "created {at} by the writer's wall clock, older than asked": "按写入者的时钟创建于 {at}，早于所要求的时间",
    "Snapshot {id} is the newest of job {user}: restarted from an older state, that job cannot see that its "
    "last commit landed and may commit it twice.": (
        "快照 {id} 是作业 {user} 的最新快照：该作业若从更早的状态重启，就看不到自己最后一次提交已成功，可能重复提交。"
    ),
    "Paimon 2.x: a snapshot's age is that of its successor; 50 snapshots a run": (
        "Paimon 2.x：快照的年龄按其后继快照计算；每次最多 50 个快照"
    ),
    "Paimon 1.x: a snapshot's age is its own; 50 snapshots a run": (
        "Paimon 1.x：快照的年龄按它自己计算；每次最多 50 个快照"
    ),
    "Paimon 0.9: a snapshot's age is its own; 10 snapshots a run": (
        "Paimon 0.9：快照的年龄按它自己计算；每次最多 10 个快照"
    ),
    # 计划
    "it belongs to the main branch": "它属于 main 分支",
    "it belongs to branch {name}": "它属于分支 {name}",
    "nothing here asks for it to go": "这里没有要求删除它",
    "named to be deleted": "被点名删除",
    "replaced by {source}": "被{source}取代",
    "the newest snapshot": "最新的快照",
    "snapshot {id}": "快照 {id}",
    "Paimon itself would need {runs} runs for this (snapshot.expire.limit).": (
        "Paimon 自己需要执行 {runs} 次才能做完（snapshot.expire.limit）。"
    ),
    "{files} outside the table and its configured paths would be freed too; they are not ours to delete, stay, and are "
    "not counted.": "还有 {files} 在表及其配置的路径之外也会被释放；它们不归我们删除，会留下，也不计入。",
    "Snapshot ids have a gap; Paimon's own expiry would free other files than these here.": (
        "快照 id 有缺口；Paimon 自己的过期会释放与这里不同的文件。"
    ),
    "Paimon's own CALL expire_snapshots would delete the changelogs that this plan leaves behind: the procedure does "
    "not heed the table's changelog options.": (
        "Paimon 自己的 CALL expire_snapshots 会删除这个计划留下的 changelog：该存储过程不理会表的 changelog 选项。"
    ),
    "The changelogs of the snapshots that go are freed with them.": "将删除的快照的 changelog 会随之释放。",
    "Tag {name} would have ended by itself {at}; replaced without a retention (time-retained), it never does.": (
        "标签 {name} 本会在 {at} 自动到期；改指时不带保留期限（time-retained），就永不到期。"
    ),
    "Files less than a day old are taken, too: what a writer has written and not yet committed looks just like an "
    "orphan.": "不到一天的文件也会被删除：写入作业已写而尚未提交的文件看上去与孤儿文件一样。",
    "Lower bound: {point} goes but could not be read in full, so some of its files stay behind as orphans "
    "({problem})": ("下界：{point} 将删除但无法完整读取，因此它的一些文件会留作孤儿文件（{problem}）"),
    # Iceberg 的引用
    "branch {name} points to it": "分支 {name} 指向它",
    "tag {name} names it": "标签 {name} 指向它",
    "on no ref, and not older than {at}": "不在任何引用上，且不早于 {at}",
    "on no ref, and older than {at}": "不在任何引用上，且早于 {at}",
    "named to expire": "被点名过期",
    "main always stays": "main 总是保留",
    "its snapshot {id} is not there": "它的快照 {id} 不存在",
    "it has no end": "它没有期限",
    "its snapshot is {own} old, past the ref's {age}": "它的快照已有 {own}，超过该引用的 {age}",
    "its snapshot is not yet older than the ref's {age}": "它的快照还没有超过该引用的 {age}",
    "behind a snapshot of branch {name} that goes": "排在分支 {name} 上将删除的快照之后",
    "older than {at}, not among the newest {least} of branch {name}": (
        "早于 {at}，且不属于分支 {name} 最新的 {least} 个"
    ),
    "not older than {at} (branch {name})": "不早于 {at}（分支 {name}）",
    "among the newest {least} of branch {name}": "属于分支 {name} 最新的 {least} 个",
    "named to be dropped": "被点名删除",
    "it will name snapshot {id}": "它将指向快照 {id}",
    "it will point to snapshot {id}": "它将指向快照 {id}",
    "it will point to snapshot {id}, the head of {name}": "它将指向快照 {id}，即 {name} 的头",
    "it will keep otherwise": "它的保留方式将改变",
    "fails": "会失败",
    "goes to {id}": "会到 {id}",
    "Main pointed to {id} then; Iceberg's own rollback_to_timestamp {whither}: it takes the newest ancestor committed "
    "before the time.": (
        "那时 main 指向 {id}；Iceberg 自己的 rollback_to_timestamp {whither}：它取该时间之前提交的最新祖先。"
    ),
    "The table's schema stays {now}; the snapshot was written with schema {then}.": (
        "表结构仍为 {now}；该快照是用表结构 {then} 写入的。"
    ),
    "{count} snapshot ({ids}) is then on no ref": "届时有 {count} 个快照（{ids}）不在任何引用上",
    "{count} snapshots ({ids}) are then on no ref": "届时有 {count} 个快照（{ids}）不在任何引用上",
    "{left}: nothing else holds {files} ({size}) of theirs.": "{left}：其中 {files}（{size}）不被其他任何东西占用。",
    "at least {files}": "至少 {files}",
    "Moving the branch": "移动分支",
    "Moving the tag": "移动标签",
    "Removing the branch": "删除分支",
    "Removing the tag": "删除标签",
    "Removing these branches": "删除这些分支",
    "Removing these tags": "删除这些标签",
    "{what} frees nothing now, nor later: gc.enabled = false switches expiry off.": (
        "{what}现在和以后都不释放任何东西：gc.enabled = false 关闭了过期。"
    ),
    "more without it": "（没有它时多出的）",
    "more without them": "（没有它们时多出的）",
    "more than it would now": "（比现在多出的）",
    "{what} frees 0 files now; the next expiry by the table's own rules frees {files} ({size}) {more}.": (
        "{what}现在释放 0 个文件；下一次按表自己的规则过期会多释放 {files}（{size}）{more}。"
    ),
    "Iceberg expires by the policy beside the snapshots that were named; both are in this plan.": (
        "除了点名的快照，Iceberg 还会按策略过期；两者都在这个计划里。"
    ),
    "The snapshot-log is empty: Java's own expiry of this table fails.": (
        "snapshot-log 是空的：Java 自己对这张表的过期会失败。"
    ),
    "answers no time any more": "不再回答任何时间",
    "reaches back to {at}": "最早只到 {at}",
    "{entries} of {all} leave the snapshot-log: time travel then {reach}; older snapshots that stay are reached by id "
    "and tag only.": (
        "snapshot-log 共 {all} 条，将移除 {entries}：此后时间旅行{reach}；留下的更早快照只能用 id 或标签读取。"
    ),
    "{count} entry": "{count} 条",
    "{count} entries": "{count} 条",
    "Apache Iceberg 1.11: each ref's own retention, files by reachability": (
        "Apache Iceberg 1.11：按各引用自己的保留设置，文件按可达性"
    ),
    "This commit deletes {files} by the table's own rule ({rule}): {named}.": (
        "按表自己的规则（{rule}），这次提交会删除 {files}：{named}。"
    ),
    "{count} old metadata file": "{count} 个旧的元数据文件",
    "{count} old metadata files": "{count} 个旧的元数据文件",
    "Manifests name fewer data files than the snapshot's own summary counts (total-data-files): {what}.": (
        "清单所列的数据文件少于快照自己摘要中的计数（total-data-files）：{what}。"
    ),
    # 计划的一句话
    "{count} file": "{count} 个文件",
    "{count} files": "{count} 个文件",
    "{count} orphaned file": "{count} 个孤儿文件",
    "{count} orphaned files": "{count} 个孤儿文件",
    "{size} in {files}": "{files}，共 {size}",
    "{files} ({size})": "{files}（{size}）",
    "{moved}; frees {freed}.": "{moved}；释放 {freed}。",
    "Frees {size} in {files}.": "释放 {files}，共 {size}。",
    "Nothing is worth compacting.": "没有值得合并的。",
    "Nothing goes, so nothing is freed.": "没有要删除的，因此不释放任何东西。",
    "Frees {freed}; {goes}.": "释放 {freed}；{goes}。",
    "{count} point goes": "删除 {count} 个时间点",
    "{count} points go": "删除 {count} 个时间点",
    "{goes}: {points}": "{goes}：{points}",
    "Tags keep a further {size} of what they held.": "它们占用的另外 {size} 由标签保留。",
    "{moved}; frees nothing.": "{moved}；不释放任何东西。",
    "{moved}; {goes}; frees nothing.": "{moved}；{goes}；不释放任何东西。",
    "{moved}; {goes} with {files} ({size}) that nothing else holds; frees nothing.": (
        "{moved}；{goes}，其中 {files}（{size}）不再被任何东西占用；不释放任何东西。"
    ),
    "no snapshot": "没有快照",
    "Creates tag {name} at {to}": "在{to}处创建标签 {name}",
    "Replaces tag {name} by {to}": "把标签 {name} 改指{to}",
    "{named} for {kept}": "{named}，保留 {kept}",
    "Renames tag {name} to {to}": "把标签 {name} 重命名为 {to}",
    "Creates branch {name} at {to}": "在{to}处创建分支 {name}",
    "Creates branch {name} without any snapshot": "创建没有任何快照的分支 {name}",
    "Lets branch {name} point to {to}": "让分支 {name} 指向{to}",
    "Deletes branch {names}": "删除分支 {names}",
    "Renames branch {name} to {to}": "把分支 {name} 重命名为 {to}",
    "Forwards {branch} to {to}, the head of {name}": "把 {branch} 快进到{to}，即 {name} 的头",
    "Sets {branch} back to {to}": "让 {branch} 回到{to}",
    "Forgets consumer {name}": "忘记消费者 {name}",
    "Sets consumer {name} to {id}": "把消费者 {name} 设到 {id}",
    "Forgets {count} consumer": "忘记 {count} 个消费者",
    "Forgets {count} consumers": "忘记 {count} 个消费者",
    "Takes {rows} rows in {ended} out of {branch} by a commit": "以一次提交从 {branch} 中移除 {ended}中的 {rows} 行",
    "Rewrites {ended} of {branch} by a commit": "以一次提交重写 {branch} 的 {ended}",
    "Counts the rows of {branch} and commits the statistics": "统计 {branch} 的行数并提交统计信息",
    "{first} Of its long-lived changelogs: {second}": "{first}它的长期 changelog：{second}",
    "At the least these go: {points}.": "至少会删除：{points}。",
    "{points} and {more} more": "{points} 等，另有 {more} 个",
    # 与 Paimon 对照
    "Paimon itself would fail: {why}.": "Paimon 自己会失败：{why}。",
    "Paimon itself would break {point}: it deletes {files} still held there.": (
        "Paimon 自己会破坏 {point}：它会删除仍被其占用的 {files}。"
    ),
    "Paimon itself would strand {files} that nothing holds afterwards.": (
        "Paimon 自己会遗留 {files}，此后不被任何东西占用。"
    ),
    # 为什么要小心
    "Nothing else keeps snapshot {id} (committed {at}): afterwards it cannot be read again.": (
        "快照 {id}（提交于 {at}）再没有别的东西保留：此后再也无法读取。"
    ),
    "Nothing else keeps snapshot {id} (committed {at}): once an expiry has taken it, it cannot be read again.": (
        "快照 {id}（提交于 {at}）再没有别的东西保留：一旦被过期清理，就再也无法读取。"
    ),
    "So it is with {count} more snapshot.": "另有 {count} 个快照也是如此。",
    "So it is with {count} more snapshots.": "另有 {count} 个快照也是如此。",
    "{count} tag goes: somebody named it": "删除 {count} 个标签：它是有人特意起名的",
    "{count} tags go: somebody named them": "删除 {count} 个标签：它们是有人特意起名的",
    "{count} branch goes: somebody named it": "删除 {count} 个分支：它是有人特意起名的",
    "{count} branches go: somebody named them": "删除 {count} 个分支：它们是有人特意起名的",
    "{count} file will be held by nothing": "{count} 个文件将不被任何东西占用",
    "{count} files will be held by nothing": "{count} 个文件将不被任何东西占用",
    "{files} ({size}) under {root}": "{root} 下的 {files}（{size}）",
    "Outside the table's directory it deletes {roots}.": "在表的目录之外，它会删除：{roots}。",
    "outside the table's directory {it} go": "表的目录之外将删除：{it}",
    "{files} stay and are not counted: {why}.": "{files}会留下，也不计入：{why}。",
    "it is the root of a file system": "它是一个文件系统的根目录",
    "it is a whole bucket": "它是整个存储桶",
    "the table itself lies in it": "这张表自己就在其中",
    "it lies in the table, whose files have other names there": "它在这张表之内，表的文件在那里另有名称",
    "another table lies in it, {name}": "另一张表在其中：{name}",
    "it lies in another table, {name}": "它在另一张表之内：{name}",
    "they lie in another table, {name}": "它们在另一张表之内：{name}",
    "nobody could look whether they lie in another table: {error}": "无法查看它们是否在另一张表之内：{error}",
    "Not all of {root} was searched for other tables.": "没有在 {root} 的全部内容中查找别的表。",
    "{root} is a whole file system: all that it holds lies under this root.": (
        "{root} 是一整个文件系统：其中的一切都在这个根目录之下。"
    ),
    "it lies outside the table, under no root that was named": "它在表之外，不在任何被点名的根目录之下",
    "a symbolic link leads out of {root}, under which it lies": "一个符号链接从它所在的 {root} 通向别处",
    "This plan deletes {files}, outside the table's directory, and nobody has said that these are this table's alone; "
    "nothing was changed.": "这个计划会在表的目录之外删除 {files}，而没有人确认它们只属于这张表；没有改动任何东西。",
    "Where no other table, nor a copy of this one, needs them: --outside {root}": (
        "如果没有别的表或这张表的副本需要它们：--outside {root}"
    ),
    "Nothing may be deleted under {root}, because {why}; nothing was changed.": (
        "{root} 之下不允许删除任何东西，因为{why}；没有改动任何东西。"
    ),
    "Nobody could look whether other tables lie under {root}: {error}": "无法查看 {root} 之下是否有别的表：{error}",
    "{url!r} cannot be named literally on its store, so nothing is read or deleted there.": (
        "{url!r} 在它的存储上无法按原样指定，因此不在那里读取或删除任何东西。"
    ),
    "{directory} is no directory of a partition of this table, so it was not searched.": (
        "{directory} 不是这张表的分区目录，因此没有搜索它。"
    ),
    "`snapscope orphans TABLE` lists those that may be named.": "`snapscope orphans TABLE` 会列出可以点名的目录。",
    "Name a partition directory with --also to clean it, too.": "用 --also 点名一个分区目录，就会一并清理它。",
    "{count} partition directories that no snapshot or tag mentions stay: {named}.": (
        "{count} 个没有任何快照或标签提到的分区目录会留下：{named}。"
    ),
    "{count} directories of other tables stay: {named}.": "{count} 个别的表的目录会留下：{named}。",
    "{count} directories that are none of this table's stay: {named}.": "{count} 个不属于这张表的目录会留下：{named}。",
    "Not every snapshot or tag can be read, and those may need what would be freed: nobody knows how much.": (
        "并非每个快照或标签都能读取，而它们可能需要将被释放的文件：无法得知会释放多少。"
    ),
    "half of the table's bytes or more go": "表的一半或更多字节将删除",
    "{count} warning": "{count} 条警告",
    "{count} warnings": "{count} 条警告",
    "Give both, max at least min.": "请两个都给出，max 不小于 min。",
    "its branch will be {name}": "它的分支将改名为 {name}",
    "newer than snapshot {id}": "比快照 {id} 新",
    "it names a snapshot {why}": "它指向的快照{why}",
    "Run {run_id} deletes {files} outside the table's directory, such as {first}, and nobody has said that these are "
    "this table's alone; nothing was changed.": (
        "运行 {run_id} 会删除表目录之外的{files}，例如 {first}，而没有人声明过它们只属于这张表；什么都没有改动。"
    ),
    "Resume it with {roots}, where no other table, nor a copy of this one, needs them.": (
        "若没有其他表，也没有这张表的副本需要它们，请用 {roots} 继续该运行。"
    ),
    "Restore the file, or forget this reader: snapscope clear-consumers.": (
        "请恢复该文件，或忘记这个读取者：snapscope clear-consumers。"
    ),
    "Not in this plan, {files}: {why}.": "不在这个计划中的{files}：{why}。",
    "{files} outside the table's directory stay, which the table's own rule would delete with this commit: {named}.": (
        "表目录之外的{files}会留下，按表自己的规则它们本会随这次提交删除：{named}。"
    ),
    "{path} cannot go, for nobody knows what it says. {found}.": "{path} 不能删除，因为无法得知它的内容。{found}。",
    "Not every point can be read in full, so what is lost is not exactly known.": (
        "并非每个时间点都能完整读取，因此无法确知会失去什么。"
    ),
    "replaced by branch {name}, which begins at snapshot {id}": "被分支 {name} 取代，它从快照 {id} 开始",
}
