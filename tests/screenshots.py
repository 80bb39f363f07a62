"""Screenshots of every page in both themes, languages and widths, compared with the set before.

    python -m tests.screenshots WAREHOUSE DIRECTORY

Takes a set into DIRECTORY/new; the set that was there moves to DIRECTORY/old. For pictures that differ,
DIRECTORY/changed holds the new one with the changed pixels in magenta. All runs on one warehouse see the same time, so
only changes of the pages show. Chromium or Chrome on the PATH draws (or `$SNAPSCOPE_CHROMIUM`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import sync_playwright

from dashboard import words
from tests.support.e2e.chromium import ARGUMENTS, browser
from tests.support.e2e.pages import view
from tests.support.e2e.reader import PATIENCE_MS, Reader
from tests.support.e2e.server import served

HEIGHT = 2_000
SETS = [(1440, "light"), (1440, "dark"), (900, "light"), (900, "dark")]
LANGUAGES = ("en", "zh")
NOTICED = 16  # of 255: smaller differences of a colour are rounding


def changed(before: Image.Image, after: Image.Image) -> Image.Image | None:
    """Return `after` with the pixels that differ in magenta, or None if the two look the same."""
    size = max(before.width, after.width), max(before.height, after.height)
    sheets = [Image.new("RGB", size, "black") for _ in range(2)]
    for sheet, picture in zip(sheets, (before, after), strict=True):
        sheet.paste(picture)
    bands = ImageChops.difference(*sheets).split()
    most = ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2])
    mask = most.point(lambda value: 255 if value > NOTICED else 0)
    if mask.getbbox() is None:
        return None
    marked = sheets[1].copy()
    marked.paste((255, 0, 255), mask=mask)
    return marked


def compare(old: Path, new: Path, target: Path) -> Iterator[str]:
    """Write the changed pictures to `target` and yield a line about each picture that is not as before."""
    names = {path.name for path in (*old.glob("*.png"), *new.glob("*.png"))}
    for name in sorted(names):
        if not (old / name).exists():
            yield f"{name}: new"
        elif not (new / name).exists():
            yield f"{name}: gone"
        else:
            with Image.open(old / name) as before, Image.open(new / name) as after:
                marked = changed(before.convert("RGB"), after.convert("RGB"))
            if marked is not None:
                target.mkdir(exist_ok=True)
                marked.save(target / name)
                yield f"{name}: changed, see {target / name}"


def take(warehouse: Path, directory: Path) -> int:
    """Take one picture of each page in each form into `directory`; return how many there are."""
    fonts = subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True, text=True, check=True).stdout
    if not fonts.strip():
        raise SystemExit("No font here has Chinese characters: install one, for example fonts-noto-cjk.")
    marker = warehouse / ".snapscope-demo"
    os.environ["SNAPSCOPE_TEST_NOW_MS"] = str(marker.stat().st_mtime_ns // 1_000_000 + 3_600_000)
    taken = 0
    with tempfile.TemporaryDirectory() as own, sync_playwright() as playwright:
        os.environ["SNAPSCOPE_STATE"] = own  # the pictures show no recent tables
        with served(warehouse, Path(own) / "hold") as home:
            running = playwright.chromium.launch(executable_path=browser(), args=list(ARGUMENTS))
            for width, theme in SETS:
                context = running.new_context(viewport={"width": width, "height": HEIGHT}, color_scheme=theme)  # type: ignore[arg-type]
                page = context.new_page()
                page.set_default_timeout(PATIENCE_MS)
                me = Reader(page, home, None)
                for language in LANGUAGES:
                    for name in words.PAGES:
                        me.open(view(name, "sales.orders", lang=language))
                        page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')")
                        me.settled().check()
                        page.mouse.move(0, 0)
                        page.wait_for_timeout(300)
                        target = directory / f"{name}-{language}-{theme}-{width}.png"
                        page.screenshot(path=target, animations="disabled")
                        taken += 1
                context.close()
            running.close()
    return taken


def main(warehouse: Path, directory: Path) -> None:
    old, new, marked = (directory / each for each in ("old", "new", "changed"))
    shutil.rmtree(marked, ignore_errors=True)
    if new.exists():
        shutil.rmtree(old, ignore_errors=True)
        new.rename(old)
    new.mkdir(parents=True)
    taken = take(warehouse, new)
    lines = list(compare(old, new, marked)) if old.exists() else []
    print(*lines, f"{taken} pictures in {new}, {len(lines)} not as before.", sep="\n")


if __name__ == "__main__":
    main(*(Path(each) for each in sys.argv[1:]))
