"""Slides are cut out of a chapter's page, at most eight, and the keyboard turns them without a network."""

import shutil
from pathlib import Path

import pytest

from lrnnbook.machinery.book import site
from lrnnbook.machinery.book.site.slides import MOST, write_slides

PICTURE = '<div class="cell{}"><div class="cell_input">code</div><div class="cell_output"><img alt="{}" src="data:,"></div></div>'
STEP = ('<section id="s{0}"><span id="{0} S"></span><h2>{0} Step<a class="headerlink" href="#s{0}">#</a></h2><p>' + "word " * 61
        + '</p><p>Short {0}.</p><span class="formula">is {0}</span><span class="formula">later</span>{1}</section>')  # fmt: skip


@pytest.fixture
def page(tmp_path):
    """A chapter of nine sections as Sphinx writes it."""
    steps = [STEP.format(n, PICTURE.format("", f"first {n}") + (PICTURE.format(" tag_slide", f"tagged {n}") if n == 2 else "")) for n in range(1, 9)]
    text = f"""<html><head><link rel="stylesheet" href="_static/book.css"><link rel="next" href="x.html"></head><body><article><section>
<h1>02 · Blocks</h1><p>A hook.</p>{PICTURE.format("", "hook")}<p>Text. <strong>Is rounding better?</strong> More text.</p>
<section><h2>Bare</h2><p>No picture.</p></section>{"".join(steps)}<section><h2>The map</h2>{PICTURE.format("", "map")}</section>
<section><h2>What to remember</h2><ol><li>One.</li></ol></section></section></article></body></html>"""
    (tmp_path / "02_blocks.html").write_text(text, encoding="utf-8")
    shutil.copytree(Path(site.__file__).parent / "static", tmp_path / "_static")
    return tmp_path / "02_blocks.html"


def test_slides_are_picture_question_steps_and_what_to_remember(page):
    assert write_slides(page) == MOST
    text = page.with_name("02_blocks_slides.html").read_text(encoding="utf-8")
    for said in ("A hook.", 'alt="hook"', "What do you think?", "<strong>Is rounding better?</strong>", "1 Step",
                 'Short 1.</p><span class="formula">is 1</span>', 'alt="tagged 2"', "One."):  # fmt: skip
        assert said in text
    for said in ("More text", "later", "word word", "first 2", "6 Step", "code</div>", "headerlink", "The map", "https:", ' id="s1"'):
        assert said not in text


def test_the_keyboard_turns_slides_and_the_address_says_which(page, visit):
    write_slides(page)
    seen = visit(page.with_name("02_blocks_slides.html"))
    for key, at in (("ArrowRight", 2), ("Space", 3), ("ArrowLeft", 2), ("End", 8), ("PageDown", 8), ("Home", 1), ("PageUp", 1)):
        seen.keyboard.press(key)
        assert seen.locator(".slide:visible").count() == 1
        assert seen.locator(".at").inner_text() == f"{at} of 8" and seen.url.endswith(f"#{at}")
    seen.goto(f"{page.with_name('02_blocks_slides.html').as_uri()}#8")
    seen.get_by_text("One.").wait_for()
    assert seen.locator(".slide:visible").count() == 1


def test_a_picture_keeps_its_proportions_above_the_foot_and_moves(page, visit):
    drawn = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='900' height='900'><rect width='900' height='900'/></svg>"
    frames = [f'<div class="frame"><img alt="n is {n}" style="width:691px" width="900" height="900" src="{drawn}"></div>' for n in (3, 4)]
    control = """<input id="book-0" type="range" max="1" value="0" data-values='["3", "4"]'><output for="book-0">3</output>"""
    text = page.read_text(encoding="utf-8").replace('<img alt="hook" src="data:,">', f'<figure class="flipbook">{control}{"".join(frames)}</figure>')
    moving = '<figure data-moving="x"><p>It moves.</p></figure><script>document.querySelector("[data-moving]").append("Moved.")</script>'
    moving = f'<div class="cell"><div class="cell_output"><div class="output"><p class="keys">a b</p>{moving}</div></div></div>'
    page.write_text(text.replace("<p>No picture.</p>", moving), encoding="utf-8")
    write_slides(page)
    seen = visit(page.with_name("02_blocks_slides.html"))
    for width, height in ((1024, 640), (1280, 720), (1920, 1080)):
        seen.set_viewport_size({"width": width, "height": height})
        picture = seen.locator("img[alt='n is 3']")
        box = picture.bounding_box()
        assert box["height"] > 0.4 * height and box["y"] + box["height"] <= seen.locator("body > .keys").bounding_box()["y"]
        assert picture.evaluate("image => getComputedStyle(image).objectFit") == "contain"
    seen.locator("input").press("ArrowRight")
    assert seen.locator("img:visible").get_attribute("alt") == "n is 4" and seen.locator(".at").inner_text() == "1 of 8"
    seen.goto(f"{page.with_name('02_blocks_slides.html').as_uri()}#3")
    seen.get_by_text("Moved.").wait_for()
    assert seen.locator(".slide .keys").evaluate("keys => getComputedStyle(keys).position") == "static"


def test_the_site_has_slides_and_offers_the_package_as_a_file(tmp_path):
    (tmp_path / "lrnnlab-0.1.0-py3-none-any.whl").write_bytes(b"wheel")
    root = Path(__file__).parents[3] / "notebooks"
    found = site.build_site([root / "00_start_here.ipynb"], tmp_path / "out", books=False, whole=False,
                            wheel=tmp_path / "lrnnlab-0.1.0-py3-none-any.whl", say=str)  # fmt: skip
    assert found == []
    assert (tmp_path / "out" / "lrnnlab-0.1.0-py3-none-any.whl").read_bytes() == b"wheel"
    assert 'href="lrnnlab-0.1.0-py3-none-any.whl"' in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    slides = (tmp_path / "out" / "00_start_here_slides.html").read_text(encoding="utf-8")
    assert 4 <= slides.count('class="slide"') <= MOST and "<math" in slides
    assert (tmp_path / "out" / "TEACHING_HOURS.html").is_file() and "TEACHING_HOURS.html" in (tmp_path / "out" / "TEACHING.html").read_text(encoding="utf-8")
