"""core 关于大小上限的话。一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_LIMITS: Mapping[str, str] = {
    "A file of at most {most_bytes:,} bytes was expected here, this one has {found}.": (
        "这里的文件最多应为 {most_bytes:,} 字节，实际为 {found}。"
    ),
    "more": "更多",
    "No engine writes such a file: restore it, or move it away if nothing needs it.": (
        "没有引擎会写出这样的文件：请恢复它；若无人需要，请移走它。"
    ),
    "A column type is nested more than {most} deep.": "列类型嵌套超过 {most} 层。",
    "A deletion vector of at most {most:,} bytes was expected, its manifest says {size:,}.": (
        "删除向量最多应为 {most:,} 字节，清单中写的是 {size:,}。"
    ),
    "Restore the manifest, or choose another point.": "请恢复该清单，或选择另一个时间点。",
    "A statement has at most {most:,} characters, this one {found:,}.": (
        "一条语句最多 {most:,} 个字符，这条有 {found:,} 个。"
    ),
    "The CALL is nested too deeply.": "CALL 嵌套过深。",
    "Its arguments are constants.": "它的参数应为常量。",
    "Numbers were expected in the statistics file: {error}.": "统计信息文件中应为数字：{error}。",
    "a block of {plain:,} bytes cannot hold {count:,} records": "{plain:,} 字节的块装不下 {count:,} 条记录",
    "a decimal has at most {most} bytes, this one {found:,}": "小数最多 {most} 字节，这个有 {found:,}",
    "a record has more than {most:,} values": "一条记录的值超过 {most:,} 个",
    "a schema of at most {most:,} bytes was expected, found {found:,}": "schema 最多应为 {most:,} 字节，实际 {found:,}",
    "it asks for more than 2^{bits} bytes of memory": "它要求的内存超过 2^{bits} 字节",
    "it begins a bitmap with a negative number": "其中一个位图以负数开始",
    "it cannot be unpacked: {error}": "无法解压：{error}",
    "it claims {records:,} records, at most {most:,} fit": "它声称有 {records:,} 条记录，最多只能有 {most:,} 条",
    "it claims {total:,} values, more than {most:,}": "它声称有 {total:,} 个值，超过 {most:,}",
    "it has more than {most:,} blocks": "它的块超过 {most:,} 个",
    "it holds half a character (a lone surrogate)": "其中有半个字符（孤立代理）",
    "it holds {values:,} values in {size:,} bytes": "{size:,} 字节中有 {values:,} 个值",
    "it is cut off": "不完整",
    "it is no zstd frame": "不是 zstd 帧",
    "it is packed in more than {most} pieces": "压缩成的段超过 {most} 个",
    "it unpacks to more than {most:,} bytes": "解压后超过 {most:,} 字节",
    "items that take no bytes have no end": "不占字节的元素没有尽头",
    "its rows take more than {most:,} bytes of memory": "它的行占用的内存超过 {most:,} 字节",
    "the header has more than {most:,} bytes": "文件头超过 {most:,} 字节",
    "the header has more than {most:,} entries": "文件头的条目超过 {most:,} 个",
    "the record {name:.60} holds itself": "记录 {name:.60} 包含它自己",
    "two types are named {name:.60}": "有两个类型都叫 {name:.60}",
    "types are nested more than {most} deep": "类型嵌套超过 {most} 层",
    "{count} bitmaps were expected to be at most {most:,}": "位图有 {count} 个，最多应为 {most:,} 个",
    "{text} is no JSON number": "{text} 不是 JSON 数字",
    "{type!r:.60} is no type": "{type!r:.60} 不是类型",
    "its footer takes {found:,} bytes, more than {most:,}": "它的文件尾占 {found:,} 字节，超过 {most:,}",
}
