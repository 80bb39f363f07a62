"""The dashboard's texts in a given language, whatever the language of the test's own thread; and a pseudo-language."""

from __future__ import annotations

import contextvars
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog

from dashboard import words
from dashboard.formatting import language
from tests import catalogues

PSEUDO = "xx"
OPEN, CLOSE = "⟦", "⟧"
KEPT = re.compile(  # untranslatable parts: values, bold, commands, tags, icons, date formats, options, ids
    r"\{[^{}]*\}|%\{[^}]*\}|%-?[A-Za-z]|`[^`]*`|<[^>]+>|&\w+;|:material/\w+:|https?://\S+"
)
ACCENTS = str.maketrans("aeiouycnsAEIOUYCNS", "áéíóúýçñšÁÉÍÓÚÝÇÑŠ")


class SaidIn:
    """`SaidIn("zh").REFRESH` returns what `words.REFRESH` is for a Chinese reader, and likewise for the results of
    functions."""

    def __init__(self, chosen: str) -> None:
        self._chosen = chosen

    def __getattr__(self, name: str) -> Any:
        found = self._run(lambda: getattr(words, name))
        return (lambda *given, **named: self._run(lambda: found(*given, **named))) if callable(found) else found

    def _run(self, what: Callable[[], Any]) -> Any:
        def chosen() -> Any:
            language.choose(self._chosen)
            return what()

        return contextvars.copy_context().run(chosen)


def pseudo(text: str) -> str:
    """Pseudo-localize: `⟦Ŕéfŕéšh····⟧` with accents, brackets and two fifths more length; untranslatable parts are
    kept."""
    if not re.search("[A-Za-z]", KEPT.sub("", text)):
        return text
    parts, at = [], 0
    for match in KEPT.finditer(text):
        parts += [text[at : match.start()].translate(ACCENTS), match[0]]
        at = match.end()
    longer = "·" * max(1, round(0.4 * len(KEPT.sub("", text))) - 2)
    return f"{OPEN}{''.join(parts)}{text[at:].translate(ACCENTS)}{longer}{CLOSE}"


def write_pseudo(folder: Path) -> Path:
    """Write the catalogue of the pseudo-language, a single file like those of other languages."""
    template = catalogues.template()
    made = Catalog(locale="en")
    for message in template:
        if message.id:
            many = isinstance(message.id, tuple | list)
            said = tuple(pseudo(each) for each in message.id) if many else pseudo(str(message.id))
            made.add(message.id, said, context=message.context)
    path = folder / f"{PSEUDO}.po"
    path.write_bytes(catalogues.written(made))
    return path
