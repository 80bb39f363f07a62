"""Two sets of screenshots: only pictures that look different are reported, and the difference is marked."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from tests.screenshots import NOTICED, compare

GREY = (128, 128, 128)


def picture(path: Path, size: tuple[int, int] = (8, 8), **pixels: tuple[int, int, int]) -> None:
    path.parent.mkdir(exist_ok=True)
    drawn = Image.new("RGB", size, GREY)
    for place, colour in pixels.items():
        drawn.putpixel((int(place[1:]), 3), colour)
    drawn.save(path)


def test_only_what_looks_different_is_reported(tmp_path: Path) -> None:
    old, new, marked = (tmp_path / each for each in ("old", "new", "changed"))
    brighter = (128 + NOTICED, 128, 128)
    for name in ("same", "nearly", "other", "longer", "gone"):
        picture(old / f"{name}.png")
    picture(new / "same.png")
    picture(new / "nearly.png", x2=brighter)
    picture(new / "other.png", x2=(brighter[0] + 1, 128, 128))
    picture(new / "longer.png", (8, 9))
    picture(new / "new.png")
    assert list(compare(old, new, marked)) == [
        "gone.png: gone",
        f"longer.png: changed, see {marked / 'longer.png'}",
        "new.png: new",
        f"other.png: changed, see {marked / 'other.png'}",
    ]
    with Image.open(marked / "other.png") as seen:
        assert seen.getpixel((2, 3)) == (255, 0, 255)
        assert seen.getpixel((3, 3)) == GREY
    with Image.open(marked / "longer.png") as seen:
        assert (seen.height, seen.getpixel((0, 8))) == (9, (255, 0, 255))
