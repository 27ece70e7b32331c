"""The runnable pages of docs/ hold what they say."""

import runpy
from pathlib import Path

from tools.make_differences import filled

PAGES = Path(__file__).parent.parent / "docs"


def test_the_small_reimplementation_agrees_with_calculus():
    page = runpy.run_path(str(PAGES / "how_it_works.py"))
    page["check"]()


def test_the_small_reimplementation_can_fail():
    page = runpy.run_path(str(PAGES / "how_it_works.py"))
    page["sin"].vjps[0] = lambda g, out, x: g * 1.001
    try:
        page["check"]()
    except AssertionError:
        return
    raise AssertionError("a wrong rule was not noticed")


def test_every_part_of_the_core_is_in_its_guide():
    core = PAGES.parent / "src" / "tensorplay" / "_core"
    guide = (core / "README.md").read_text()
    missing = [p.name for p in core.rglob("*.pxi") if f"`{p.name}`" not in guide]
    assert not missing


def test_the_page_of_differences_is_up_to_date():
    page = PAGES / "differences.md"
    assert filled(page.read_text()) == page.read_text(), "run python -m tools.make_differences"
