"""Draw the figures of the README into doc/images.

python doc/readme_figures.py             # accuracy_time.svg and speed.svg, from measured tables
python doc/readme_figures.py --report    # report.png as well: a real report, by Chromium
"""

import argparse
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

DOC = Path(__file__).resolve().parent
FIGURES = ("accuracy_time", "speed")
sys.path.insert(0, str(DOC / "figures"))


def draw(name, folder):
    """Save a figure of doc/figures as SVG, the same file each time."""
    style = {"svg.hashsalt": "lincent", "font.size": 10, "figure.facecolor": "white"}
    style |= {"axes.spines.top": False, "axes.spines.right": False}
    with mpl.rc_context(style):
        runpy.run_path(str(DOC / "figures" / f"{name}.py"))
        plt.savefig(folder / f"{name}.svg", metadata={"Date": None})
        plt.close()


def photograph_report(images):
    """Fit scikit-learn's breast cancer table on the command line and photograph its report."""
    from PIL import Image
    from sklearn.datasets import load_breast_cancer

    sys.path.insert(0, str(DOC.parent / "tests"))
    from support.browser import Browser, find_browser

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "patients.csv")
        bunch = load_breast_cancer(as_frame=True)
        named = bunch.target.map(dict(enumerate(bunch.target_names)))
        bunch.data.assign(diagnosis=named).to_csv(table, index=False)
        command = [sys.executable, "-m", "lincent", "fit", str(table), "--target", "diagnosis"]
        command += ["--report", "--quiet", "-o", str(Path(folder, "model.lincent"))]
        subprocess.run(command, check=True)
        browser = Browser(find_browser())
        browser.size(780, 800)
        browser.call("Emulation.setScrollbarsHidden", hidden=True)
        (page,) = Path(folder).glob("*.html")
        browser.open(page)
        views = [Path(folder, "first.png"), Path(folder, "second.png")]
        browser.screenshot(views[0])
        headings = "[...document.querySelectorAll('h2')]"
        found = f"{headings}.find((h) => h.textContent.includes('threshold'))"
        browser.run(f"{found}.scrollIntoView({{behavior: 'instant'}})")
        browser.screenshot(views[1])
        browser.close()
        beside = Image.new("RGB", (1560, 800))
        for k, view in enumerate(views):
            beside.paste(Image.open(view), (780 * k, 0))
        beside.quantize(128).save(images / "report.png", optimize=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=DOC / "images")
    parser.add_argument("--report", action="store_true", help="photograph a report as well")
    options = parser.parse_args()
    mpl.use("Agg")
    for name in FIGURES:
        draw(name, options.folder)
    if options.report:
        photograph_report(options.folder)
