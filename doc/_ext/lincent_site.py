"""What every page gets: a description for search engines, a place in the sitemap, API pages."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from xml.sax.saxutils import escape

from api_reference import ADDED, MODULES, PRESENT, sections
from docutils import nodes

DESCRIPTION_LENGTH = 160
NOT_LISTED = ("404", "search", "genindex", "py-modindex")


def own_methods(cls):
    """Methods and properties that are ours, inherited ones included, scikit-learn's left out."""
    found = []
    for name in dir(cls):
        if name.startswith("_"):
            continue
        member = inspect.getattr_static(cls, name)
        function = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
        function = getattr(function, "fn", function)  # available_if keeps the function in fn
        if callable(function) and (getattr(function, "__module__", "") or "").startswith("lincent"):
            found.append(name)
    return found


def api_context():
    """What the templates of API pages know: methods of each class, the version it came with."""
    methods, added = {}, {}
    for module in MODULES:
        for name in module.names():
            thing = getattr(importlib.import_module(module.name), name)
            full = f"{module.name}.{name}"
            added[full] = ADDED.get(full, PRESENT)
            if inspect.isclass(thing):
                methods[full] = own_methods(thing)
    return {"own_methods": methods, "added": added}


def write_api_pages(app, config):
    """One page per section of the list in api_reference.py; autosummary writes the others."""
    folder = Path(app.srcdir, "api")
    folder.mkdir(exist_ok=True)
    for name, text in sections().items():
        target = folder / f"{name}.rst"
        if not target.exists() or target.read_text("utf-8") != text:
            target.write_text(text, "utf-8")
    public = {f"{module.name}.{name}" for module in MODULES for name in module.names()}
    for page in folder.glob("generated/*.rst"):
        if page.stem not in public:  # of an earlier build
            page.unlink()


def first_words(doctree):
    """The first paragraph, cut at a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        words = " ".join(paragraph.astext().split())
        if len(words) > 30:
            if len(words) <= DESCRIPTION_LENGTH:
                return words
            return words[: DESCRIPTION_LENGTH - 1].rsplit(" ", 1)[0] + "…"
    return ""


def describe(app, pagename, templatename, context, doctree):
    """Give a page without a description its first words."""
    if doctree is None or 'name="description"' in context.get("metatags", ""):
        return
    words = (
        first_words(doctree) or f"{context.get('title', '')}: a page of lincent's documentation."
    )
    tag = f'<meta name="description" content="{escape(words, {chr(34): "&quot;"})}" />'
    context["metatags"] = context.get("metatags", "") + tag


THUMBNAIL = re.compile(
    r'<img alt="" (src="[^"]*_thumb\.png" />\s*<p><a class="reference internal") '
    r'(href="[^"]*"><span class="(?:std std-ref|doc)">)([^<]*)'
)


def name_thumbnails(app, pagename, templatename, context, doctree):
    """The gallery hides the text of its links: say it to those who listen."""
    if "body" in context:
        named = r'<img alt="\3" \1 aria-label="\3" \2\3'
        context["body"] = THUMBNAIL.sub(named, context["body"])


def name_toggles(app, pagename, templatename, context, doctree):
    """The arrows that unfold the navigation get a name."""
    original = context.get("generate_toctree_html")
    if original is None:
        return

    def named(kind, **options):
        made = original(kind, **options)
        label = '<summary aria-label="Show the pages below">'
        return made if kind == "raw" else str(made).replace("<summary>", label)

    context["generate_toctree_html"] = named


def write_sitemap(app, error):
    """sitemap.xml: every page, under the site's address where one is given."""
    if error is not None or app.builder.format != "html":
        return
    base = app.config.html_baseurl
    pages = sorted(page for page in app.env.found_docs if page not in NOT_LISTED)
    lines = [f"<url><loc>{escape(base + page)}.html</loc></url>" for page in pages]
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = "\n".join([head, f'<urlset xmlns="{space}">', *lines, "</urlset>", ""])
    Path(app.outdir, "sitemap.xml").write_text(text, "utf-8")


def setup(app):
    app.connect("config-inited", write_api_pages)  # before Sphinx looks which pages there are
    app.connect("html-page-context", describe)
    app.connect("html-page-context", name_thumbnails)
    app.connect("html-page-context", name_toggles, priority=900)  # after the theme has its say
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
