"""core 关于位置的话：存储、Catalog、仓库。一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_PLACES: Mapping[str, str] = {
    "{point} names no manifest {name!r}.": "{point} 中没有清单 {name!r}。",
    "Choose one of its manifests; another point may name it.": "请从它的清单中选择；也可能属于另一个时间点。",
    "Statistics of {files:,} files were asked for; at most {most_files:,} are decoded at once.": (
        "要求 {files:,} 个文件的统计信息；一次最多解码 {most_files:,} 个。"
    ),
    "Name a partition, or one file.": "请指定一个分区或一个文件。",
    "{name!r} is no name to keep something under.": "{name!r} 不能用作保存的名称。",
    "Lower-case letters, digits and dashes.": "请用小写字母、数字和连字符。",
    "What was kept under the name {name!r} cannot be read: expected a JSON document, found {error}. It was left as "
    "it is.": "以 {name!r} 保存的内容无法读取：应为 JSON 文件，实际是 {error}。它保持原样。",
    "Mend the file, or move it away: an empty one is started then.": "请修好该文件，或把它移走：之后会从空的开始。",
    "The state directory cannot be written: {strerror}. Nothing was kept.": (
        "无法写入状态目录：{strerror}。什么也没有保存。"
    ),
    "Make it writable, or name another one: SNAPSCOPE_STATE.": "请使它可写，或另外指定一个：SNAPSCOPE_STATE。",
    "{location!r} names no table of a catalog.": "{location!r} 没有指明 Catalog 中的表。",
    "It is not known whether the catalog took {what} ({masked}); no file was deleted.": (
        "无从得知 Catalog 是否接受了 {what}（{masked}）；没有删除任何文件。"
    ),
    "This is no Iceberg table but {table_type!r}.": "这不是 Iceberg 表，而是 {table_type!r}。",
    "{location} is a catalog or a namespace, not a table.": "{location} 是 Catalog 或命名空间，不是表。",
    "The catalog tells no metadata file of this table.": "Catalog 没有给出这张表的元数据文件。",
    "Tables of a {kind} are read only here; nothing was changed.": "{kind} 的表在这里只能读取；未作任何修改。",
    "Carry the change out with the table's own engine.": "请用表自己的引擎做这项修改。",
    "pyiceberg's configuration names no catalog {name!r}.": "pyiceberg 的配置中没有 Catalog {name!r}。",
    "Catalogs are reached through pyiceberg, and it lacks something: {error}.": (
        "Catalog 通过 pyiceberg 访问，而它缺少依赖：{error}。"
    ),
    "Install it, with pyiceberg's own extra of that kind of catalog: {command}": (
        "请安装它以及 pyiceberg 对应该类 Catalog 的 extra：{command}"
    ),
    "The catalog could not answer: {said}.": "Catalog 无法回答：{said}。",
    "Check its configuration (.pyiceberg.yaml, PYICEBERG_*) and the connection; nothing was changed.": (
        "请检查它的配置（.pyiceberg.yaml、PYICEBERG_*）和连接；未作任何修改。"
    ),
    "Write {scheme}CATALOG/NAMESPACE/TABLE.": "请写 {scheme}CATALOG/NAMESPACE/TABLE。",
    "The installed pyiceberg has no {missing} in its {kind}, so it could do more than is asked of it.": (
        "已安装的 pyiceberg 的 {kind} 中没有 {missing}，因此它可能做出超出要求的事。"
    ),
    "Install the version that Snapscope needs: {command}": "请安装 Snapscope 所需的版本：{command}",
    "pyiceberg, through which this catalog is committed to, cannot read this metadata: {error}.": (
        "向这个 Catalog 提交要通过 pyiceberg，而它无法读取这份元数据：{error}。"
    ),
    "Look at the table again; then resume or undo this run.": "请再看一下这张表；然后继续或撤回这次执行。",
    "The catalog knows no {what} ({said}).": "Catalog 中没有 {what}（{said}）。",
    "Name a table: {scheme}{catalog}/NAMESPACE/TABLE.": "请写明表：{scheme}{catalog}/NAMESPACE/TABLE。",
    "Catalogs: {listed}. They are configured in .pyiceberg.yaml or PYICEBERG_CATALOG__NAME__URI.": (
        "现有 Catalog：{listed}。它们在 .pyiceberg.yaml 或 PYICEBERG_CATALOG__NAME__URI 中配置。"
    ),
    "Give a path or an fsspec URL.": "请给出路径或 fsspec URL。",
    "The directory {relative} kept changing while it was listed.": "列举目录 {relative} 时它一直在变。",
    "The store could not write this file: {error}.": "存储无法写入该文件：{error}。",
    "Check space and access, then try again.": "请检查空间和访问权限，然后重试。",
    "The store could not answer for this path: {error}.": "存储无法回答这个路径：{error}。",
    "The store did not answer within {seconds:g} s.": "存储在 {seconds:g} 秒内没有应答。",
    "The store has not answered an earlier reader yet.": "存储尚未应答先前的读取。",
    "Check the mount or the connection, then try again; nothing was changed.": (
        "请检查挂载或连接，然后重试；没有任何更改。"
    ),
    "{variable}={text} is no number of seconds between 0 and 86,400.": (
        "{variable}={text} 不是 0 到 86,400 之间的秒数。"
    ),
    "Write {variable}=60, or unset it.": "请写 {variable}=60，或取消设置。",
    "A file was expected here, found {found}; it was not read.": "此处应为文件，却是{found}；没有读取它。",
    "a named pipe": "命名管道",
    "a socket": "套接字",
    "a device": "设备",
    "something else": "其他东西",
    "Move it away, or put back the file that belongs there.": "请移走它，或放回本应在此的文件。",
    "Check access and connection, then try again; nothing was changed.": (
        "请检查访问权限和连接，然后重试；未作任何修改。"
    ),
    "{url!r} names no path on this machine.": "{url!r} 不是本机上的路径。",
    "Write file:///path, with ? and # as %3F and %23.": "请写 file:///path，其中 ? 和 # 写作 %3F 和 %23。",
    "The location is blank.": "位置为空。",
    "The location holds a NUL character.": "位置含有 NUL 字符。",
    "The path {relative!r} leaves the table's directory.": "路径 {relative!r} 超出了表的目录。",
    "{path} does not lie in {location}.": "{path} 不在 {location} 之内。",
    "Name a file of this table.": "请指定这张表的文件。",
    "{relative} lies outside the table behind a symbolic link; it was kept.": (
        "{relative} 经由符号链接位于表之外；予以保留。"
    ),
    "This symbolic link leads to nothing that is there.": "这个符号链接指向的东西不存在。",
    "Mount what it leads to, or remove the link.": "请挂载它所指向的位置，或移除该链接。",
    "{url!r} is no URL: {error}.": "{url!r} 不是 URL：{error}。",
    "No file system for {location!r}: {error}.": "没有适用于 {location!r} 的文件系统：{error}。",
    "Install its package: {command}": "请安装对应的包：{command}",
    "Install the fsspec package of that protocol.": "请安装该协议的 fsspec 包。",
    "A directory was expected at {relative}, found a file.": "{relative} 处应为目录，实际是文件。",
    "Move the file away, or name the directory that is meant.": "请移走该文件，或指定所要的目录。",
    "There is no file {relative}.": "没有文件 {relative}。",
    "{relative} exists already.": "{relative} 已存在。",
    "{path} lies in the table, where it has another name; it was kept.": (
        "{path} 位于表内，在那里另有名称；予以保留。"
    ),
    "This disk has no hard links ({strerror}), so files cannot be created exclusively on it.": (
        "这块磁盘不支持硬链接（{strerror}），因此无法在其上独占创建文件。"
    ),
    "There is no directory {relative}.": "没有目录 {relative}。",
    "Files cannot be created exclusively on {protocol!r} stores.": "在 {protocol!r} 存储上无法独占创建文件。",
    "Files cannot be deleted on {protocol!r} stores.": "在 {protocol!r} 存储上无法删除文件。",
    "The store lists this file, and reading it says that there is none.": "存储列出了这个文件，读取时却说没有它。",
    "The store says that this reference is not there, and still lets it be read; no file was deleted.": (
        "存储说这个引用不存在，却仍能读到它；没有删除任何文件。"
    ),
    "Check the store, then go on with `snapscope resume {run}`.": (
        "请检查存储，然后用 `snapscope resume {run}` 继续。"
    ),
    "If it was deleted just now, wait until the store no longer lists it; else restore it.": (
        "如果它刚被删除，请等到存储不再列出它；否则请恢复它。"
    ),
    "{location} holds no table: neither {some} nor {last}.": "{location} 不是表：既没有 {some}，也没有 {last}。",
    "Paimon's schema/schema-<N>": "Paimon 的 schema/schema-<N>",
    "Iceberg's metadata/*.metadata.json": "Iceberg 的 metadata/*.metadata.json",
    "{location} is a warehouse, not a table.": "{location} 是仓库，不是表。",
    "There is no table at {location}.": "{location} 处没有表。",
    "Check the path; `snapscope tables WAREHOUSE` lists.": "请检查路径；`snapscope tables WAREHOUSE` 会列出各表。",
    "Name a table, such as {location}/<db>.db/<table>.": "请写明表，例如 {location}/<db>.db/<table>。",
    "Set the option right.": "请改正该选项。",
    "{text!r} is shorter than a millisecond or longer than 100,000 days.": "{text!r} 短于一毫秒或长于 100,000 天。",
    "{text!r} is no duration.": "{text!r} 不是时长。",
    "{text!r} has no unit, so it could be seconds or milliseconds.": "{text!r} 没有单位，可能是秒，也可能是毫秒。",
    "Write {number} s or {number} ms.": "请写 {number} s 或 {number} ms。",
    "Write a whole number and a unit: 7 d, 36 h, 90 min, 30 s, 500 ms.": (
        "请写整数加单位：7 d、36 h、90 min、30 s、500 ms。"
    ),
    "{text!r} is no size.": "{text!r} 不是大小。",
    "Write a whole number and a unit: 8 mb, 128 kb, 1 gb.": "请写整数加单位：8 mb、128 kb、1 gb。",
    "Name a time of this age.": "请给出有效的时间。",
    "There is no file {location}.": "没有文件 {location}。",
    "There is no warehouse at {location}.": "{location} 处没有仓库。",
    "a directory that can be listed": "可列举的目录",
    "a database directory that can be listed": "可列举的数据库目录",
    "a catalog that answers": "能回答的 Catalog",
    "a table directory that can be listed": "可列举的表目录",
    "a namespace that can be listed": "可列举的命名空间",
    # 时间点与时区
    "A point is a snapshot id, tag:NAME, branch:NAME, branch:NAME/latest~N, time:ISO-TIME-WITH-ZONE or "
    "time:EPOCH-MILLISECONDS, latest, earliest or latest~N.": (
        "时间点的写法：快照 id、tag:NAME、branch:NAME、branch:NAME/latest~N、time:带时区的 ISO 时间、time:毫秒数"
        "、latest、earliest 或 latest~N。"
    ),
    "{point!r} is no point.": "{point!r} 不是时间点。",
    "Ref {name} names snapshot {snapshot_id}, which is not among the table's snapshots.": (
        "引用 {name} 指向快照 {snapshot_id}，而它不在表的快照之中。"
    ),
    "Name another point; the next expiry drops the ref.": "请指定另一个时间点；下一次过期会删除该引用。",
    "Iceberg snapshots have no watermark.": "Iceberg 的快照没有 watermark。",
    "The table has no current snapshot.": "表没有当前快照。",
    "Nothing was committed to main yet.": "还没有向 main 提交过任何东西。",
    "A time names what main pointed to, so it cannot be asked of {branch!r}.": (
        "时间问的是 main 当时指向哪里，因此不能对 {branch!r} 提问。"
    ),
    "Name the branch, an id, or a time without a branch.": "请指定分支、id，或不带分支的时间。",
    "The earliest of {chain} ancestors of {head}.": "{head}的 {chain} 个祖先中最早的一个。",
    "Snapshot {id} was written with schema {schema_id}, which the metadata names no more (it was cleaned away).": (
        "快照 {id} 是用表结构 {schema_id} 写入的，而元数据中已没有它（已被清理）。"
    ),
    "Read it by an older metadata.json, which still has the schema.": "请用仍含有该表结构的旧 metadata.json 读取。",
    "{tags} tags are too many to choose from; at most {max_droppable}.": (
        "{tags} 个标签太多，无法从中选择；最多 {max_droppable} 个。"
    ),
    "There is no time zone {name!r}.": "没有时区 {name!r}。",
    "Write one such as Asia/Shanghai.": "请写成 Asia/Shanghai 这样。",
}
