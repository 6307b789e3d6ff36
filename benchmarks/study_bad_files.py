"""200 MB of text given to ``lincent compare``: how long until the sentence, and how much memory.

python benchmarks/study_bad_files.py
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MEGABYTES = 200


def write(path, line, head=""):
    with open(path, "w") as sink:
        sink.write(head)
        for _ in range(MEGABYTES * 2**20 // len(line)):
            sink.write(line)


def attempt(what, path, target):
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "lincent", "compare", str(path), "--target", target],
        capture_output=True, text=True, cwd=path.parent,
    )  # fmt: skip
    seconds = time.monotonic() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    left = [p.name for p in path.parent.iterdir() if p != path]
    print(f"{what}: exit code {done.returncode}, {seconds:.1f} s, peak {peak:.0f} MB so far")
    print("   ", done.stderr.strip().replace(str(path.parent), "FOLDER"))
    assert done.returncode == 2
    assert left == [], left


def main():
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "prose.txt"
        write(path, "it was the best of times it was the worst of times\n")
        attempt("lines of prose", path, "y")
        write(path, "it was the best of times it was the worst of times ")
        attempt("one line of prose", path, "y")
        path.unlink()
        path = Path(name) / "column.csv"
        words = "it was the best of times it was the worst of times, " * 20
        write(path, f'1.5,"{words}",yes\n1.5,"{words[1:]}",no\n', "a,story,y\n")
        attempt("a column of two long texts", path, "y")


if __name__ == "__main__":
    main()
