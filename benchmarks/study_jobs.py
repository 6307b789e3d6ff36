"""Wall time of part of procedure 1 with one and with two worker processes.

    python benchmarks/study_jobs.py --runs 10

Needs two cores that nobody else uses; the load of the machine is printed with the result.
"""

import argparse
import os
import tempfile
import time

from lincent.paper.study import Extent, reproduce


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    seconds = {}
    for jobs in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            extent = Extent(runs=options.runs, slow_runs=options.runs)
            result = reproduce(extent=extent, parts=["procedure1"], n_jobs=jobs, folder=folder)
            seconds[jobs] = time.monotonic() - start
        load = os.getloadavg()[0]
        print(f"--jobs {jobs}: {seconds[jobs]:.1f} s, {len(result.frame)} fits, load {load:.1f}")
    print(f"ratio {seconds[1] / seconds[2]:.2f}")


if __name__ == "__main__":
    main()
