"""What user SQL may consist of: names of Spark's own classes and functions, as readable lists.

Invariant: a name that is not here is refused. The lists are for Spark 4.1; their test checks that every function named
here exists, and lists those left out, so that a new Spark cannot add one unnoticed.

Left out on purpose: functions that read files or the machine (input_file_name, xpath and xml, current_user, version …),
that call code (reflect, java_method), that need modules we do not ship (avro, protobuf), sketches and ciphers that
nobody requested, and raise_error/assert_true, with which a query could fake our error messages.
"""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Nodes of a parsed query, below org.apache.spark.sql.catalyst.
PLANS = {f"plans.logical.{name}" for name in _names(
    """Aggregate Distinct Except Filter Generate GlobalLimit Intersect Join LateralJoin LimitAll LocalLimit
    LocalRelation Offset OneRowRelation Pivot Project RepartitionByExpression Sample Sort SubqueryAlias Union
    Unpivot UnresolvedHint UnresolvedWith WithWindowDefinition"""
)} | {f"analysis.{name}" for name in _names(
    """UnresolvedHaving UnresolvedInlineTable UnresolvedRelation UnresolvedSubqueryColumnAliases
    UnresolvedTVFAliases UnresolvedTableValuedFunction"""
)}  # fmt: skip

EXPRESSIONS = {f"analysis.{name}" for name in _names(
    """MultiAlias UnresolvedAlias UnresolvedAttribute UnresolvedExtractValue UnresolvedFunction UnresolvedGenerator
    UnresolvedOrdinal UnresolvedPipeAggregateOrdinal UnresolvedStar UnresolvedStarExceptOrReplace"""
)} | {f"expressions.{name}" for name in _names(
    """Add Alias And Ascending$ AttributeReference BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CaseWhen Cast
    Coalesce Collate Concat CreateNamedStruct Cube CurrentDate CurrentRow$ CurrentTime CurrentTimestamp
    Descending$ Divide EqualNullSafe EqualTo Exists GreaterThan GreaterThanOrEqual GroupingSets ILike In
    InSubquery IntegralDivide IsNotNull IsNotUnknown IsNull IsUnknown LambdaFunction LateralSubquery LessThan
    LessThanOrEqual Like LikeAll LikeAny ListQuery Literal Lower Multiply NamedArgumentExpression NamePlaceholder$
    Not NotLikeAll NotLikeAny NullsFirst$ NullsLast$ Or Overlay PipeExpression PipeOperator RLike RangeFrame$
    Remainder Rollup RowFrame$ ScalarSubquery SemiStructuredExtract ShiftLeft ShiftRight ShiftRightUnsigned SortOrder
    SpecifiedWindowFrame StringLocate StringTrim StringTrimLeft StringTrimRight Substring Subtract TimestampAdd
    TimestampDiff UnaryMinus UnaryPositive UnboundedFollowing$ UnboundedPreceding$ UnresolvedCollation
    UnresolvedNamedLambdaVariable UnresolvedWindowExpression UnspecifiedFrame$ WindowExpression
    WindowSpecDefinition WindowSpecReference aggregate.AggregateExpression aggregate.AnyValue
    aggregate.Complete$ aggregate.First aggregate.Last"""
)}  # fmt: skip

# What nodes are described with; none of it runs.
PARTS = _names(
    """AliasIdentifier FunctionIdentifier expressions.ExprId expressions.GenericInternalRow
    expressions.NumericEvalContext plans.Cross$ plans.FullOuter$ plans.Inner$ plans.LeftAnti$ plans.LeftOuter$
    plans.LeftSemi$ plans.NaturalJoin plans.RightOuter$ plans.UsingJoin plans.logical.JoinHint"""
)
VALUES = _names(
    """java.lang.Character java.lang.Double java.lang.Float java.math.BigDecimal java.util.UUID [B
    scala.Enumeration$Val scala.Tuple2 scala.Tuple3 org.apache.spark.sql.util.CaseInsensitiveStringMap"""
)
VALUE_PACKAGES = ("org.apache.spark.sql.types.", "org.apache.spark.unsafe.types.")

# Nodes of the same query after analysis. A leaf that reads anything is allowed only inside an opened view, whose
# content is not checked: LogicalRelation, LogicalRDD, DataSourceV2Relation and the like are not listed.
ANALYZED_PLANS = {f"plans.logical.{name}" for name in _names(
    """Aggregate CTERelationDef CTERelationRef Deduplicate Distinct Except Expand Filter Generate GlobalLimit
    Intersect Join JoinHint HintInfo BROADCAST$ SHUFFLE_HASH$ SHUFFLE_MERGE$ SHUFFLE_REPLICATE_NL$ LateralJoin
    LocalLimit LocalRelation Offset OneRowRelation Pivot Project Range RepartitionByExpression ResolvedHint
    Sample Sort SubqueryAlias Union UnionLoop UnionLoopRef View Window WithCTE"""
)}  # fmt: skip
ANALYZED_PACKAGES = (
    "org.apache.spark.sql.catalyst.analysis.",
    "org.apache.spark.sql.catalyst.expressions.",
    "org.apache.spark.sql.catalyst.plans.",
    "org.apache.spark.sql.catalyst.util.",
    "org.apache.spark.sql.catalyst.AliasIdentifier",
    "org.apache.spark.sql.types.",
    "org.apache.spark.sql.internal.types.",
    "org.apache.spark.unsafe.types.",
    "java.",
    "scala.",
    "[",
)
# The analyzer turns a bare column name such as `user` into some of these; the others are listed as a second check.
REFUSED_EXPRESSIONS = {f"org.apache.spark.sql.catalyst.expressions.{name}" for name in _names(
    """CallMethodViaReflection TryReflect CurrentCatalog CurrentDatabase CurrentUser SparkVersion
    InputFileBlockLength InputFileBlockStart InputFileName PythonUDAF PythonUDF PythonUDTF ScalaUDF
    UnresolvedPolymorphicPythonUDTF UserDefinedGenerator VariableReference"""
)}  # fmt: skip

FUNCTIONS = _names(
    # numbers
    """abs acos acosh asin asinh atan atan2 atanh bin bit_count bit_get bround cbrt ceil ceiling conv cos cosh cot
    csc degrees div e exp expm1 factorial floor getbit greatest hex hypot isnan least ln log log10 log1p log2
    mod nanvl negative nullifzero pi pmod positive pow power radians rand randn random rint round sec shiftleft
    shiftright shiftrightunsigned sign signum sin sinh sqrt tan tanh try_add try_divide try_mod try_multiply
    try_subtract unhex uniform width_bucket zeroifnull"""
    # text and bytes
    """ ascii base64 bit_length btrim char char_length character_length chr collate collation concat concat_ws
    contains crc32 decode elt encode endswith find_in_set format_number format_string hash ilike initcap instr
    is_valid_utf8 lcase left len length levenshtein like locate lower lpad ltrim luhn_check make_valid_utf8 mask
    md5 octet_length overlay parse_url position printf quote regexp regexp_count regexp_extract
    regexp_extract_all regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right rlike
    rpad rtrim sentences sha sha1 sha2 soundex space split split_part startswith substr substring
    substring_index to_binary to_char to_number to_varchar translate trim try_parse_url try_to_binary
    try_to_number try_url_decode try_validate_utf8 ucase unbase64 upper url_decode url_encode uuid validate_utf8
    xxhash64"""
    # dates and times
    """ add_months convert_timezone curdate current_date current_time current_timestamp current_timezone date_add
    date_diff date_format date_from_unix_date date_part date_sub date_trunc dateadd datediff datepart day
    dayname dayofmonth dayofweek dayofyear extract from_unixtime from_utc_timestamp hour last_day localtimestamp
    make_date make_dt_interval make_interval make_time make_timestamp make_timestamp_ltz make_timestamp_ntz
    make_ym_interval minute month monthname months_between next_day now quarter second session_window time_diff
    time_trunc timestamp_micros timestamp_millis timestamp_seconds to_date to_time to_timestamp to_timestamp_ltz
    to_timestamp_ntz to_unix_timestamp to_utc_timestamp trunc try_make_interval try_make_timestamp
    try_make_timestamp_ltz try_make_timestamp_ntz try_to_date try_to_time try_to_timestamp unix_date unix_micros
    unix_millis unix_seconds unix_timestamp weekday weekofyear window window_time year"""
    # types and conditions
    """ between bigint binary boolean cast coalesce date decimal double equal_null float if ifnull int isnotnull
    isnull nullif nvl nvl2 smallint string time timestamp tinyint typeof"""
    # arrays, maps, structs
    """ aggregate array array_append array_compact array_contains array_distinct array_except array_insert
    array_intersect array_join array_max array_min array_position array_prepend array_remove array_repeat
    array_size array_sort array_union arrays_overlap arrays_zip cardinality element_at exists explode
    explode_outer filter flatten forall get inline inline_outer map map_concat map_contains_key map_entries
    map_filter map_from_arrays map_from_entries map_keys map_values map_zip_with named_struct posexplode
    posexplode_outer reduce sequence shuffle size slice sort_array stack str_to_map struct transform
    transform_keys transform_values try_element_at zip_with"""
    # JSON, CSV, variant
    """ from_csv from_json get_json_object is_variant_null json_array_length json_object_keys json_tuple parse_json
    schema_of_csv schema_of_json schema_of_variant schema_of_variant_agg to_csv to_json to_variant_object
    try_parse_json try_variant_get variant_get"""
    # aggregates
    """ any any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor bool_and bool_or
    collect_list collect_set corr count count_if covar_pop covar_samp every first first_value grouping
    grouping_id histogram_numeric kurtosis last last_value listagg max max_by mean median min min_by mode
    percentile percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept
    regr_r2 regr_slope regr_sxx regr_sxy regr_syy skewness some std stddev stddev_pop stddev_samp string_agg sum
    try_avg try_sum var_pop var_samp variance"""
    # windows
    """ cume_dist dense_rank lag lead monotonically_increasing_id nth_value ntile percent_rank rank row_number"""
)

TABLE_FUNCTIONS = _names(
    """explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer range stack variant_explode
    variant_explode_outer"""
)

HINTS = _names("broadcast broadcastjoin mapjoin merge mergejoin shuffle_hash shuffle_merge shuffle_replicate_nl")

# Functions whose n-th argument determines the size of the result.
SIZED = {
    "array_insert": 1,
    "array_repeat": 1,
    "bround": 1,
    "ceil": 1,
    "ceiling": 1,
    "floor": 1,
    "format_number": 1,
    "histogram_numeric": 1,
    "lpad": 1,
    "repeat": 1,
    "round": 1,
    "rpad": 1,
    "space": 0,
    "stack": 0,
}

# Functions whose first argument is a pattern that may request any width.
FORMATS = _names("format_string printf")

# With more arguments than these, a function's cost is unbounded: sliding windows multiply every row, the fourth
# argument of `range` is a number of tasks, the second of approx_count_distinct a number of registers.
MOST_ARGUMENTS = {"approx_count_distinct": 1, "range": 3, "window": 2}
