"""Every page: title, description, headings in order, texts for pictures, links that lead on."""

import functools
import itertools
import re
import xml.etree.ElementTree as ET
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

MADE_BY_SPHINX = ("search.html", "genindex.html", "py-modindex.html")


@functools.cache
def soup(path):
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


@functools.cache
def anchors(path):
    return {tag["id"] for tag in soup(path).find_all(id=True)}


def test_title_and_language(site, page):
    html = soup(page)
    assert html.html["lang"].startswith("en")
    assert len(html.title.get_text().strip()) > 5


def test_description(site, page):
    if page.name in MADE_BY_SPHINX:
        pytest.skip("a page of Sphinx's own")
    tags = soup(page).find_all("meta", attrs={"name": "description"})
    assert len(tags) == 1
    assert 10 <= len(tags[0]["content"]) <= 320


def test_headings_are_in_order(site, page):
    levels = [int(tag.name[1]) for tag in soup(page).main.find_all(re.compile(r"^h[1-6]$"))]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_pictures_have_texts(site, page):
    # The mark beside the name of the project says nothing that the name does not.
    told = [tag for tag in soup(page).find_all("img") if "logo__image" not in tag.get("class", [])]
    assert [str(tag)[:120] for tag in told if not tag.get("alt", "").strip()] == []


def test_internal_links_lead_somewhere(site, page):
    if page.name == "404.html":
        pytest.skip("its links start at the root of the server")
    broken = []
    for tag in soup(page).find_all(["a", "link", "script", "img"]):
        address = tag.get("href") or tag.get("src") or ""
        parts = urlsplit(address)
        if parts.scheme or parts.netloc or not address or address == "#":
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if target.is_dir():
            target = target / "index.html"
        if not target.exists() or (
            parts.fragment
            and target.suffix == ".html"
            and unquote(parts.fragment) not in anchors(target)
        ):
            broken.append(address)
    assert broken == []


def test_no_trace_of_a_machine(site, page):
    text = page.read_text("utf-8")
    assert re.findall(r"(?<![\w.])/(?:work|root|home|Users)/[\w./]*", text) == []


def test_nothing_is_loaded_from_other_hosts(site, page):
    tags = [*soup(page).find_all("script", src=True), *soup(page).find_all("img", src=True)]
    tags += list(soup(page).find_all("link", rel="stylesheet"))
    sources = [tag.get("src") or tag.get("href") for tag in tags]
    assert [source for source in sources if urlsplit(source).netloc] == []


def test_the_site_has_its_lists(site):
    assert (site / "objects.inv").stat().st_size > 500
    assert (site / "404.html").exists()
    listed = ET.parse(site / "sitemap.xml").getroot()
    addresses = [place.text for place in listed.findall(".//{*}loc")]
    assert any(address.endswith("guide/pictures.html") for address in addresses)
    assert all(
        (site / urlsplit(address).path.lstrip("/")).exists()
        for address in addresses
        if "//" not in address
    )


def test_every_class_page_links_to_its_examples(site):
    text = (site / "api" / "generated" / "lincent.LCC.html").read_text("utf-8")
    assert "Examples using LCC" in text
    assert "sphx-glr-thumbcontainer" in text
