"""Formulas as MathML, made when the site is built: no script, no network, read aloud."""

from __future__ import annotations

from html import escape

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.util.math import get_node_equation_number


def inline(self, node):
    self.body.append(convert(node.astext(), display="inline"))
    raise SkipNode


def block(self, node):
    number = ""
    if node["number"]:
        number = f'<span class="eqno">({escape(get_node_equation_number(self, node))})</span>'
    formula = convert(node.astext(), display="block")
    self.body.append(f'<div class="math" tabindex="0">{number}{formula}</div>')
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
