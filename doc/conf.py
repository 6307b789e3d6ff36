"""Settings of the documentation."""

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

DOC = Path(__file__).parent
sys.path[:0] = [str(DOC), str(DOC / "_ext"), str(DOC / "figures")]

import lincent_site  # noqa: E402
from sphinx_gallery.sorting import ExplicitOrder, FileNameSortKey  # noqa: E402

import lincent  # noqa: E402

project = "lincent"
author = "The lincent developers"
copyright = f"2026, {author}"
release = version = lincent.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "notfound.extension",
    "lincent_site",
    "static_math",
]
html_math_renderer = "mathml"

# Where the site will stand, with a slash at its end; empty in a build for oneself.
html_baseurl = os.environ.get("LINCENT_SITE", "")
notfound_urls_prefix = urlsplit(html_baseurl).path or "/"

templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "measured/works_with.md",  # included by works_with.md
    "**/.ipynb_checkpoints",
    "gallery/**/*.ipynb",
    "jupyter_execute",
]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # the gallery's settings hold objects that are not pickled

# Tutorials are notebooks and run when the site is built: none may rot.
nb_execution_mode = "force"
nb_execution_timeout = 60
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

autosummary_generate = True
autosummary_context = lincent_site.api_context()
autodoc_typehints = "signature"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

plot_formats = [("png", 130)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = False
plot_basedir = plot_working_directory = str(DOC / "figures")
plot_rcparams = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
plot_apply_rcparams = True

TOPICS = (
    "stories", "first_steps", "reading", "comparing", "paper", "big_data", "deployment", "research",
)  # fmt: skip
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": ExplicitOrder([f"../examples/{topic}" for topic in TOPICS]),
    "within_subsection_order": FileNameSortKey,
    # Every example runs when the documentation is built: none may rot.
    "filename_pattern": r"/.*\.py$",
    "abort_on_example_error": True,
    "parallel": int(os.environ.get("LINCENT_DOC_JOBS", "2")),
    "backreferences_dir": "api/backreferences",
    "doc_module": ("lincent",),
    "reference_url": {"lincent": None},
    "inspect_global_variables": True,
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    "min_reported_time": 1,
    "write_computation_times": False,
    "thumbnail_size": (400, 280),
}

html_theme = "pydata_sphinx_theme"
html_title = f"lincent {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": f"lincent {release}", "image_light": "mark.svg", "image_dark": "mark.svg"},
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "collapse_navigation": True,
    "show_prev_next": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "play": []}
