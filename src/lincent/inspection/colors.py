"""The colors of two classes in reports and figures: told apart without color vision and in grey.

The names of `lincent.report.drawing` stand for whatever the page's theme has; these stand for
themselves, for figures that are drawn outside a page.
"""

COLORS = ("#0072B2", "#E69F00")
LIGHT = ("#C6DDEC", "#FBEBC8")
INK = "#222222"
