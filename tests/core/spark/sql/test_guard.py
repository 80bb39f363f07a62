"""What user SQL may do: ordinary analysis of the opened views, with correct rows, and nothing else."""

from __future__ import annotations

import datetime as dt
import re
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.errors import Invalid
from core.spark.query.query import query
from core.spark.sql import allowed, guard, spark_plans
from core.table import open_table
from tests.support.builders import TableBuilder

OPEN = {"t", "t_before"}
DAY1, DAY2, DAY3 = (dt.date(2026, 1, day) for day in (1, 2, 3))

# (what it shows, query, rows in order)
LEGITIMATE: list[tuple[str, str, list[tuple[Any, ...]]]] = [
    ("filter", "SELECT id FROM t WHERE city = 'Oslo' AND qty BETWEEN 3 AND 9 ORDER BY id", [(3,), (4,)]),
    ("upper case name", "SELECT count(*) FROM T", [(5,)]),
    (
        "group, having",
        "SELECT city, sum(qty) AS n FROM t GROUP BY city HAVING count(*) > 1 ORDER BY ALL",
        [("Oslo", 11)],
    ),
    (
        "decimal sum by day",
        "SELECT day, sum(qty * price) AS money FROM t GROUP BY day ORDER BY day",
        [(DAY1, Decimal("40.00")), (DAY2, Decimal("57.50")), (DAY3, Decimal("99.99"))],
    ),
    (
        "what was added since",
        "SELECT id FROM t EXCEPT SELECT id FROM t_before ORDER BY id",
        [(4,), (5,)],
    ),
    ("what was lost since", "SELECT b.id, b.city FROM t_before b LEFT ANTI JOIN t USING (id)", [(9, "Moss")]),
    (
        "what changed since",
        "SELECT id, b.qty, t.qty FROM t JOIN t_before b USING (id) WHERE b.qty <> t.qty",
        [(3, 3, 5)],
    ),
    (
        "full outer comparison",
        """SELECT coalesce(t.id, b.id) AS id,
                  CASE WHEN b.id IS NULL THEN 'added' WHEN t.id IS NULL THEN 'removed' ELSE 'changed' END AS what
           FROM t FULL OUTER JOIN t_before b ON t.id = b.id WHERE NOT (t.qty <=> b.qty) ORDER BY id""",
        [(3, "changed"), (4, "added"), (5, "added"), (9, "removed")],
    ),
    (
        "two totals side by side",
        "SELECT (SELECT sum(qty) FROM t) AS now, (SELECT sum(qty) FROM t_before) AS before",
        [(13, 7)],
    ),
    (
        "row_number",
        """SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY city ORDER BY qty DESC, id) AS rn FROM t)
           WHERE rn = 1 ORDER BY id""",
        [(2,), (3,), (5,)],
    ),
    (
        "running sum, named window",
        "SELECT id, sum(qty) OVER w AS upto FROM t WINDOW w AS (ORDER BY id ROWS UNBOUNDED PRECEDING) ORDER BY id",
        [(1, 2), (2, 3), (3, 8), (4, 12), (5, 13)],
    ),
    (
        "lag over days",
        """WITH d AS (SELECT day, count(*) AS n FROM t GROUP BY day)
           SELECT day, n - lag(n, 1, 0) OVER (ORDER BY day) AS grown FROM d ORDER BY day""",
        [(DAY1, 2), (DAY2, 0), (DAY3, -1)],
    ),
    (
        "named arguments",
        """SELECT mask('Ab1', digitChar => 'd', lowerChar => 'y') AS m,
                  (SELECT sum(col) FROM explode(collection => array(1, 2))) AS n""",
        [("Xyd", 3)],
    ),
    (
        "range frame over dates",
        """SELECT id, sum(qty) OVER (ORDER BY day RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS n
           FROM t ORDER BY id""",
        [(1, 3), (2, 3), (3, 12), (4, 12), (5, 10)],
    ),
    (
        "WITH twice, the second over the first",
        """WITH a AS (SELECT city, qty FROM t), b(c, n) AS (SELECT city, sum(qty) FROM a GROUP BY 1)
           SELECT * FROM b ORDER BY c""",
        [("Bergen", 1), ("Oslo", 11), ("Tromso", 1)],
    ),
    ("WITH inside a subquery", "SELECT (WITH x AS (SELECT max(id) AS m FROM t) SELECT m FROM x) AS m", [(5,)]),
    ("a WITH name hides a view", "WITH t AS (SELECT 7 AS id) SELECT id FROM t", [(7,)]),
    (
        "recursion",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT sum(i) FROM n",
        [(10,)],
    ),
    (
        "pivot",
        """SELECT * FROM (SELECT city, day, qty FROM t) PIVOT (sum(qty) FOR city IN ('Oslo' AS oslo, 'Bergen'))
           ORDER BY day""",
        [(DAY1, 2, 1), (DAY2, 9, None), (DAY3, None, None)],
    ),
    (
        "unpivot",
        """SELECT * FROM (SELECT id, qty, id * 2 AS twice FROM t WHERE id < 3) UNPIVOT (v FOR k IN (qty, twice))
           ORDER BY id, k""",
        [(1, "qty", 2), (1, "twice", 2), (2, "qty", 1), (2, "twice", 4)],
    ),
    (
        "lambdas",
        """SELECT transform(tags, x -> upper(x)), filter(tags, (x, i) -> i > 0), exists(tags, x -> x = 'b'),
                  aggregate(array(1, 2, 3), 0, (acc, x) -> acc + x, acc -> acc * 10)
           FROM t WHERE id = 1""",
        [(["A", "B"], ["b"], True, 60)],
    ),
    (
        "pipes",
        """FROM t |> WHERE qty > 1 |> AGGREGATE sum(qty) AS n GROUP BY city |> EXTEND n + 1 AS m
           |> SELECT city, m |> ORDER BY m""",
        [("Oslo", 12)],
    ),
    (
        "pipes with set, drop, join",
        """FROM t |> SELECT id, qty, city |> SET qty = qty * 2 |> DROP city |> AS now
           |> JOIN t_before b ON now.id = b.id |> SELECT now.id, now.qty, b.qty AS old |> ORDER BY id |> LIMIT 2""",
        [(1, 4, 2), (2, 2, 1)],
    ),
    (
        "union, intersect",
        "(SELECT id FROM t INTERSECT SELECT id FROM t_before) UNION ALL SELECT 0 ORDER BY id",
        [(0,), (1,), (2,), (3,)],
    ),
    (
        "in, exists",
        """SELECT id FROM t WHERE id IN (SELECT id FROM t_before)
           AND EXISTS (SELECT 1 FROM t_before b WHERE b.id = t.id + 1) ORDER BY id""",
        [(1,), (2,)],
    ),
    (
        "correlated scalar",
        "SELECT id FROM t o WHERE qty = (SELECT max(qty) FROM t i WHERE i.city = o.city) ORDER BY id",
        [(2,), (3,), (5,)],
    ),
    (
        "lateral view",
        "SELECT id, tag FROM t LATERAL VIEW explode(tags) x AS tag ORDER BY id, tag",
        [(1, "a"), (1, "b"), (2, "a"), (5, "c")],
    ),
    (
        "lateral view outer",
        "SELECT id, tag FROM t LATERAL VIEW OUTER explode(tags) x AS tag WHERE tag IS NULL ORDER BY id",
        [(3, None), (4, None)],
    ),
    (
        "lateral subquery",
        """SELECT t.id, n FROM t, LATERAL (SELECT count(*) AS n FROM t_before b WHERE b.city = t.city)
           WHERE id < 3 ORDER BY id""",
        [(1, 2), (2, 1)],
    ),
    (
        "explode in select",
        "SELECT id, posexplode(tags) AS (i, tag) FROM t WHERE id = 1 ORDER BY i",
        [(1, 0, "a"), (1, 1, "b")],
    ),
    (
        "table functions",
        "SELECT * FROM range(2, 4) JOIN explode(array(10, 20)) AS e(x) ORDER BY ALL",
        [(2, 10), (2, 20), (3, 10), (3, 20)],
    ),
    (
        "calendar with holes",
        """SELECT d FROM (SELECT explode(sequence(date'2026-01-01', date'2026-01-05', interval 1 day)) AS d)
           WHERE d NOT IN (SELECT day FROM t) ORDER BY d""",
        [(dt.date(2026, 1, 4),), (dt.date(2026, 1, 5),)],
    ),
    ("sequence of columns", "SELECT size(sequence(min(day), max(day))) FROM t", [(3,)]),
    (
        "dates",
        """SELECT date_trunc('MONTH', day), year(day), EXTRACT(month FROM day), day + INTERVAL 1 MONTH,
                  datediff(day, date'2025-12-31'), date_format(day, 'yyyyMMdd'), dateadd(DAY, 2, day),
                  timestampdiff(HOUR, timestamp'2026-01-01', timestamp'2026-01-02 03:00:00'),
                  last_day(day), weekday(day)
           FROM t WHERE id = 1""",
        [
            (
                dt.datetime(2026, 1, 1),
                2026,
                1,
                dt.date(2026, 2, 1),
                1,
                "20260101",
                dt.datetime(2026, 1, 3),
                27,
                dt.date(2026, 1, 31),
                3,
            )
        ],
    ),
    (
        "times are UTC",
        "SELECT hour(timestamp'2026-01-01T12:00:00+02:00'), cast(timestamp_millis(0) AS string)",
        [(10, "1970-01-01 00:00:00")],
    ),
    ("today is a date", "SELECT current_date > date'2020-01-01', current_date() = to_date(now())", [(True, True)]),
    (
        "tumbling windows",
        """SELECT window.start, count(*) FROM (SELECT timestamp'2026-01-01 00:30:00' AS at)
           GROUP BY window(at, '1 hour')""",
        [(dt.datetime(2026, 1, 1), 1)],
    ),
    (
        "json",
        """SELECT get_json_object(note, '$.k'), from_json(note, 'k int').k + 1, to_json(struct(id, city)),
                  parse_json(note):k::int
           FROM t WHERE id = 2""",
        [("2", 3, '{"id":2,"city":"Bergen"}', 2)],
    ),
    (
        "json_tuple",
        "SELECT id, k FROM t LATERAL VIEW json_tuple(note, 'k') j AS k WHERE k > '3' ORDER BY id",
        [(4, "4"), (5, "5")],
    ),
    (
        "rollup",
        "SELECT city, day, count(*) FROM t GROUP BY ROLLUP (city, day) HAVING grouping_id() = 3",
        [(None, None, 5)],
    ),
    (
        "grouping sets and cube",
        "SELECT count(*) FROM (SELECT 1 FROM t GROUP BY GROUPING SETS ((city), (day), ()), CUBE (qty))",
        [(21,)],
    ),
    (
        "filtered and distinct aggregates",
        "SELECT count(*) FILTER (WHERE qty > 1), count(DISTINCT city), max_by(id, price) FROM t",
        [(3, 3, 5)],
    ),
    (
        "ordered aggregates",
        """SELECT listagg(city, ',') WITHIN GROUP (ORDER BY id), percentile_cont(0.5) WITHIN GROUP (ORDER BY qty),
                  median(qty) FROM t""",
        [("Oslo,Bergen,Oslo,Oslo,Tromso", 2.0, 2.0)],
    ),
    (
        "first and last",
        "SELECT first(id), last(id), any_value(city) FROM (SELECT * FROM t WHERE id = 4)",
        [(4, 4, "Oslo")],
    ),
    (
        "text",
        """SELECT upper(city) || '!', substring(city FROM 2 FOR 2), trim(BOTH 'o' FROM 'oxo'), position('s' IN city),
                  lpad(id, 3, '0'), regexp_replace(city, '[aeiou]', '*'), split('a,b', ',')[1], city LIKE 'O%',
                  city ILIKE ANY ('x%', 'o%'), city RLIKE '^O', format_string('%05d|%s', id, city), repeat('=', 3),
                  initcap('ab cd'), overlay('abc' PLACING 'X' FROM 2)
           FROM t WHERE id = 1""",
        [("OSLO!", "sl", "x", 2, "001", "Osl*", "b", True, True, True, "00001|Oslo", "===", "Ab Cd", "aXc")],
    ),
    (
        "numbers",
        """SELECT 7 DIV 2, 7 % 4, -7 & 3, 1 << 4, round(2.567, 2), ceil(1.2), power(2, 10), pmod(-1, 3),
                  try_divide(1, 0), 1e3, 0.5BD""",
        [(3, 3, 1, 16, Decimal("2.57"), 2, 1024.0, 2, None, 1000.0, Decimal("0.5"))],
    ),
    (
        "casts and conditions",
        """SELECT CAST('3' AS INT), '4'::bigint, try_cast('x' AS int), if(true, 1, 2), nullif(1, 1), nvl(null, 5),
                  1 IS DISTINCT FROM 2""",
        [(3, 4, None, 1, None, 5, True)],
    ),
    (
        "maps and structs",
        """SELECT map('a', 1)['a'], named_struct('x', 2).x, struct(3 AS y).y, map_keys(map('k', 1)),
                  element_at(array(8, 9), -1)""",
        [(1, 2, 3, ["k"], 9)],
    ),
    ("inline table", "SELECT k, n FROM VALUES ('a', 1), ('b', 1 + 1) AS v(k, n) ORDER BY k", [("a", 1), ("b", 2)]),
    ("inline table of functions", "SELECT * FROM VALUES (upper('a'), to_date('2026-01-01')) AS v(k, d)", [("A", DAY1)]),
    ("a query without a table", "VALUES (1)", [(1,)]),
    ("the table alone", "TABLE t |> WHERE id = 1 |> SELECT id", [(1,)]),
    (
        "star without a column",
        "SELECT * EXCEPT (day, city, qty, price, tags, note) FROM t ORDER BY 1 LIMIT 2 OFFSET 1",
        [(2,), (3,)],
    ),
    ("lateral column alias", "SELECT qty * 2 AS double_qty, double_qty + 1 AS plus FROM t WHERE id = 1", [(4, 5)]),
    ("join hint", "SELECT /*+ BROADCAST(b) */ count(*) FROM t JOIN t_before b USING (id)", [(3,)]),
    ("distribute and sort", "SELECT id FROM (SELECT * FROM t CLUSTER BY city) ORDER BY id DESC LIMIT 1", [(5,)]),
    ("sample", "SELECT count(*) FROM t TABLESAMPLE (100 PERCENT)", [(5,)]),
    ("a column named user", "SELECT user FROM (SELECT city AS user, id FROM t) WHERE id = 1", [("Oslo",)]),
    ("a backticked name", "SELECT `order count` FROM (SELECT count(*) AS `order count` FROM `t`)", [(5,)]),
    ("comments and a final semicolon", "SELECT /* all */ count(*) -- of them\nFROM t;", [(5,)]),
    ("a collation", "SELECT count(*) FROM t WHERE city COLLATE UTF8_LCASE = 'OSLO'", [(3,)]),
    ("from first", "FROM t SELECT id WHERE id = 2", [(2,)]),
    ("a long list", f"SELECT count(*) FROM t WHERE id IN ({', '.join(map(str, range(3, 3_000)))})", [(3,)]),
    ("many conditions", f"SELECT count(*) FROM t WHERE {' OR '.join(f'id = {i}' for i in range(4, 300))}", [(2,)]),
]

NOT_OPEN = "is not an opened table"
NOT_LISTED = "not on the list of allowed functions"
NOT_READING = "is not allowed in a read-only query"
SYNTAX = "Syntax error"

# family → (query, what the refusal must say)
HOSTILE: dict[str, list[tuple[str, str]]] = {
    "files as relations, in every position": [
        ("SELECT * FROM csv.`/etc/passwd`", NOT_OPEN),
        ("SELECT * FROM text.`/etc/passwd`", NOT_OPEN),
        ("SELECT * FROM binaryFile.`/etc`", NOT_OPEN),
        ("SELECT * FROM parquet.`/tmp/x`", NOT_OPEN),
        ("SELECT * FROM json.`file:///etc/passwd`", NOT_OPEN),
        ("SELECT * FROM jdbc.`jdbc:derby:x`", NOT_OPEN),
        ("TABLE text.`/etc/passwd`", NOT_OPEN),
        ("FROM text.`/etc/passwd` |> SELECT *", NOT_OPEN),
        ("FROM t |> UNION ALL (SELECT * FROM text.`/etc/passwd`)", NOT_OPEN),
        ("FROM t |> JOIN text.`/etc/passwd` ON true", NOT_OPEN),
        ("SELECT * FROM t JOIN text.`/etc/passwd` ON true", NOT_OPEN),
        ("SELECT (SELECT max(value) FROM text.`/etc/passwd`) FROM t", NOT_OPEN),
        ("SELECT * FROM t WHERE city IN (SELECT value FROM text.`/etc/passwd`)", NOT_OPEN),
        ("SELECT * FROM t WHERE EXISTS (SELECT 1 FROM text.`/etc/passwd`)", NOT_OPEN),
        ("SELECT * FROM t ORDER BY (SELECT max(value) FROM text.`/etc/passwd`)", NOT_OPEN),
        ("SELECT count(*) FROM t GROUP BY id HAVING count(*) > (SELECT count(*) FROM text.`/etc/passwd`)", NOT_OPEN),
        ("SELECT sum(qty) FILTER (WHERE city IN (SELECT value FROM text.`/etc/passwd`)) FROM t", NOT_OPEN),
        ("WITH x AS (SELECT * FROM text.`/etc/passwd`) SELECT * FROM x", NOT_OPEN),
        ("WITH text AS (SELECT 1) SELECT * FROM text.`/etc/passwd`", NOT_OPEN),
        ("SELECT * FROM t, LATERAL (SELECT * FROM text.`/etc/passwd`)", NOT_OPEN),
        ("SELECT transform(tags, x -> (SELECT max(value) FROM text.`/etc/passwd`)) FROM t", NOT_OPEN),
        ("SELECT sum(qty) OVER (PARTITION BY (SELECT max(value) FROM text.`/etc/passwd`)) FROM t", NOT_OPEN),
        ("SELECT * FROM (SELECT city, qty FROM t UNION SELECT value, 1 FROM text.`/etc/passwd`)", NOT_OPEN),
        ("SELECT * FROM STREAM text.`/etc/passwd`", NOT_OPEN),
        ("SELECT * FROM IDENTIFIER('te' || 'xt.`/etc/passwd`')", NOT_READING),
        ("SELECT * FROM `text`.`/etc/passwd` TABLESAMPLE (5 ROWS)", NOT_OPEN),
        ("SELECT * FROM VALUES ((SELECT max(value) FROM text.`/etc/passwd`))", NOT_OPEN),
        ("SELECT * FROM t LIMIT (SELECT count(*) FROM text.`/etc/passwd`)", NOT_OPEN),
    ],
    "other tables and other people's views": [
        ("SELECT * FROM secret", NOT_OPEN),
        ("SELECT * FROM Secret", NOT_OPEN),
        ("SELECT * FROM global_temp.shared", NOT_OPEN),
        ("SELECT * FROM spark_catalog.default.stored", NOT_OPEN),
        ("SELECT * FROM default.stored", NOT_OPEN),
        ("SELECT * FROM stored", NOT_OPEN),
        ("SELECT * FROM `default.stored`", NOT_OPEN),
        ("SELECT * FROM system.session.t", NOT_OPEN),
        ("SELECT * FROM information_schema.tables", NOT_OPEN),
        ("WITH x AS (WITH secret AS (SELECT 1) SELECT * FROM secret) SELECT * FROM x, secret", NOT_OPEN),
        ("SELECT (WITH secret AS (SELECT 1 AS a) SELECT a FROM secret), city FROM secret", NOT_OPEN),
        ("WITH a AS (SELECT * FROM secret), secret AS (SELECT 1) SELECT * FROM a", NOT_OPEN),
        ("WITH secret AS (SELECT * FROM secret) SELECT * FROM secret", NOT_OPEN),
        ("SELECT * FROM t VERSION AS OF 1", NOT_READING),
        ("SELECT * FROM t TIMESTAMP AS OF '2026-01-01'", NOT_READING),
        ("SELECT * FROM t WITH ('path' = '/etc/passwd')", "without options"),
        ("SELECT * FROM STREAM t", "without STREAM"),
    ],
    "calling code": [
        ("SELECT reflect('java.lang.System', 'getenv', 'HOME')", NOT_LISTED),
        ("SELECT java_method('java.lang.System', 'exit', 1)", NOT_LISTED),
        ("SELECT try_reflect('java.lang.System', 'getenv', 'HOME')", NOT_LISTED),
        ("SELECT system.builtin.reflect('java.lang.System', 'getenv', 'HOME')", NOT_LISTED),
        ("SELECT builtin.upper('a')", NOT_LISTED),
        ("SELECT IDENTIFIER('reflect')('java.lang.System', 'getenv', 'HOME')", NOT_READING),
        ("SELECT transform(tags, x -> reflect('java.lang.System', 'getenv', x)) FROM t", NOT_LISTED),
        ("SELECT mask(str => reflect('java.lang.System', 'getenv', 'HOME'))", NOT_LISTED),
        ("SELECT * FROM t LATERAL VIEW reflect('java.lang.System', 'getenv', 'HOME') x AS y", NOT_LISTED),
        ("SELECT sum(qty) OVER (ORDER BY reflect('java.lang.System', 'getenv', 'HOME')) FROM t", NOT_LISTED),
        ("SELECT * FROM t DISTRIBUTE BY reflect('java.lang.System', 'getenv', 'HOME')", NOT_LISTED),
        ("SELECT * FROM VALUES (reflect('java.lang.System', 'getenv', 'HOME'))", NOT_LISTED),
        ("SELECT * FROM t PIVOT (max(reflect('java.lang.System', 'getenv', 'HOME')) FOR city IN ('Oslo'))", NOT_LISTED),
        ("SELECT RE\\u0066LECT('java.lang.System', 'getenv', 'HOME')", SYNTAX),
        ("SELECT `reflect`('java.lang.System', 'getenv', 'HOME')", NOT_LISTED),
        ("SELECT ReFlEcT('java.lang.System', 'getenv', 'HOME')", NOT_LISTED),
        ("SELECT my_udf(id) FROM t", NOT_LISTED),
        ("SELECT from_avro(note, 'x') FROM t", NOT_LISTED),
        ("SELECT from_protobuf(note, 'M', '/etc/passwd') FROM t", NOT_LISTED),
        ("SELECT xpath('<a/>', 'a')", NOT_LISTED),
        ("SELECT from_xml('<a/>', 'a int')", NOT_LISTED),
    ],
    "a shell": [
        ("SELECT TRANSFORM(id) USING 'id' FROM t", NOT_READING),
        ("SELECT TRANSFORM(id) USING 'touch {canary}' AS (x string) FROM t", NOT_READING),
        ("MAP id USING 'id' FROM t", "rejected"),
        ("REDUCE id USING 'id' FROM t", "rejected"),
        ("FROM t MAP id USING 'id'", NOT_READING),
        ("FROM t REDUCE id USING 'id'", NOT_READING),
        ("SELECT * FROM (SELECT TRANSFORM(id) USING 'id' FROM t)", NOT_READING),
        ("WITH x AS (SELECT TRANSFORM(id) USING 'id' FROM t) SELECT * FROM x", NOT_READING),
        ("SELECT * FROM t WHERE id IN (SELECT TRANSFORM(id) USING 'id' AS (y) FROM t)", NOT_READING),
    ],
    "settings and environment": [
        ("SELECT '${env:HOME}'", "${"),
        ("SELECT '${system:user.home}'", "${"),
        ("SELECT '${spark.driver.host}'", "${"),
        ("SELECT ${spark:spark.master}", "${"),
        ("SET spark.sql.runSQLOnFiles = true", NOT_READING),
        ("SET", NOT_READING),
        ("SET -v", NOT_READING),
        ("SET VAR x = 1", NOT_READING),
        ("SET TIME ZONE 'Asia/Tokyo'", NOT_READING),
        ("RESET", NOT_READING),
        ("SELECT :parameter", NOT_READING),
        ("SELECT ?", NOT_READING),
        ("DECLARE VARIABLE x INT DEFAULT 1", NOT_READING),
        ("SELECT current_user()", NOT_LISTED),
        ("SELECT current_user", "current user"),
        ("SELECT user", "current user"),
        ("SELECT session_user FROM t", "current user"),
        ("SELECT id FROM t WHERE city = user", "current user"),
        ("SELECT user FROM VALUES (1)", "current user"),
        ("VALUES (current_user)", "current user"),
        ("SELECT version()", NOT_LISTED),
        ("SELECT current_catalog()", NOT_LISTED),
        ("SELECT current_database()", NOT_LISTED),
        ("SELECT current_schema()", NOT_LISTED),
        ("SELECT input_file_name() FROM t", NOT_LISTED),
        ("SELECT input_file_block_start() FROM t", NOT_LISTED),
        ("SELECT spark_partition_id() FROM t", NOT_LISTED),
        ("SELECT _metadata.file_path FROM t", "cannot be resolved"),
    ],
    "writing, defining, telling": [
        ("INSERT INTO t SELECT * FROM t", NOT_READING),
        ("INSERT OVERWRITE t SELECT * FROM t", NOT_READING),
        ("INSERT OVERWRITE DIRECTORY '{canary}' USING csv SELECT 1", NOT_READING),
        ("INSERT OVERWRITE LOCAL DIRECTORY '{canary}' SELECT 1", NOT_READING),
        ("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", NOT_READING),
        ("FROM t INSERT INTO u SELECT *", NOT_READING),
        ("UPDATE t SET id = 1", NOT_READING),
        ("DELETE FROM t", NOT_READING),
        ("MERGE INTO t USING t_before b ON t.id = b.id WHEN MATCHED THEN DELETE", NOT_READING),
        ("CREATE TABLE x USING csv LOCATION '{canary}' AS SELECT 1", NOT_READING),
        ("CREATE TABLE x (a int) USING parquet", NOT_READING),
        ("CREATE TEMPORARY VIEW x USING csv OPTIONS (path '/etc/passwd')", NOT_READING),
        ("CREATE OR REPLACE TEMP VIEW t AS SELECT 1", NOT_READING),
        ("CREATE GLOBAL TEMP VIEW x AS SELECT 1", NOT_READING),
        (
            "CREATE TEMPORARY FUNCTION f() RETURNS STRING RETURN java_method('java.lang.System', 'getenv', 'HOME')",
            NOT_READING,
        ),
        ("CREATE FUNCTION f AS 'java.lang.String'", NOT_READING),
        ("CREATE DATABASE x LOCATION '{canary}'", NOT_READING),
        ("DROP VIEW t", NOT_READING),
        ("DROP TABLE IF EXISTS x", NOT_READING),
        ("ALTER VIEW t AS SELECT 1", NOT_READING),
        ("TRUNCATE TABLE x", NOT_READING),
        ("LOAD DATA LOCAL INPATH '/etc/passwd' INTO TABLE x", NOT_READING),
        ("ADD JAR '/tmp/x.jar'", NOT_READING),
        ("ADD FILE '/etc/passwd'", NOT_READING),
        ("LIST FILES", NOT_READING),
        ("CACHE TABLE t", NOT_READING),
        ("CACHE TABLE x AS SELECT 1", NOT_READING),
        ("UNCACHE TABLE t", NOT_READING),
        ("CLEAR CACHE", NOT_READING),
        ("REFRESH '/etc'", NOT_READING),
        ("ANALYZE TABLE t COMPUTE STATISTICS", NOT_READING),
        ("USE x", NOT_READING),
        ("CALL system.x()", NOT_READING),
        ("EXPLAIN SELECT 1", NOT_READING),
        ("EXPLAIN EXTENDED SELECT * FROM t", NOT_READING),
        ("DESCRIBE t", NOT_READING),
        ("DESCRIBE QUERY SELECT 1", NOT_READING),
        ("DESCRIBE FUNCTION upper", NOT_READING),
        ("SHOW TABLES", NOT_READING),
        ("SHOW VIEWS", NOT_READING),
        ("SHOW FUNCTIONS", NOT_READING),
        ("SHOW DATABASES", NOT_READING),
        ("SHOW COLUMNS IN secret", NOT_READING),
        ("EXECUTE IMMEDIATE 'SELECT 1'", NOT_READING),
        ("EXECUTE IMMEDIATE 'SELECT * FROM text.`/etc/passwd`'", NOT_READING),
        ("BEGIN SELECT 1; END", "script"),
        ("BEGIN DECLARE x INT DEFAULT 1; SELECT x; END", "script"),
        ("COMMENT ON TABLE t IS 'x'", NOT_READING),
    ],
    "table functions": [
        ("SELECT * FROM sql_keywords()", NOT_LISTED),
        ("SELECT * FROM collations()", NOT_LISTED),
        ("SELECT * FROM python_worker_logs()", NOT_LISTED),
        ("SELECT * FROM read_files('/etc/passwd')", NOT_LISTED),
        ("SELECT * FROM my_udtf(TABLE(t))", NOT_LISTED),
        ("SELECT * FROM TABLE(range(3))", NOT_LISTED),
        ("SELECT * FROM t LATERAL VIEW default.explode(tags) x AS y", NOT_LISTED),
        ("SELECT * FROM system.builtin.range(3)", "cannot specify database name"),
        ("SELECT * FROM range(0, 10, 1, 1000000000)", "at most 3 arguments"),
        ("SELECT * FROM range(end => 3)", "requires the parameter `end`"),
    ],
    "memory, size and time": [
        ("SELECT repeat('x', 2000000000)", "2,000,000,000"),
        ("SELECT length(repeat('x', 2e9))", "2,000,000,000"),
        ("SELECT repeat('x', 2 * 1000 * 1000000)", "elements"),
        ("SELECT repeat('x', CAST('2000000000' AS int))", "elements"),
        ("SELECT repeat('x', CAST(id AS int) * 1000000000) FROM t", "elements"),
        ("SELECT repeat(repeat(city, 10000), 10000) FROM t", "repeat would create"),
        ("SELECT transform(sequence(1, 100000), x -> repeat('x', 10000))", "transform would create"),
        ("SELECT space(2000000000)", "space"),
        ("SELECT lpad('x', 2000000000, 'y')", "lpad"),
        ("SELECT rpad(city, 2000000000, 'y') FROM t", "rpad"),
        ("SELECT array_repeat(1, 2000000000)", "array_repeat"),
        ("SELECT array_insert(array(1), 2000000000, 1)", "array_insert"),
        ("SELECT size(sequence(1, 1000000000))", "sequence"),
        ("SELECT explode(sequence(1, 1000000000))", "sequence"),
        ("SELECT sequence(-1000000000, 1)", "sequence"),
        ("SELECT sequence(0, 1000 * 1000 * 1000)", "sequence"),
        ("SELECT sequence(1, 100000000, 2)", "sequence"),
        ("SELECT sequence(timestamp'2000-01-01', timestamp'2026-01-01', interval 1 second)", "sequence"),
        ("SELECT * FROM explode(sequence(1, 1000000000))", "sequence"),
        ("SELECT * FROM t LATERAL VIEW explode(sequence(1, 1000000000)) x AS y", "sequence"),
        ("SELECT * FROM VALUES (repeat('x', 2000000000))", "repeat"),
        ("SELECT * FROM stack(2000000000, 1)", "stack"),
        ("SELECT format_string('%2000000000d', 1)", "format_string"),
        ("SELECT printf(concat('%2000000000', 'd'), 1)", "printf"),
        ("SELECT format_number(1.5, 2000000000)", "format_number"),
        ("SELECT round(1.5D, 2000000000)", "round"),
        ("SELECT histogram_numeric(qty, 2000000000) FROM t", "histogram_numeric"),
        ("SELECT approx_count_distinct(qty, 1e-9) FROM t", "approx_count_distinct"),
        ("SELECT count(*) FROM t GROUP BY window(day, '1000 days', '1 microsecond')", "window"),
        ("SELECT /*+ REPARTITION(1000000000) */ * FROM t", "hint"),
        ("SELECT /*+ COALESCE(1) */ * FROM t", "hint"),
        (
            f"SELECT count(*) FROM t GROUP BY CUBE ({', '.join(f'id + {i}' for i in range(13))})",
            "grouping sets",
        ),
        (
            f"SELECT count(*) FROM t GROUP BY {', '.join(f'CUBE (id + {i}, qty + {i}, city)' for i in range(5))}",
            "grouping sets",
        ),
        (
            "WITH RECURSIVE r MAX RECURSION LEVEL 1000000 AS (SELECT 1 AS n UNION ALL SELECT n FROM r) SELECT * FROM r",
            "recursion",
        ),
        ("SELECT 1" + " " * 20_000, "characters long"),
        ("SELECT 1 \0", "NUL"),
        ("SELECT " + "+".join(["1"] * 400), "nested too deeply"),
        ("SELECT " + "+".join(["1"] * 3_000), "too complex to parse"),
        ("SELECT " + "(" * 2_000 + "1" + ")" * 2_000, "nested too deeply"),
        (
            "WITH a0 AS (SELECT 1)"
            + "".join(f", a{i} AS (SELECT 1 FROM a{i - 1}, a{i - 1} AS b)" for i in range(1, 12))
            + " SELECT * FROM a11",
            "relations",
        ),
    ],
    "not SQL, or more than one statement": [
        ("", SYNTAX),
        (";", SYNTAX),
        ("SELEC 1", SYNTAX),
        ("SELECT 1; DROP VIEW t", SYNTAX),
        ("SELECT 1; SELECT * FROM text.`/etc/passwd`", SYNTAX),
        ("SELECT 1 /* ; DROP VIEW t", "Spark cannot run this query"),
        ("\uff33\uff25\uff2c\uff25\uff23\uff34 1", SYNTAX),
        ("@@version", SYNTAX),
    ],
}
CASES = [(family, sql, says) for family, queries in HOSTILE.items() for sql, says in queries]


@pytest.fixture(scope="module")
def shop(shop: SparkSession) -> Iterator[SparkSession]:
    """Beside the opened views: a stored table and a global view, which no query may reach. Every session sees both."""
    shop.sql("CREATE TABLE IF NOT EXISTS default.stored USING parquet AS SELECT 'x' AS city")
    shop.sql("CREATE OR REPLACE GLOBAL TEMP VIEW shared AS SELECT 'x' AS city")
    yield shop
    shop.sql("DROP TABLE default.stored")
    shop.sql("DROP VIEW global_temp.shared")


@pytest.mark.parametrize(("sql", "rows"), [pytest.param(sql, rows, id=shows) for shows, sql, rows in LEGITIMATE])
def test_analysis_passes_with_the_right_rows(shop: SparkSession, sql: str, rows: list[tuple[Any, ...]]) -> None:
    guard.check_text(sql, OPEN)
    checked = guard.check(shop, sql, OPEN)
    assert [tuple(row) for row in checked.frame.collect()] == rows


@pytest.mark.parametrize(
    ("sql", "says"), [pytest.param(sql, says, id=f"{family}: {sql[:60]}") for family, sql, says in CASES]
)
def test_hostile_statements_are_refused_by_name(shop: SparkSession, tmp_path: Path, sql: str, says: str) -> None:
    canary = tmp_path / "canary"
    with pytest.raises(Invalid) as refused:
        guard.check(shop, sql.replace("{canary}", str(canary)), OPEN)
    assert says in str(refused.value)
    assert not canary.exists()


@pytest.mark.parametrize("sql", ["delete from t", "DROP", "select '${x}'"])
def test_what_begins_no_query_is_refused_before_spark_starts(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def starts(*_: object, **_how: object) -> None:
        raise AssertionError("Spark was asked for")

    monkeypatch.setattr("core.spark.sql.run.run_on_spark", starts)
    table = TableBuilder(tmp_path / "shop.db" / "orders")
    table.commit([])
    with pytest.raises(Invalid, match=r"was rejected: .* over orders, t\."):
        query(open_table(str(table.root)), sql)
    for left in ("/* so */ delete from t", "-- so\ndelete from t", "(select 1)", "selectä", "", "1"):
        guard.check_text(left, OPEN)  # is Spark's to judge


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("selec 1", "Syntax error at 'selec' (line 1, position 1): did you mean SELECT?"),
        ("\n  Wiht x as (select 1) from x", "Syntax error at 'Wiht' (line 2, position 3): did you mean WITH?"),
    ],
)
def test_a_misspelt_keyword_is_told_with_its_place(sql: str, says: str) -> None:
    with pytest.raises(Invalid) as refused:
        guard.check_text(sql, OPEN)
    assert refused.value.message == says


def test_there_are_enough_of_both() -> None:
    assert len(CASES) >= 90
    assert len(LEGITIMATE) >= 25


def test_a_refusal_names_what_is_allowed(shop: SparkSession) -> None:
    with pytest.raises(Invalid) as refused:
        guard.check(shop, "SELECT * FROM secret", OPEN)
    assert str(refused.value) == (
        "The query was rejected: `secret` is not an opened table. Only one query is allowed "
        "(SELECT, WITH, VALUES, TABLE or FROM …), over t, t_before."
    )


def test_the_views_that_are_read_are_told(shop: SparkSession) -> None:
    assert guard.check(shop, "SELECT 1", OPEN).reads == frozenset()
    assert guard.check(shop, "WITH x AS (SELECT * FROM T) SELECT * FROM x", OPEN).reads == {"t"}
    both = "SELECT * FROM t WHERE id IN (SELECT id FROM t_before WHERE EXISTS (SELECT 1 FROM t))"
    assert guard.check(shop, both, {"T", "t_before"}).reads == {"t", "t_before"}


def test_what_slips_through_names_is_caught_in_the_analyzed_plan(shop: SparkSession) -> None:
    """A WITH name must not lend itself to a table outside its scope, even if the first check believed it."""
    plan = shop._jsparkSession.sessionState().sqlParser().parsePlan("SELECT * FROM secret JOIN stored USING (city)")
    analyzed = guard._frame(shop, plan)._jdf.queryExecution().analyzed()
    tree = spark_plans.read(shop, analyzed, analyzed=True)
    with pytest.raises(guard._Refused, match="`secret` is not an opened table"):
        guard._check_analyzed(tree, frozenset({"t"}))
    with pytest.raises(guard._Refused, match="outside the opened tables"):
        guard._check_analyzed(tree, frozenset({"secret"}))  # now `stored`, which is no view


def test_the_checked_plan_is_the_one_that_runs(shop: SparkSession) -> None:
    """Replacing the view between check and run changes nothing: names are resolved once."""
    session = shop.newSession()
    session.sql("VALUES (1)").createOrReplaceTempView("v")
    checked = guard.check(session, "SELECT * FROM v", {"v"})
    session.sql("VALUES (2)").createOrReplaceTempView("v")
    assert [row[0] for row in checked.frame.collect()] == [1]


def test_a_view_over_python_code_may_be_opened(shop: SparkSession) -> None:
    """The views are ours and are not looked into: they may read files and call Python, as a query itself may not."""
    session = shop.newSession()
    session.range(3).mapInArrow(lambda batches: batches, "id long").createOrReplaceTempView("v")
    checked = guard.check(session, "SELECT sum(a.id) FROM v a JOIN v b USING (id)", {"v"})
    assert [tuple(row) for row in checked.frame.collect()] == [(3,)]


def test_every_allowed_function_exists_and_every_other_one_is_known(shop: SparkSession) -> None:
    """A new Spark brings new functions: they are refused, and this test shows them to whoever raises the version."""
    spark_has = {row[0] for row in shop.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert allowed.FUNCTIONS - spark_has == frozenset()
    assert spark_has >= allowed.TABLE_FUNCTIONS
    assert (
        set(allowed.SIZED) | set(allowed.MOST_ARGUMENTS) | {"sequence"} <= allowed.FUNCTIONS | allowed.TABLE_FUNCTIONS
    )
    left_out = {name for name in spark_has - allowed.FUNCTIONS - allowed.TABLE_FUNCTIONS if name.isidentifier()}
    families = "aes_ try_aes_ approx_top_k bitmap_ current_ hll_ input_file_ kll_ schema_of_ st_ theta_ xpath".split()
    assert {name for name in left_out if not name.startswith(tuple(families))} == set(
        """and assert_true case collations count_min_sketch from_avro from_protobuf from_xml in java_method not or
        python_worker_logs raise_error randstr reflect session_user spark_partition_id sql_keywords to_avro to_protobuf
        to_xml try_reflect user version when""".split()
    )


@pytest.mark.slow
def test_every_documented_example_of_an_allowed_function_passes(spark: SparkSession) -> None:
    """The lists of classes leave out nothing that an allowed function needs: Spark's own examples show it."""
    jvm: Any = spark._jvm
    analysis = jvm.org.apache.spark.sql.catalyst.analysis
    registries = [analysis.FunctionRegistry.builtin(), analysis.TableFunctionRegistry.builtin()]
    expected = ("named argument", "set command", "data type TIME is not supported", "window is allowed with at most 2")
    passed, refused = 0, {}
    for name in sorted(allowed.FUNCTIONS | allowed.TABLE_FUNCTIONS):
        identifier = jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(name)
        found = [registry.lookupFunction(identifier) for registry in registries]
        examples = next(info.get().getExamples() for info in found if info.isDefined())
        for sql in re.findall(r"> (.*?);\s*\n", examples, re.DOTALL):
            try:
                guard.check(spark, sql.replace("_FUNC_", name), ())
                passed += 1
            except Invalid as error:
                if not any(words in str(error) for words in expected):
                    refused[sql] = str(error)
    assert refused == {}
    assert passed > 850


def test_a_check_is_quick(shop: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement at the size limit takes as many calls to the JVM as a short one: none is made per node."""
    client: Any = shop.sparkContext._gateway._gateway_client
    send, calls = client.send_command, list[int]()

    def counted(*given: Any, **more: Any) -> Any:
        calls.append(threading.get_ident())
        return send(*given, **more)

    def asked(ids: int) -> int:
        """Calls from here: what collects garbage has a thread of its own."""
        sql = f"SELECT count(*) FROM t WHERE id IN ({', '.join(map(str, range(1, ids)))})"
        guard.check(shop, sql, OPEN)  # what is made once is made
        calls.clear()
        guard.check(shop, sql, OPEN)
        assert ids < 1_000 or len(sql) > 0.9 * guard.MOST_CHARACTERS
        return calls.count(threading.get_ident())

    monkeypatch.setattr(client, "send_command", counted)
    assert asked(3_300) == asked(30) > 0


def exploded(count: int) -> str:
    return f"(SELECT explode(sequence(1, {count})) n)"


LISTED = f"(VALUES {', '.join(['(1)'] * 100)})"


@pytest.mark.parametrize(
    ("rows", "sql"),
    [
        (1e12, f"SELECT * FROM {exploded(1_000_000)} a, {exploded(1_000_000)} b ORDER BY 1"),
        (1e12, "SELECT * FROM range(1000000) a, range(1000000) b"),
        (1e12, "SELECT * FROM range(1000000) a JOIN range(1000000) b ON a.id < b.id"),
        (1e10, "SELECT * FROM range(100000) a, range(100000) b WHERE a.id = 5"),
        (1e10, "SELECT sum(id) FROM range(10000000000)"),
        (1e10, "SELECT id FROM range(0, -20000000000, -2)"),
        (1e10, "SELECT * FROM range(10000), t LATERAL VIEW explode(sequence(1, 1000000)) x AS x"),
        (1e10, "WITH many AS (SELECT explode(sequence(1, 100000)) a) SELECT count(*) FROM many x, many y"),
        (1e10, f"SELECT * FROM (SELECT id FROM range(100000)) a CROSS JOIN LATERAL {exploded(100_000)}"),
        (1e10, "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM range(100000) a, range(100000) b)"),
        (1e12, "SELECT count(*) FROM range(1000000) a, range(1000000) b"),
        (1e12, "SELECT * FROM range(1000000) a, range(1000000) b LIMIT 5"),
        (1e10, "SELECT count(*) FROM (SELECT explode(array_repeat(1, 10000)) x), range(1000000)"),
        (1e10, f"SELECT count(*) FROM {', '.join(f'{LISTED} AS a{n}(x)' for n in range(5))}"),
    ],
)
def test_rows_out_of_nothing_are_counted_before_they_are_made(shop: SparkSession, rows: float, sql: str) -> None:
    with pytest.raises(Invalid, match="rows; the limit is 1,000,000,000") as refused:
        guard.check(shop, sql, OPEN)
    assert f"it generates up to {rows:,.0f} rows" in str(refused.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, tag FROM t LATERAL VIEW explode(tags) x AS tag",
        "SELECT * FROM t a, t b, t c, t_before d",
        "SELECT * FROM range(10000000) a JOIN range(10000000) b USING (id)",
        "SELECT * FROM range(10000000) a, range(10000000) b, range(10000000) c WHERE a.id = b.id AND c.id = a.id + 1",
        "SELECT * FROM (SELECT count(*) FROM range(100000000)) a, range(100000000) b",
        "SELECT * FROM (SELECT id FROM range(100000000) LIMIT 10) a, range(100000000) b",
        "SELECT d, city FROM (SELECT explode(sequence(date'2000-01-01', date'2030-01-01')) d), t",
        "SELECT m FROM (SELECT explode(sequence(timestamp'2026-01-01', timestamp'2027-01-01', interval 1 minute)) m) "
        "LEFT JOIN t ON t.day = m GROUP BY m",
    ],
)
def test_rows_that_are_few_enough_pass(shop: SparkSession, sql: str) -> None:
    assert guard.check(shop, sql, OPEN).sql == sql
