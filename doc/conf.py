"""Settings of the documentation."""

from importlib.metadata import version as installed_version

project = "lincent"
author = "The lincent developers"
copyright = f"2026, {author}"
release = version = installed_version("lincent")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath"]
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]

autosummary_generate = True
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # Every example runs when the documentation is built: none may rot.
    "filename_pattern": r"/.*\.py$",
    "download_all_examples": False,
    "show_memory": False,
    "plot_gallery": "True",
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = f"lincent {release}"
html_theme_options = {"show_prev_next": False}
