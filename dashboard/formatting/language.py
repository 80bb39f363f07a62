"""The reader's language, and translation into it.

The code contains English; every other language is one file, `dashboard/languages/LANGUAGE.po`, which `make messages`
keeps complete. A constant is marked with `N_("text")` and translated when it is read. A sentence that is built at run
time uses `_("{x} of {y}", x=…, y=…)`, or `ngettext` for plurals. Texts from core are `Message` objects, translated by
`spoken`.

The language is set for each run, on the run's own thread, so readers do not affect each other. A run that does not
start at the top (a fragment or a callback) has not set it yet; it falls back to `otherwise`.
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

from core.messages import Message, is_clause

ENGLISH = "en"
OWN = Path(__file__).parents[1] / "languages"
MORE = "SNAPSCOPE_LANGUAGES"  # directory of additional catalogues, for translators
MINUS = "\N{MINUS SIGN}"

_chosen: ContextVar[str | None] = ContextVar("snapscope.language", default=None)
_ask: Callable[[], str] = lambda: ENGLISH  # noqa: E731


# which language ------------------------------------------------------------------------------------------------------


def choose(language: str) -> None:
    """Set the language of this thread's run."""
    _chosen.set(language)


def otherwise(ask: Callable[[], str]) -> None:
    """Set the fallback for runs that have not set a language."""
    global _ask
    _ask = ask


def chosen() -> str:
    """Return the language of this run."""
    found = _chosen.get()
    if found is None:
        choose(found := _ask())
    return found


def languages() -> Mapping[str, str]:
    """List English and all languages with a catalogue, with their own names: `{"en": "English", …}`."""
    return {name: _own_name(name) for name in (ENGLISH, *sorted(_files()))}


def best(requested: Iterable[str]) -> str:
    """Return the first supported language among those a browser accepts (`zh-Hans-CN`), else English."""
    there = {name.lower(): name for name in languages()}
    for each in requested:
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
    """An English text to be translated into the reader's language. `context` distinguishes identical texts."""

    context: str


def N_(text: str, context: str = "") -> str:  # gettext's name
    """Mark a text for the catalogues. It stays English here; `_` and `words.NAME` translate it."""
    word = Word(text)
    word.context = context
    return word


def _(text: str, context: str = "", /, **values: object) -> str:
    """Translate a text into the reader's language and fill in its `{names}`."""
    found = _catalogue(chosen()).texts.get((getattr(text, "context", context), text))
    return _filled(found[0] if found else str(text), values)


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """Translate `{count} file` or `{count} files`, whichever plural form the reader's language uses for the count."""
    catalogue = _catalogue(chosen())
    found = catalogue.texts.get(("", one))
    form = found[catalogue.form(abs(count))] if found else one if abs(count) == 1 else many
    return _filled(form, {"count": f"{count:,}".replace("-", MINUS), **values})


def translated(value: Any) -> Any:
    """Translate a constant of `words`: a marked text, or a container of marked texts."""
    match value:
        case Word():
            return _(value)
        case Mapping():
            return {key: translated(each) for key, each in value.items()}
        case tuple() if hasattr(value, "_make"):
            return value._make(map(translated, value))
        case tuple():
            return tuple(map(translated, value))
        case _:
            return value


def spoken(text: str) -> str:
    """Translate a text if it is a message from core."""
    return in_language(chosen(), text)


def speaker() -> Callable[[str], str]:
    """Return `spoken` bound to the current language, for use on another thread."""
    language = chosen()
    return lambda text: in_language(language, text)


def in_language(language: str, text: str) -> str:
    """Translate a text into a given language if it is a message from core, including the messages nested in it."""
    if not isinstance(text, Message) or not text.template or language == ENGLISH:
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
    """Join reasons into one line."""
    return _("; ").join(map(spoken, reasons))


def capitalized(text: str) -> str:
    """Return a message from core as a separate sentence; only English needs a capital letter."""
    known = spoken(text)
    return known[:1].upper() + known[1:] if known == text else known


def noun(one: str) -> str:
    """Mark a noun that `units.plural` counts, if it is not a literal there."""
    return one


def _value(language: str, value: object) -> object:
    """Translate a value to fill in: messages and errors only; everything else is returned unchanged."""
    if isinstance(value, Exception):
        whole = str(value)
        value = value.args[0] if value.args == (whole,) else whole  # Python's exceptions lose the template
    return in_language(language, value) if isinstance(value, str) else value


def _filled(template: str, values: Mapping[str, object]) -> str:
    if not values:
        return template
    return template.format(**{name: _value(chosen(), value) for name, value in values.items()})


@dataclass(frozen=True)
class _Catalogue:
    """The translations of each English text by its context and text (for plurals, either form): all of its forms."""

    texts: Mapping[tuple[str, str], Sequence[str]]
    form: Callable[[int], int]  # the plural form that a number takes


@cache
def _read(path: Path, modified_ns: int) -> _Catalogue:
    """Read a catalogue."""
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
    """Return the forms of a text: one, or singular and plural."""
    return (of or "",) if isinstance(of, str | None) else tuple(of)


_ENGLISH = _Catalogue({}, lambda number: int(number != 1))


def _catalogue(language: str) -> _Catalogue:
    return _ENGLISH if language == ENGLISH else _loaded(language)


@cache
def _loaded(language: str) -> _Catalogue:
    path = _files().get(language)
    return _read(path, path.stat().st_mtime_ns) if path else _ENGLISH
