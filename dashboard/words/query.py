"""Query: SQL at a point, its progress and its result."""

from __future__ import annotations

from core.model.query_answer import QueryAnswer
from dashboard.formatting import units
from dashboard.words.explanations import Rule

SQL = "SQL"
QUERY_POINT = "At"
QUERY_BEFORE = "Compare with"
QUERY_OPTIONAL = "optional: a second point"
ROW_CAP = "Rows at most"
TIMEOUT = "Seconds at most"
HOLD = "Hold the point for an hour"
HOLD_HELP = (
    "Makes a tag of the point before the query runs, so that no expiry takes it away meanwhile. An engine that commits "
    "deletes the tag after the hour. Needs “Allow changes”."
)
QUERY_ENGINE = "Read by"
QUERY_ENGINE_HELP = (
    "Who reads the rows of the points: Snapscope through plain Spark, or the engine's own Spark connector, which this "
    "server was started with. Both read the very point that is chosen, and the answer says who gave it."
)
QUERY_ENGINES = {"plain": "plain Spark", "connector": "the engine's connector"}
RUN = "Run"
RESULT_NAME = "result"
DOWNLOAD_CSV = "Download CSV"
NO_ROWS = "The query ran and returned no rows."
QUERY_CANCELLED = "The query was cancelled."


def sql_help(name: str, before: str | None) -> str:
    text = f"One SELECT, or a CALL of the engine's procedures. The table at the chosen point is {name}, or t for short."
    if before is None:
        return text
    return f"{text} The second point is {before}, or t_before; what changed from it to the first is t_changes."


def running(elapsed_s: float, done: int, total: int) -> str:
    seconds = f"Running for {elapsed_s:.0f} s"
    return (
        f"{seconds}: {units.count(done)} of {units.plural(total, 'task')} done"
        if total
        else f"{seconds}: waiting for Spark"
    )


def query_note(answer: QueryAnswer) -> str:
    rows = units.plural(answer.table.num_rows, "row")
    live = units.plural(answer.files_live, "live file")
    read = f"{live}, read" if answer.files_read is None else f"read {units.count(answer.files_read)} of {live}"
    points = answer.point.point + (f" and {answer.before.point}" if answer.before else "")
    return f"{rows} as of {points}; {read} in {answer.seconds:.1f} s by {answer.engine}."


def left_out(what: str) -> str:
    return f"Left out: {what}."


def cut_off(shown: int) -> str:
    return f"Only the first {units.plural(shown, 'row')} are here: the query has more. Filter, or raise the cap."


def counted_all(rows: int) -> str:
    return f"All in all {units.plural(rows, 'row')}, counted at the same point."


COUNT_ALL = "Count all rows"
COUNT_ALL_HELP = "Runs SELECT count(*) over this very statement, at the same point and within the same seconds."


# The editor's help and examples
COLUMNS = "Columns"
ALSO_TABLES = "Also to be asked"
COLUMN_INSERT = "Click writes the name into the editor"
COLUMN_MARKS = {"partition": "partition", "primary": "key", "required": "NOT NULL"}
EXAMPLES_TITLE = "Ask the table as it was"
EXAMPLES_TEXT = (
    "Choose a point above, write SQL, press Run or Ctrl+Enter: `t` is the table at that point, whatever happened to it "
    "since. A second point under Compare with is `t_before`. Or start from one of these:"
)
EXAMPLES = {
    "rows": "The first rows",
    "count": "Rows, by partition",
    "sum": "A figure, by group",
    "twice": "Keys that are there twice",
    "nulls": "NULLs, by column",
    "files": "Files and bytes, by partition",
    "commits": "Who committed what",
    "before": "Where the two points differ in rows",
    "changes": "Rows that changed between them",
}

# The answer
ANSWER_AT = "At"
ANSWER_BEFORE = "Compared with"
ANSWER_READ = "Read of it"
ANSWER_LIVE = "Live there"
ANSWER_VIEWS = {"rows": "Rows", "chart": "Chart"}
ANSWER_VIEW = "Shown as"
EARLIER_ROWS = "Earlier rows"
LATER_ROWS = "Later rows"
DOWNLOAD_PARQUET = "Download Parquet"
DOWNLOAD_HELP = (
    "All rows of the answer. In CSV, text that a spreadsheet would run as a formula (it begins with = + - @, a tab or "
    "a return) has an apostrophe in front; numbers have none. Parquet holds every value and type as it is."
)
CHART_KIND = "Chart"
CHART_KINDS = {"line": "Line", "bar": "Bars", "scatter": "Points"}
CHART_X = "Across"
CHART_Y = "Up"
CHART_NOTHING = "The answer has no column of numbers, so there is nothing to draw. Count or sum something."
QUESTION_CHANGED = "The question has changed, so the answer to the one before is put away. Run asks anew."
NOT_NOTED = "The answer is right, but it could not be written into the history."


def answer_rows(first: int, last: int, count: int, *, cut: bool) -> str:
    """Which rows are on the screen, and of how many."""
    if cut:
        return f"{first:,} to {last:,} of the first {count:,}; the query has more"
    return f"{first:,} to {last:,} of {units.plural(count, 'row')}, all there are"


def values_cut(most: int) -> str:
    return f"Values longer than {most:,} characters are shown by their beginnings; CSV and Parquet have them whole"


def chart_cut(shown: int, count: int) -> str:
    return f"Drawn are the first {shown:,} of {units.plural(count, 'row')}."


# History and saved queries
ASK_MODES = {"sql": "SQL", "bisect": "Since when?", "history": "History"}
ASK_MODE = "What to ask"
HISTORY_TITLE = "Asked before"
HISTORY_EMPTY = "Nothing was asked yet"
HISTORY_EMPTY_NEXT = "The last 200 queries that were answered stand here, to be asked again by a click."
HISTORY_HELP = "The last 200 that were answered, newest first. A click on a line leads back to it."
HISTORY_COLUMNS = {
    "when": "Asked",
    "table": "Table",
    "point": "At",
    "sql": "SQL",
    "rows": "Rows",
    "ms": "ms",
    "name": "Name",
}
SAVED_TITLE = "Saved"
SAVED_EMPTY = "Save a query by a name beside Run, and it stands here for every table."
SAVE = "Save"
SAVE_AS = "Name of this query"
SAVE_HELP = "Keeps the SQL and its points, as last run, under a name of yours."
SAVE_NOTHING = "Run the query first: what was run is what is saved."
SAVED_DELETE = "Delete"


def saved_as(name: str) -> str:
    return f"Saved as {name}."


def too_many_saved(most: int) -> str:
    return f"{most} queries are saved, which is all that is kept. Delete one first."


NOT_KEPT_NEXT = "Move it out of desk/ in the state directory: an empty one is started then."


def not_kept(name: str) -> str:
    return f"{name}.json of the desk does not hold what was kept there, so nothing is read from it or written to it."


def not_kept_queries(name: str) -> str:
    return f"{name}.json of the desk does not hold a list of queries, so nothing is read from it or written to it."


HOW_ANSWER = Rule(
    "Rows, files read, time",
    "Rows of the answer; data files given to Spark, of those that are live at the points the statement names.",
    "The data files of exactly these points, each with its point's own schema and options.",
    "Files whose partition or statistics the WHERE rules out are not given to Spark. Time runs from the question to "
    "the last row. An answer as long as “Rows at most” may be cut, and says so; a shorter one is whole.",
    "Rows, files, seconds; bytes of whole files, on disk: of those that are read, Spark takes the columns it needs.",
)
