"""The language one reader reads in, and what is said in it.

The code holds English; every other language is one file, `dashboard/languages/LANGUAGE.po`, which `make messages` keeps
complete. A constant is marked by `N_("text")` and said where it is read; a sentence that is made at once is said by
`_("{x} of {y}", x=…, y=…)`, one that counts by `ngettext`. What the core says is a `Told`: `spoken` says it.

The language is chosen for each run, on the run's own thread: readers never mix. A run that does not begin at the top
(a fragment's, a callback's) has chosen nothing yet: it asks `otherwise`.
"""

from __future__ import annotations

import gettext
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.messages import pofile

from core.messages import Told, is_clause

ENGLISH = "en"
OWN = Path(__file__).parents[1] / "languages"
MORE = "SNAPSCOPE_LANGUAGES"  # another folder of catalogues, for who writes one
MINUS = "\N{MINUS SIGN}"

_chosen: ContextVar[str | None] = ContextVar("snapscope.language", default=None)
_ask: Callable[[], str] = lambda: ENGLISH  # noqa: E731


# which language ------------------------------------------------------------------------------------------------------


def choose(language: str) -> None:
    """From here on this thread's run speaks that language."""
    _chosen.set(language)


def otherwise(ask: Callable[[], str]) -> None:
    """Who is asked for the language of a run that has not chosen one."""
    global _ask
    _ask = ask


def chosen() -> str:
    """The language of this run."""
    found = _chosen.get()
    if found is None:
        choose(found := _ask())
    return found


def languages() -> Mapping[str, str]:
    """English and every language there is a catalogue of, by what it calls itself: `{"en": "English", …}`."""
    return {name: _own_name(name) for name in (ENGLISH, *sorted(_files()))}


def best(wanted: Iterable[str]) -> str:
    """The first of the languages a browser asks for (`zh-Hans-CN`) that is there; else English."""
    there = {name.lower(): name for name in languages()}
    for each in wanted:
        whole = each.strip().lower().replace("-", "_")
        if found := there.get(whole) or there.get(whole.partition("_")[0]):
            return found
    return ENGLISH


def _files() -> dict[str, Path]:
    folders = [OWN, *(Path(each) for each in (os.environ.get(MORE),) if each)]
    return {path.stem: path for folder in folders for path in folder.glob("*.po")}


@cache
def _own_name(language: str) -> str:
    try:
        return Locale.parse(language).get_display_name() or language
    except (UnknownLocaleError, ValueError):
        return language


# what is said in it --------------------------------------------------------------------------------------------------


class Word(str):
    """An English text that is said in the language of who reads it. `context` tells apart two that are alike."""

    context: str


def N_(text: str, context: str = "") -> str:  # as gettext calls it
    """Marks a text for the catalogues. It stays English here: `_`, and `words.NAME`, say it."""
    made = Word(text)
    made.context = context
    return made


def _(text: str, context: str = "", /, **values: object) -> str:
    """A text in the language of the reader, with its `{names}` filled in."""
    found = _catalogue(chosen()).texts.get((getattr(text, "context", context), text))
    return _filled(found[0] if found else str(text), values)


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """`{count} file` or `{count} files`, whichever the number asks for in the language of the reader."""
    catalogue = _catalogue(chosen())
    found = catalogue.texts.get(("", one))
    said = found[catalogue.form(abs(count))] if found else one if abs(count) == 1 else many
    return _filled(said, {"count": f"{count:,}".replace("-", MINUS), **values})


def said(value: Any) -> Any:
    """A constant of `words` in the language of the reader: a marked text, or what holds some."""
    match value:
        case Word():
            return _(value)
        case Mapping():
            return {key: said(each) for key, each in value.items()}
        case tuple() if hasattr(value, "_make"):
            return value._make(map(said, value))
        case tuple():
            return tuple(map(said, value))
        case _:
            return value


def spoken(text: str) -> str:
    """A text; if it is a sentence of the core, in the language of the reader."""
    return in_language(chosen(), text)


def speaker() -> Callable[[str], str]:
    """`spoken` in the language of now, for a thread that is another one."""
    language = chosen()
    return lambda text: in_language(language, text)


def in_language(language: str, text: str) -> str:
    """A text; if it is a sentence of the core, in that language, and so are the sentences that it was made from."""
    if not isinstance(text, Told) or not text.template or language == ENGLISH:
        return text
    catalogue = _catalogue(language)
    found = catalogue.texts.get(("", text.template))
    if found is None:
        return text
    number = str(text.values.get("count", "")).replace(",", "")
    form = found[catalogue.form(int(number)) if number.isdecimal() and len(found) > 1 else 0]
    filled = form.format(**{name: _value(language, value) for name, value in text.values.items()})
    return filled.rstrip("。.") if is_clause(text) else filled


def listing(reasons: Sequence[str]) -> str:
    """Reasons in one line."""
    return _("; ").join(map(spoken, reasons))


def capitalized(text: str) -> str:
    """What the core says, as a sentence of its own; other languages have it as it is."""
    known = spoken(text)
    return known[:1].upper() + known[1:] if known == text else known


def noun(one: str) -> str:
    """Marks a noun that `units.plural` counts, where it is not written there."""
    return one


def _value(language: str, value: object) -> object:
    """What is filled in: sentences and errors in that language, all else as it is."""
    if isinstance(value, Exception):
        whole = str(value)
        value = value.args[0] if value.args == (whole,) else whole  # Python's own errors forget how theirs was made
    return in_language(language, value) if isinstance(value, str) else value


def _filled(template: str, values: Mapping[str, object]) -> str:
    if not values:
        return template
    return template.format(**{name: _value(chosen(), value) for name, value in values.items()})


@dataclass(frozen=True)
class _Catalogue:
    """What is said instead of each English text: by its context and itself (of plurals: either form), all its forms."""

    texts: Mapping[tuple[str, str], Sequence[str]]
    form: Callable[[int], int]  # which of the forms a number takes


@cache
def _read(path: Path, modified_ns: int) -> _Catalogue:
    """A catalogue as it is now."""
    with path.open("rb") as file:
        found = pofile.read_po(file)
    texts: dict[tuple[str, str], Sequence[str]] = {}
    for message in found:
        forms = _forms(message.string)
        if message.id and all(forms) and not message.fuzzy:
            for text in _forms(message.id):
                texts.setdefault((message.context or "", text), forms)
    return _Catalogue(texts, gettext.c2py(found.plural_expr))


def _forms(of: Any) -> tuple[str, ...]:
    """A text, or that of one and that of many."""
    return (of or "",) if isinstance(of, str | None) else tuple(of)


_ENGLISH = _Catalogue({}, lambda number: int(number != 1))


def _catalogue(language: str) -> _Catalogue:
    return _ENGLISH if language == ENGLISH else _loaded(language)


@cache
def _loaded(language: str) -> _Catalogue:
    path = _files().get(language)
    return _read(path, path.stat().st_mtime_ns) if path else _ENGLISH
