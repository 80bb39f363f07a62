"""Query: SQL on a version, its progress and its result."""

from __future__ import annotations

from core.model.query_answer import QueryAnswer
from dashboard.formatting import units
from dashboard.formatting.language import N_, _, listing, ngettext
from dashboard.words.explanations import Rule

SQL = "SQL"
QUERY_BEFORE = N_("Compare with")
QUERY_OPTIONAL = N_("optional: a second version")
ROW_CAP = N_("Max. rows")
TIMEOUT = N_("Max. seconds")
HOLD = N_("Pin snapshot for 1 hour")
HOLD_HELP = N_(
    "Creates a tag of this version before the query runs, so that no expiry deletes it "
    "meanwhile. An engine that commits deletes the tag after the hour. Needs “Allow changes”."
)
QUERY_ENGINE = N_("Read with")
QUERY_ENGINE_HELP = N_(
    "What reads the rows: Snapscope through plain Spark, or the engine's own Spark "
    "connector, which this server was started with. Both read exactly the chosen version, "
    "and the answer says which one was used."
)
QUERY_ENGINES = {"plain": N_("plain Spark"), "connector": N_("the engine's connector")}
RUN = N_("Run")
RESULT_NAME = "result"
DOWNLOAD_CSV = N_("Download CSV")
NO_ROWS = N_("The query ran and returned no rows.")
QUERY_CANCELLED = N_("The query was cancelled.")


def sql_help(name: str, before: str | None) -> str:
    text = _(
        (
            "One SELECT, or a CALL of the engine's procedures. The table at the chosen version is "
            "{name}, or t for short."
        ),
        name=name,
    )
    if before is None:
        return text
    return _(
        (
            "{text} It runs at both versions, side by side; once if it names the second one, which is {before}, or "
            "t_before, or what changed from it to the first, t_changes."
        ),
        text=text,
        before=before,
    )


def running(elapsed_s: float, done: int, total: int) -> str:
    seconds = _("Running for {elapsed_s:.0f} s", elapsed_s=elapsed_s)
    return (
        ngettext(
            "{seconds}: {done} of {count} task done",
            "{seconds}: {done} of {count} tasks done",
            total,
            seconds=seconds,
            done=units.count(done),
        )
        if total
        else _("{seconds}: waiting for Spark", seconds=seconds)
    )


LOCAL_SPARK = N_("plain Spark (local)")  # as core names it


def engine(named: str) -> str:
    """Say what read the rows; other engines have names of their own."""
    return _(LOCAL_SPARK) if named == LOCAL_SPARK else named


def query_note(answer: QueryAnswer) -> str:
    live = units.plural(answer.files_live, "current file")
    if answer.files_read is None:
        read = _("{live}, read", live=live)
    else:
        read = _("read {read} of {live}", read=units.count(answer.files_read), live=live)
    points = answer.point.point
    return _(
        "{rows} as of {points}; {read} in {seconds:.1f} s by {engine}.",
        rows=units.plural(answer.table.num_rows, "row"),
        points=_("{names} and {last}", names=points, last=answer.before.point) if answer.before else points,
        read=read,
        seconds=answer.seconds,
        engine=engine(answer.engine),
    )


def left_out(what: str) -> str:
    return _("Left out: {what}.", what=what)


def cut_off(shown: int) -> str:
    return _(
        "Only the first {rows} are shown: the query has more. Filter, or raise the limit.",
        rows=units.plural(shown, "row"),
    )


def counted_all(rows: int) -> str:
    return _("{rows} in total, counted at the same version.", rows=units.plural(rows, "row"))


COUNT_ALL = N_("Count all rows")
COUNT_ALL_HELP = N_(
    "Runs SELECT count(*) over this very statement, at the same version and within the same time limit."
)


# The editor's help and examples
COMPLETIONS = N_("Completions")
COMPLETION_KINDS = {
    "column": N_("column", context="completion"),
    "table": N_("table", context="completion"),
    "keyword": N_("keyword", context="completion"),
    "function": N_("function", context="completion"),
}
COLUMNS = N_("Columns")
ALSO_TABLES = N_("Other things to ask")
COLUMN_INSERT = N_("Click writes the name into the editor")
COLUMN_MARKS = {"partition": N_("partition"), "primary": N_("key"), "required": N_("NOT NULL")}
EXAMPLES_TITLE = N_("Query any version")
EXAMPLES_TEXT = N_(
    "Choose a version above, write SQL, press Run or Ctrl+Enter: `t` is the table at that "
    "version, whatever happened to it since. With a second version under Compare with, the statement "
    "runs at both, side by side; it can also name that one itself: `t_before`. Or start from one of these:"
)
EXAMPLES = {
    "rows": N_("First rows"),
    "count": N_("Rows by partition"),
    "sum": N_("Aggregate by group"),
    "twice": N_("Duplicate keys"),
    "nulls": N_("NULLs by column"),
    "files": N_("Files and bytes by partition"),
    "commits": N_("Commits by user"),
    "before": N_("Row differences between the two versions"),
    "changes": N_("Rows that changed between them"),
}

# The answer
ANSWER_AT = N_("At")
ANSWER_BEFORE = N_("Compared with")
ANSWER_READ = N_("Files read")
ANSWER_LIVE = N_("Current files there")
ANSWER_VIEWS = {"rows": N_("Rows"), "chart": N_("Chart")}
ANSWER_VIEW = N_("Shown as")
EARLIER_ROWS = N_("Earlier rows")
LATER_ROWS = N_("Later rows")
DOWNLOAD_PARQUET = N_("Download Parquet")
DOWNLOAD_HELP = N_(
    "All rows of the answer. In CSV, text that a spreadsheet would run as a formula (it begins with "
    "= + - @, a tab or a return) has an apostrophe in front; numbers have none. Parquet holds every "
    "value and type as it is."
)
CHART_KIND = N_("Chart")
CHART_KINDS = {"line": N_("Line"), "bar": N_("Bars"), "scatter": N_("Points", context="chart")}
CHART_X = N_("X axis")
CHART_Y = N_("Y axis")
CHART_NOTHING = N_("The answer has no numeric column to draw. Count or sum something.")
QUESTION_CHANGED = N_("Inputs changed. Run again.")
EARLIER_ANSWER = N_("The previous answer, of this statement:")
NOT_NOTED = N_("The answer is correct, but it could not be written to the history.")


def answer_rows(first: int, last: int, count: int, *, cut: bool) -> str:
    """Say which rows are visible, and out of how many."""
    if cut:
        return _(
            "{first:,} to {last:,} of the first {count:,}; the query has more", first=first, last=last, count=count
        )
    return ngettext(
        "{first:,} to {last:,} of {count} row (all rows)",
        "{first:,} to {last:,} of {count} rows (all rows)",
        count,
        first=first,
        last=last,
    )


def values_cut(most: int) -> str:
    return _(
        ("Values longer than {most:,} characters are shortened here; CSV and Parquet have them in full"),
        most=most,
    )


def chart_cut(shown: int, count: int) -> str:
    return ngettext(
        "The chart shows the first {shown:,} of {count} row.",
        "The chart shows the first {shown:,} of {count} rows.",
        count,
        shown=shown,
    )


# One statement at two versions
ANSWER_SIDES = {
    "added": N_("+ only in the chosen version"),
    "removed": N_("\N{MINUS SIGN} only in the other"),
    "changed": N_("± changed"),
    "same": N_("= equal"),
    "unknown": N_("? not in both answers"),
}
EQUAL_TOO = N_("Equal rows, too")
EQUAL_TOO_HELP = N_("Shows the rows that are the same in both answers, in the order of the chosen version's answer.")
ANSWERS_EQUAL = N_("Both versions answer the same.")
ANSWERS_CUT = N_(
    "An answer may go on after its last row here: the row cap or a LIMIT cuts it off. Rows marked ? are in one "
    "answer only, as far as shown. Order the rows, filter them, or raise the limit."
)
COMPARED_NOUN = N_("rows", context="counted")
COMPARED_NAME = "compared"


def column_at(name: str, point: str) -> str:
    return f"{name} @ {point}"


def answer_views(before: str, at: str) -> dict[str, str]:
    return {"both": _("Side by side"), "before": _("Only {point}", point=before), "at": _("Only {point}", point=at)}


def answer_side(kind: str, count: int) -> str:
    """`3 changed`, `38 equal`."""
    return f"{units.count(count)} {_(ANSWER_SIDES_COUNTED[kind])}"


ANSWER_SIDES_COUNTED = {
    "added": N_("added"),
    "removed": N_("removed"),
    "changed": N_("changed"),
    "same": N_("equal"),
    "unknown": N_("not in both answers"),
}


def matched_by(by: tuple[str, ...]) -> str:
    if by == ("",):
        return _("One row each")
    if not by:
        return _("Equal rows matched: no columns tell the rows apart")
    return _("Rows matched by {columns}", columns=listing(by))


def no_answer_at(point: str, why: str) -> str:
    return _("No answer at {point}: {why}", point=point, why=why)


HOW_COMPARED = Rule(
    N_("One statement at two versions"),
    N_("The answers of the same statement at two versions: rows of one only, rows that differ, rows that are equal."),
    N_("Both snapshots are resolved before the first of the two runs starts, which then run one after the other."),
    N_(
        "Rows are matched by the primary key if the answers hold it, else by the first columns whose values no answer "
        "repeats; FLOAT, DOUBLE and DECIMAL match nothing. Without such columns only equal rows match."
    ),
    N_("Rows; cells that differ are in two columns, one for each version."),
)


# History and saved queries
ASK_MODES = {"sql": N_("SQL"), "bisect": N_("Find first change"), "history": N_("History")}
ASK_MODE = N_("Suggestions")
HISTORY_TITLE = N_("Recent queries")
HISTORY_EMPTY = N_("No queries yet")
HISTORY_EMPTY_NEXT = N_("The last 200 answered queries are listed here; click one to run it again.")
HISTORY_HELP = N_("The last 200 that were answered, newest first. A click on a line leads back to it.")
HISTORY_COLUMNS = {
    "when": N_("Time"),
    "table": N_("Table"),
    "point": N_("At"),
    "sql": N_("SQL"),
    "rows": N_("Rows"),
    "ms": N_("ms"),
    "name": N_("Name"),
}
SAVED_TITLE = N_("Saved")
SAVED_EMPTY = N_("Save a query under a name, next to Run, and it is listed here for every table.")
SAVE = N_("Save")
SAVE_AS = N_("Name of this query")
SAVE_HELP = N_("Stores the SQL and its versions, as last run, under a name you choose.")
SAVE_NOTHING = N_("Run the query first: only a query that has run can be saved.")
SAVED_DELETE = N_("Delete")


def saved_as(name: str) -> str:
    return _("Saved as {name}.", name=name)


def too_many_saved(most: int) -> str:
    return _("{most} queries are saved, which is the limit. Delete one first.", most=most)


NOT_KEPT_NEXT = N_("Move it out of desk/ in the state directory: an empty one is started then.")


def not_kept(name: str) -> str:
    return _(
        ("{name}.json of your saved settings has unexpected content, so it is neither read nor written."),
        name=name,
    )


def not_kept_queries(name: str) -> str:
    return _(
        ("{name}.json of your saved settings does not hold a list of queries, so it is neither read nor written."),
        name=name,
    )


HOW_ANSWER = Rule(
    N_("Rows, files read, time"),
    N_("Rows of the answer; data files given to Spark, out of those live in the versions that the statement uses."),
    N_("The data files of exactly these snapshots or tags, each read with its own schema and options."),
    N_(
        "Files that the WHERE clause rules out by partition or statistics are not given to "
        "Spark. The time runs from the start of the query to the last row. A result as long as "
        "“Max. rows” may be cut off, and says so; a shorter one is complete."
    ),
    N_(
        "Rows, files, seconds; bytes of whole files, on disk: of those that are read, Spark takes the columns it needs."
    ),
)


def live_files(data: int, deletes: int) -> list[str]:
    """Data files, and where there are some those that take rows of them away."""
    counted = [units.plural(data, "data file")]
    return counted + ([units.plural(deletes, "delete file")] if deletes else [])
