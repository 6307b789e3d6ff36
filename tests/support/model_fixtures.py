"""A small table of every kind of column, and models made from it."""

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="the app extra is not installed")
pytest.importorskip("pandas", reason="the app extra is not installed")
pytest.importorskip("typer", reason="the app extra is not installed")


def _make_table(m=300, seed=0, classes=2):
    import pandas as pd

    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "customer": [f"c{k:04d}" for k in range(m)],
            "age": rng.integers(18, 80, m).astype(float),
            "income": rng.normal(50.0, 15.0, m).round(2),
            "visits": rng.integers(0, 9, m),
            "city": rng.choice(["Rome", "Oslo", "Lima's"], m),
            "member": rng.random(m) < 0.4,
        }
    )
    score = 0.05 * (frame.age - 50) + 0.04 * (frame.income - 50) + (frame.city == "Oslo")
    score = score + 0.8 * frame.member + rng.normal(0, 0.7, m)
    cuts = np.quantile(score, np.arange(1, classes) / classes)
    names = np.array(["no", "yes"] if classes == 2 else [f"k{k}" for k in range(classes)])
    frame["churn"] = names[np.searchsorted(cuts, score)]
    frame.loc[3, "age"] = np.nan
    frame.loc[[5, 9], "city"] = None
    return frame


@pytest.fixture(scope="session")
def make_table():
    return _make_table


@pytest.fixture(scope="session")
def table():
    return _make_table()


@pytest.fixture(scope="session")
def fresh():
    return _make_table(120, seed=1)


@pytest.fixture(scope="session")
def model(table):
    from lincent.workflow import fit_table

    return fit_table(table, "churn", ids=["customer"], method="lcc")


@pytest.fixture
def files(tmp_path, table, fresh, model):
    """train.csv, new.csv, new.parquet and model.lincent in a folder."""
    from lincent.export import save_model

    table.to_csv(tmp_path / "train.csv", index=False)
    fresh.to_csv(tmp_path / "new.csv", index=False)
    fresh.to_parquet(tmp_path / "new.parquet", index=False)
    save_model(model, tmp_path / "model.lincent")
    return tmp_path


class Answer:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def lincent(capfdbinary):
    """Run a command in this process."""
    from lincent.cli import make_app

    app = make_app()

    def run(*arguments):
        capfdbinary.readouterr()
        try:
            code = app([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        out, err = capfdbinary.readouterr()
        return Answer(code, out.decode(), err.decode())

    return run
