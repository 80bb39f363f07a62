"""core 关于文件的话：元数据、清单、统计信息。一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_FILES: Mapping[str, str] = {
    "A whole Avro file was expected, decoding failed: {first_line}.": "应为完整的 Avro 文件，解码失败：{first_line}。",
    "The file is damaged; restore it or drop the points that need it.": (
        "该文件已损坏；请恢复它，或放弃需要它的时间点。"
    ),
    "The Avro header's schema is no JSON: {error}.": "Avro 文件头中的 schema 不是 JSON：{error}。",
    "The file is damaged.": "该文件已损坏。",
    "{name!r:.60} is no name of an Avro field.": "{name!r:.60} 不是 Avro 字段名。",
    "{name!r:.60} is no Avro field with an id.": "{name!r:.60} 不是带 id 的 Avro 字段。",
    "The Avro field {column} was expected in every record, some have none.": (
        "每条记录都应有 Avro 字段 {column}，有些没有。"
    ),
    "The file was not written by a known version of the table format.": "该文件不是由已知版本的表格式写入的。",
    "The Avro record was expected to have a field {column}, it has none.": "Avro 记录应有字段 {column}，却没有。",
    "An Avro file was expected, found other content.": "应为 Avro 文件，实际是别的内容。",
    "Manifests in ORC or Parquet (an option of old versions) and damaged files cannot be read.": (
        "无法读取 ORC 或 Parquet 格式的清单（旧版本的选项）以及已损坏的文件。"
    ),
    "The file is named by the table's metadata but does not exist.": "表的元数据里有这个文件，而它不存在。",
    "Whatever needs it can no longer be read in full.": "需要它的时间点无法再完整读取。",
    "The file could not be read: {error}.": "无法读取该文件：{error}。",
    "Check access to it.": "请检查对它的访问权限。",
    "A whole Avro file was expected; this one of {data} bytes is cut off or damaged ({error}).": (
        "应为完整的 Avro 文件；这个 {data} 字节的文件不完整或已损坏（{error}）。"
    ),
    "Restore the file or drop the points that need it.": "请恢复该文件，或放弃需要它的时间点。",
    "Schema {id} was expected in the metadata, it is not there.": "元数据中应有表结构 {id}，却没有。",
    "Values of the type {of!r} are not written here.": "这里不写入类型为 {of!r} 的值。",
    "A catalog owns this table and alone knows its current metadata; this is the newest file there is.": (
        "这张表归 Catalog 管理，只有它知道哪份元数据是当前的；这是现有文件中最新的。"
    ),
    "The metadata directory holds no metadata file named by version (v<N>.metadata.json) or by a catalog.": (
        "元数据目录中没有按版本（v<N>.metadata.json）或由 Catalog 命名的元数据文件。"
    ),
    "Open one metadata.json by its own path.": "请按路径打开某个 metadata.json。",
    "The hint says version {version}, and there is no v{version}.metadata.json.": (
        "hint 说是版本 {version}，而没有 v{version}.metadata.json。"
    ),
    "the version {listed}": "版本 {listed}",
    "Harmless: the directory was listed instead.": "无害：已改为列举目录。",
    "the catalog's current metadata": "Catalog 的当前元数据",
    "the newest file": "最新的文件",
    "one metadata of version {newest}": "版本 {newest} 只有一份元数据",
    "another": "另一份",
    "The later written was read.": "读取的是较晚写入的那份。",
    "Restore the file, or open {directory}/{hadoop} by its own path.": (
        "请恢复该文件，或按路径打开 {directory}/{hadoop}。"
    ),
    "the table at {location}": "位于 {location} 的表",
    "a location of {location}": "位置写的是 {location}",
    "The table was moved or copied: its metadata names files at the other place, and no engine looks for them here.": (
        "表被移动或复制过：它的元数据指向另一处的文件，没有引擎会到这里来找。"
    ),
    "a snapshot-log in order of time": "按时间排列的 snapshot-log",
    "times that go back (clocks differed)": "时间有回退（时钟有偏差）",
    "Engines answer time travel differently there; each answer says so.": (
        "各引擎在那里的时间旅行答案不同；每个答案都会注明。"
    ),
    "a snapshot-log": "一份 snapshot-log",
    "an empty one": "空的",
    "No time can be asked, and Java cannot expire this table.": "无法按时间查询，Java 也无法对这张表做过期。",
    "the snapshot {snapshot_id} of {kind} {name}": "{kind} {name} 的快照 {snapshot_id}",
    "no such snapshot": "没有这个快照",
    "The {kind} cannot be read; the next expiry drops it.": "该{kind}无法读取；下一次过期会删除它。",
    "a ref name that is no number, for {name}": "{name} 应是不为数字的引用名",
    "one that reads as a snapshot id": "看上去是快照 id",
    "SQL cannot reach it: VERSION AS OF takes it for an id.": "SQL 无法读到它：VERSION AS OF 会把它当作 id。",
    "a readable manifest": "可读的清单",
    "Restore the file or let what needs it expire.": "请恢复该文件，或让需要它的快照过期。",
    "a readable manifest list": "可读的清单列表",
    "{said} {name} entries were expected from its manifest list, found {counts}": (
        "按清单列表应有 {said} 个 {name} 条目，实际有 {counts} 个"
    ),
    "The file is encrypted, and the keys are not here.": "文件已加密，而这里没有密钥。",
    "Read the table with an engine that holds the keys.": "请用持有密钥的引擎读取这张表。",
    "It names {odd_paths!r:.60}, which is no absolute location.": "其中的 {odd_paths!r:.60} 不是绝对位置。",
    "{name} 0, 1 or 2 was expected, found {odd}.": "{name} 应为 0、1 或 2，实际是 {odd}。",
    "The file was written by a newer version of the table format than is known here.": (
        "该文件由比这里所知更新的表格式版本写入。"
    ),
    "It tells a negative number of {name}.": "其中的 {name} 是负数。",
    "Restore the file.": "请恢复该文件。",
    "Field {name} was expected to be {expected}, found {said}.": "字段 {name} 应为{expected}，实际是 {said}。",
    "Restore the file, or open another metadata.json of the table by its own path.": (
        "请恢复该文件，或按路径打开这张表的另一个 metadata.json。"
    ),
    "The table has format version {version}; versions 1 to {newest} are known.": (
        "表的格式版本是 {version}；已知的是 1 到 {newest}。"
    ),
    "Read it with an engine that knows this version.": "请用认识这个版本的引擎读取。",
    "The table is encrypted, and a commit would need its keys": "表已加密，提交需要它的密钥",
    "{said} {name} entries from its manifest list": "manifest list 所说的 {said} 个 {name} 条目",
    "Harmless: the list counts wrong, for the manifest is as long as the list says.": (
        "无害：是 manifest list 数错了，因为 manifest 的长度与它所说的一致。"
    ),
    "The table was moved or copied: its metadata names files at {location}, so engines look there (Spark's "
    "rewrite_table_path and register_table make a copy a table of its own)": (
        "表被移动或复制过：它的元数据指向 {location} 的文件，引擎会到那里去找"
        "（Spark 的 rewrite_table_path 和 register_table 可以让副本成为独立的表）"
    ),
    "The table was moved or copied, and is opened to read only: its files are read at {here}, where every path under "
    "{location} was rebased to. Engines look at the other place.": (
        "表被移动或复制过，只以只读方式打开：文件在 {here} 读取，{location} 下的每个路径都已改到那里。"
        "引擎会到另一处去找。"
    ),
    "its first bytes are those of no Parquet, ORC or Avro file": "开头的字节不是 Parquet、ORC 或 Avro 文件的",
    "Columns of types that do not compare are left out: {names}": "未比较无法比较的类型的列：{names}",
    "its records are no rows": "它的记录不是行",
    "by their place": "按位置",
    "by today's names": "按现在的列名",
    "Spark has no nanoseconds: {names} are cut down to microseconds": "Spark 没有纳秒：{names} 截断到微秒",
    "Set it again by the table's own engine.": "请用表自己的引擎重新设置它。",
    "The table has no snapshot yet: its current columns, and no rows.": "表还没有快照：只有当前的列，没有行。",
    "An ORC file has a time outside of the years 1677 to 2262, which cannot be read here.": (
        "某个 ORC 文件中有 1677 年到 2262 年以外的时间，这里无法读取。"
    ),
    "a column has several types": "有一列带有多种类型",
    "a record cannot be decoded ({error})": "有一条记录无法解码（{error}）",
    "a version from 1 on": "从 1 开始的版本号",
    "one of the snapshots": "快照之一",
    "one of the schemas {found}": "表结构 {found} 之一",
    "a list of field ids": "字段 id 的列表",
    "one of the specs {specs}": "分区规范 {specs} 之一",
    "one of the sort orders {known}": "排序规则 {known} 之一",
    "an object": "对象",
    "the current snapshot, {current}": "当前快照 {current}",
    "a number of at most 64 bits": "不超过 64 位的整数",
    "a list of objects": "对象的列表",
    "an object of texts": "值为字符串的对象",
    "true or false": "true 或 false",
    "an id of its own": "不重复的 id",
    "a list of locations": "位置的列表",
    "The metadata is packed with zstd, which the table format does not know.": (
        "元数据用 zstd 压缩，而表格式没有这种压缩。"
    ),
    "Write it plain or with gzip.": "请不压缩写出，或用 gzip。",
    "A JSON object was expected, found {name}.": "应为 JSON 对象，实际是 {name}。",
    "The metadata is no whole gzip file: {error}.": "元数据不是完整的 gzip 文件：{error}。",
    "A metadata.json was expected; the file of {content} bytes {what}.": (
        "应为 metadata.json；这个 {content} 字节的文件{what}。"
    ),
    "Restore the file, or open an older metadata.json by its own path.": (
        "请恢复该文件，或按路径打开更早的 metadata.json。"
    ),
    "is empty": "是空的",
    "is no JSON ({error})": "不是 JSON（{error}）",
    "nested too deep": "嵌套太深",
    "The deletion vector cannot be read: {error}.": "无法读取删除向量：{error}。",
    "Without it deleted rows would come back; restore the file, or choose another point.": (
        "没有它，已删除的行会重新出现；请恢复该文件，或选择另一个时间点。"
    ),
    "The table was moved or copied: its metadata says it is at {location}, and it was opened at {opened}, where its "
    "manifest lists are not.": (
        "表被移动或复制过：它的元数据说它在 {location}，而打开的是 {opened}，那里没有它的 manifest list。"
    ),
    "Open {location}, or {path} itself to read the files where it says they are; a copy needs its metadata "
    "rewritten.": "请打开 {location}，或直接打开 {path} 以便到它所说的位置读取文件；复制的表需要重写元数据。",
    "Leave it to an engine that has the type: Spark with Iceberg's own runtime (Spark 4.1 or older), Trino or "
    "DuckDB.": "请交给支持该类型的引擎：带 Iceberg 自己 runtime 的 Spark（4.1 或更早）、Trino 或 DuckDB。",
    "The column '{name}' has the type {of}, which cannot be read through plain Spark.": (
        "列 '{name}' 的类型是 {of}，无法用普通 Spark 读取。"
    ),
    "The column '{name}' of type {root} has an initial-default, which cannot be filled in here.": (
        "类型为 {root} 的列 '{name}' 带有 initial-default，这里无法填入。"
    ),
    "Schema {schema_id} was expected to list fields with id, name and type: {error!r}.": (
        "表结构 {schema_id} 应列出带 id、名称和类型的字段：{error!r}。"
    ),
    "Restore the metadata file, or open an older one by its own path.": "请恢复该元数据文件，或按路径打开更早的一份。",
    "The initial-default {given!r:.60} of '{name}' is no {root}: {error}.": (
        "'{name}' 的 initial-default {given!r:.60} 不是 {root}：{error}。"
    ),
    "{sizes:,} bytes are listed, and {content:,} were read.": "列出的是 {sizes:,} 字节，读到的是 {content:,} 字节。",
    "A stored row (bytes {shown}) cannot be read: {why}.": "无法读取存储的行（字节 {shown}）：{why}。",
    "{values} values were given for {types} types.": "给出了 {values} 个值，而类型有 {types} 个。",
    "A row to be hashed has a multiple of 4 bytes, found {row_bytes}.": (
        "要计算哈希的行的长度应是 4 字节的倍数，实际是 {row_bytes}。"
    ),
    "A value of type {of} in a stored row is not readable here.": "这里无法读取存储行中类型为 {of} 的值。",
    "A value of type {of} cannot be stored in a row here.": "这里无法把类型为 {of} 的值存入行中。",
    "{value!r} is no {of} ({error}).": "{value!r} 不是 {of}（{error}）。",
    "none": "无",
    "Run ANALYZE again.": "请重新执行 ANALYZE。",
    "Its statistics are of schema {schema_id}, which is not there.": (
        "它的统计信息属于表结构 {schema_id}，而后者不存在。"
    ),
    "Restore that schema file; other files are not affected.": "请恢复该表结构文件；其他文件不受影响。",
    "Statistics of {name}: {message}": "{name} 的统计信息：{message}",
    "A file was damaged or replaced by another: restore it from a good copy, or drop this point by name.": (
        "有文件损坏或被另一个文件替换：请用完好的副本恢复，或按名称放弃这个时间点。"
    ),
    "is not there": "不存在",
    "kept, because a point names {path}, which {fate}: it may mean this file": (
        "予以保留，因为某个时间点引用了 {path}，而它{fate}：所指的可能就是这个文件"
    ),
    "has {found} bytes instead of {size}": "有 {found} 字节而不是 {size} 字节",
    "each manifest once in a list": "每个清单在列表中只出现一次",
    "it is named twice": "它出现了两次",
    "what other manifests tell of the same file": "其他清单对同一文件的记录",
    "another size, schema or number of rows": "大小、表结构或行数不同",
    "as many {what} as its list tells": "列表所写的 {what} 数",
    "others": "不同的数",
    "the {key} of {point}, a copy of the same snapshot: {theirs}": "{point}（同一快照的副本）的 {key}：{theirs}",
    "in its live files": "在其有效文件中",
    "as many rows in manifests as totalRecordCount": "清单中的行数与 totalRecordCount 相同",
    "no file named under an unknown key": "未知的键下没有文件名",
    "a {key}, whose size is told": "有 {key}，因为写明了它的大小",
    "manifests with {said:,} rows ({what})": "清单共有 {said:,} 行（{what}）",
    "kept, because a point names {path}, which may be this file": (
        "予以保留，因为某个时间点引用了 {path}，它可能就是这个文件"
    ),
    "The deletion vector at byte {offset} cannot be read: {error}.": "字节 {offset} 处的删除向量无法读取：{error}。",
    "A live data file is in no manifest of its snapshot.": "有一个有效的数据文件不在其快照的任何清单中。",
    "Two deletion vectors are given for {f0}.": "{f0} 有两个删除向量。",
    "A whole Avro file was expected, decoding failed: {error}.": "应为完整的 Avro 文件，解码失败：{error}。",
    "The file is damaged; nothing was committed.": "该文件已损坏；没有提交任何东西。",
    "Format version {known} was expected, found {found}.": "格式版本应为 {known}，实际是 {found}。",
    "The field {name!r} is not known, and writing this file anew would lose it.": (
        "不认识字段 {name!r}，重写该文件会丢失它。"
    ),
    "The table was written by a newer Paimon; make this change with that engine.": (
        "表由更新的 Paimon 写入；请用那个引擎做这项修改。"
    ),
    "The file {name} is added twice and never deleted.": "文件 {name} 新增了两次而从未删除。",
    "The field {name!r} is missing in a manifest record.": "清单记录中缺少字段 {name!r}。",
    "The column '{name}' was changed from {have} to {wanted}; older files cannot be read as that.": (
        "列 '{name}' 的类型由 {have} 改为 {wanted}；旧文件无法按新类型读取。"
    ),
    "Read a point before the change, or use the table's own engine.": "请读取变更之前的时间点，或用表自己的引擎。",
    "The column '{name}' differs from another one only in upper and lower case.": (
        "列 '{name}' 与另一列只有大小写不同。"
    ),
    "Field 'tagCreateTime' was expected to be a time, found {value!r:.60}.": (
        "字段 'tagCreateTime' 应为时间，实际是 {value!r:.60}。"
    ),
    "Field 'tagTimeRetained' was expected to be seconds, found {value!r:.60}.": (
        "字段 'tagTimeRetained' 应为秒数，实际是 {value!r:.60}。"
    ),
    "The branch directory {odd} has a name that is no UTF-8 text.": "分支目录 {odd} 的名称不是 UTF-8 文本。",
    "Rename the directory.": "请重命名该目录。",
    "A branch is stored under the name main, which is the table itself, so what it keeps cannot be told.": (
        "有一个分支以 main 为名存放，而 main 就是表本身，因此无从得知它保留了什么。"
    ),
    "Rename its directory.": "请重命名它的目录。",
    "Field {name!r} was expected to be {wanted}, found {found}.": "字段 {name!r} 应为 {wanted}，实际是 {found}。",
    "The id {name} was expected from the file's name, the document says {snapshot_id}.": (
        "按文件名编号应为 {name}，文件里写的是 {snapshot_id}。"
    ),
    "A JSON document was expected; the file of {content} bytes {what}.": (
        "应为 JSON 文件；这个 {content} 字节的文件{what}。"
    ),
    "no such field": "没有这个字段",
    "Field 'tagCreateTime' holds no time: {error}.": "字段 'tagCreateTime' 不是时间：{error}。",
    "Each column was expected to be an object, found {column!r:.60}.": "每一列都应是对象，实际是 {column!r:.60}。",
    "The key {key!r:.60} is no column of the schema.": "键 {key!r:.60} 不是表结构中的列。",
    "files named {kind}-<number>": "名为 {kind}-<数字> 的文件",
    "files named {kind}-<name>": "名为 {kind}-<名称> 的文件",
    "{expected} were expected from its manifest list, found {found}": "按清单列表应有 {expected}，实际是 {found}",
    "{sizes:,} bytes": "{sizes:,} 字节",
    "the changelog of snapshot {point}": "快照 {point} 的 changelog",
    "It went when the snapshot first expired: only streaming reads of it fail.": (
        "它在该快照最初过期时已被删除：只有流式读取会失败。"
    ),
    "a manifest list of {size:,} bytes": "{size:,} 字节的清单列表",
    "a readable index manifest": "可读的索引清单",
    "a statistics file": "统计信息文件",
    "manifests with {said:,} rows (totalRecordCount)": "清单共有 {said:,} 行（totalRecordCount）",
    "A manifest or manifest list lost entries; restore it or drop this point.": (
        "清单或清单列表丢失了条目；请恢复它，或放弃这个时间点。"
    ),
    "A key has a null, and keys may have none.": "键为 null，而键不能为 null。",
    "A key of type {of} has no bucket here.": "类型为 {of} 的键在这里无法分桶。",
    "A file name was expected, found {name!r}, which points elsewhere.": "应为文件名，实际是 {name!r}，它指向别处。",
    "The file was not written by Paimon; restore it from a good copy.": "该文件不是 Paimon 写的；请用完好的副本恢复。",
    "Format version {version} was expected, found {found}.": "格式版本应为 {version}，实际是 {found}。",
    "The file was written by a newer Paimon than this version of Snapscope knows.": (
        "该文件由比这个版本的 Snapscope 所知更新的 Paimon 写入。"
    ),
    "Entry kinds 0 and 1 were expected, found {kinds}.": "条目种类应为 0 和 1，实际是 {kinds}。",
    "It names {bad!r}, which is no file name.": "其中的 {bad!r} 不是文件名。",
    "The file was not written by Paimon; nothing was read or deleted through it.": (
        "该文件不是 Paimon 写的；没有据此读取或删除任何东西。"
    ),
    "Whatever needs it can no longer be read in full; drop those points by name.": (
        "需要它的时间点无法再完整读取；请按名称放弃那些时间点。"
    ),
    "The table has index files that may speak of the files to be replaced.": "表中有索引文件，可能涉及要被替换的文件。",
    "'{unknown}' is no partition key of this table; its keys are {keys}.": (
        "'{unknown}' 不是这张表的分区键；分区键是 {keys}。"
    ),
    "Snapshot {id} was committed by another engine ({writer}), whose writers take turns by their catalog's lock on "
    "an object store; that lock is not known here.": (
        "快照 {id} 由另一个引擎（{writer}）提交，它在对象存储上写入时靠其 Catalog 的锁轮流进行；这里不认识那把锁。"
    ),
    "Directories of a partition by {of} are named {how}, and no metadata tells that.": (
        "按 {of} 分区的目录名是 {how}，而元数据中没有记录。"
    ),
    "Read such a table with the engine that wrote it.": "请用写入它的引擎读取这样的表。",
    "{written!r} is no value of {of}.": "{written!r} 不是 {of} 的值。",
    "A partition by {of} is not named by its value here.": "按 {of} 的分区在这里不能用值来指明。",
    "A column type must be a text or an object with a text `type`, found {found}.": (
        "列类型应为字符串，或带字符串 `type` 的对象，实际是 {found}。"
    ),
    "{name} is not a column type.": "{name} 不是列类型。",
    "{source} is not a column type.": "{source} 不是列类型。",
    "A column of type {of} cannot be read through Spark.": "类型为 {of} 的列无法通过 Spark 读取。",
    "A column of type {of} has no Arrow form here.": "类型为 {of} 的列在这里没有对应的 Arrow 类型。",
    "The column type {json} lacks or breaks {error}.": "列类型 {json} 缺少或违反 {error}。",
    "The column type {source!r} is not known to Snapscope.": "Snapscope 不认识列类型 {source!r}。",
    "{point} cannot be read in full: {problem}": "{point} 无法完整读取：{problem}",
    "Other points are not affected.": "其他时间点不受影响。",
    "The table has no point {point}.": "表中没有时间点 {point}。",
    "The journal could not be used: {error}. Nothing more is changed without it.": (
        "无法使用日志：{error}。没有日志就不再做任何修改。"
    ),
    "Make it readable, or name another state directory: SNAPSCOPE_STATE. Moved away, a new one is started; resume "
    "and undo of its runs need the old one.": (
        "请使它可读，或另外指定一个状态目录：SNAPSCOPE_STATE。移走之后会新建一份；其中各次执行的继续与撤回需要"
        "旧的那份。"
    ),
    "The journal has no run {run_id!r}.": "日志中没有执行 {run_id!r}。",
    "`snapscope audit` lists runs.": "`snapscope audit` 会列出各次执行。",
    "Run {run} was started by no entry of the journal.": "日志中没有执行 {run} 的开始条目。",
    "Journal entry {number} was altered: its hash does not follow.": "日志条目 {number} 被改动过：它的哈希接不上。",
    "Run {run} was altered: the journal no longer keeps what it was started with.": (
        "执行 {run} 被改动过：日志中的内容已不是它开始时的内容。"
    ),
    "No point of this table that can be read names {text!r}.": "这张表可读的时间点都不包含 {text!r}。",
    "Name a path as `snapscope files TABLE` does, or where it lies; `snapscope orphans TABLE` lists files nothing "
    "names.": (
        "请像 `snapscope files TABLE` 那样写路径，或写它所在的位置；`snapscope orphans TABLE` 会列出未被任何东西"
        "引用的文件。"
    ),
    "{ending:,} files of this table are called {text!r}.": "这张表有 {ending:,} 个文件叫 {text!r}。",
    "No point of this table that can be read names {path!r}.": "这张表可读的时间点都不包含 {path!r}。",
    "Name one by its path, such as {ending}.": "请用路径指定其中一个，例如 {ending}。",
    # 解码时发现了什么
    "{numbers} records were expected, {rows} could be decoded": "应有 {numbers} 条记录，能解码的有 {rows} 条",
    "a block holds more than its records": "一个数据块的内容多于它的记录",
    "a block does not end where its header says": "一个数据块没有在其块头所说的位置结束",
    "the header is cut off": "文件头不完整",
    "a number is too long": "一个数字太长",
    "{length} bytes and 8 more were expected, found {blob} in all": "应有 {length} 字节再加 8 字节，实际共 {blob} 字节",
    "it begins with {body}, not with {magic}": "它以 {body} 开头，而不是 {magic}",
    "its checksum is another": "校验和不符",
    "{length} bytes follow the bitmap": "位图之后还有 {length} 字节",
    "{cardinality} rows were expected, found {found}": "应有 {cardinality} 行，实际有 {found} 行",
    "its positions do not ascend": "其中的位置没有递增",
    "it is shorter than 4 bytes": "它不足 4 字节",
    "it holds {found} fields where {arity} are expected": "它有 {found} 个字段，而应有 {arity} 个",
    "it has {row} bytes where {arity} fields need at least {fixed}": (
        "它有 {row} 字节，而 {arity} 个字段至少需要 {fixed} 字节"
    ),
    "field {index} is no {of} ({error})": "字段 {index} 不是 {of}（{error}）",
    "its place lies outside the row": "它的位置超出了该行",
    "{length} bytes do not fit into the file": "{length} 字节超出了文件",
    "it is of no known kind": "它的种类未知",
    "{size} bytes were expected, {expected} found": "应有 {size} 字节，实际有 {expected} 字节",
    "it holds no Roaring bitmap ({error})": "其中没有 Roaring 位图（{error}）",
}
