"""What is known of each data set before it is loaded: names, size, licence, source, checksums.

The values themselves are third-party data and are not part of this package; the checksums are,
so that a table from any source is known to be the published one. ``file_sha256`` is that of the
CSV file kept in a data folder, ``table_sha256`` that of the canonical text of its values
(`lincent.datasets.table`).
"""

import difflib
from dataclasses import dataclass

_UCI = "UCI Machine Learning Repository"
_MASS = "R package MASS"
_SHAPES = "shape sets of the clustering basic benchmark, University of Eastern Finland"
_CC_BY = "CC BY 4.0 (UCI)"
_RESEARCH = "research use, cite the original article"


@dataclass(frozen=True)
class Entry:
    """The fixed facts of one data set."""

    name: str
    code: str
    title: str
    n_rows: int
    n_features: int
    class_counts: tuple[tuple[str, int], ...]
    licence: str
    source: str
    description: str
    aliases: tuple[str, ...] = ()
    file_sha256: str = ""
    table_sha256: str = ""
    groups_file: str = ""
    groups_file_sha256: str = ""
    groups_sha256: str = ""
    generated: bool = False

    @property
    def file(self) -> str:
        """Name of the file in a data folder."""
        return f"{self.name}.csv"


_ENTRIES = (
    Entry(
        name="breast_cancer",
        code="BC",
        title="Breast cancer Wisconsin (original)",
        n_rows=699,
        n_features=9,
        class_counts=(("benign", 458), ("malignant", 241)),
        licence=f"{_CC_BY}; GPL-2 or GPL-3 as part of MASS",
        source=f"{_MASS}, biopsy; the same rows at the {_UCI}, id 15",
        description=(
            "Nine cytology grades from 1 to 10. The 16 missing values of bare_nuclei are 3.5, as "
            "in the copy used by the first author of the paper. 236 rows repeat earlier rows."
        ),
        file_sha256="84595d53132bfc289895d7168a4562fb79c22a3cc18aefb54c16c90ffe0645e1",
        table_sha256="3a244fb09a2e8e251758eb291abb2cfd5787fe172c7f8f3f236c38665d2c6b8d",
    ),
    Entry(
        name="crab_gender",
        code="CG",
        title="Crab gender",
        n_rows=200,
        n_features=6,
        class_counts=(("female", 100), ("male", 100)),
        licence="GPL-2 or GPL-3 (MASS)",
        source=f"{_MASS}, crabs",
        description=(
            "Species (0 = blue form, 1 = orange form) and five body measures of Leptograpsus "
            "variegatus in mm."
        ),
        file_sha256="beb8b22ad69e5940b1abd1695e09f08e53e20ab0a0b02fbd81caa5af9e381818",
        table_sha256="79e2c691a643652d337a9ffac6d68ee7bb982400ada125561bdf32133c83dec5",
    ),
    Entry(
        name="glass",
        code="GC",
        title="Glass identification, window against non-window",
        n_rows=214,
        n_features=9,
        class_counts=(("non-window", 51), ("window", 163)),
        licence=_CC_BY,
        source=f"{_UCI}, id 42, glass.data",
        description=(
            "Refractive index and weight percent of eight oxides. Types 1, 2, 3 are window glass, "
            "types 5, 6, 7 are containers, tableware and headlamps."
        ),
        file_sha256="d815989c2d5b3773215ec71573f42bc9eb524be1a8560199e1d9ff09e8afc882",
        table_sha256="d815989c2d5b3773215ec71573f42bc9eb524be1a8560199e1d9ff09e8afc882",
    ),
    Entry(
        name="parkinson",
        code="PR",
        title="Parkinson voice recordings",
        n_rows=195,
        n_features=22,
        class_counts=(("healthy", 48), ("parkinson", 147)),
        licence=_CC_BY,
        source=f"{_UCI}, id 174, parkinsons.data",
        description=(
            "22 voice measures of 195 recordings. The paper splits the rows at random; the "
            "recordings of one speaker resemble each other, so an honest split keeps each of the "
            "32 speakers (groups) on one side."
        ),
        aliases=("parkinsons",),
        file_sha256="921c9720ce04765ff7ca3f0bc6c27adbbd15d2799aade42765642e6b1a51d700",
        table_sha256="921c9720ce04765ff7ca3f0bc6c27adbbd15d2799aade42765642e6b1a51d700",
        groups_file="parkinson_subjects.csv",
        groups_file_sha256="01562befb0bf80a087e38d3101cdfde7b9d325d98448c0bad3e3f69cb0359a34",
        groups_sha256="00ae97dd300eb96cd7baa28f10f8072d3456c16269bb9b28c56d99a7179f6bb8",
    ),
    Entry(
        name="ionosphere",
        code="IS",
        title="Ionosphere radar returns",
        n_rows=351,
        n_features=34,
        class_counts=(("bad", 126), ("good", 225)),
        licence=_CC_BY,
        source=f"{_UCI}, id 52, ionosphere.data",
        description=(
            "17 complex autocorrelation values as (real, imaginary) pairs. a02 is 0 in every row; "
            "without it the 33 other columns reproduce the figures of the paper, which prints 32."
        ),
        file_sha256="468fbbfde6ebf10c549f2d7af8abaf46b9140b554a617754ba496cacf67e87e3",
        table_sha256="022a290a87f408ac316781a425e2328c3bf61711d7bad70a5fb870bf123fd87e",
    ),
    Entry(
        name="pima_diabetes",
        code="PD",
        title="Pima Indians diabetes",
        n_rows=768,
        n_features=8,
        class_counts=(("negative", 500), ("positive", 268)),
        licence="public; none stated by the source",
        source=f"formerly {_UCI}, pima-indians-diabetes.data; OpenML id 37",
        description=(
            "Zeros stand for unknown in glucose (5), blood_pressure (35), skin_thickness (227), "
            "insulin (374) and bmi (11); they are kept, as in the paper."
        ),
        aliases=("pima",),
        file_sha256="8c031124bb700ca305550bef6ed85e6e34e9cde5e8de0fb3271e2883c9b7a0b7",
        table_sha256="6a6595c61ed21a714a930ed88af1e74c060d7708051914fc59dfeeb596067386",
    ),
    Entry(
        name="german_credit",
        code="GR",
        title="German credit, numeric edition",
        n_rows=1000,
        n_features=24,
        class_counts=(("bad", 300), ("good", 700)),
        licence=_CC_BY,
        source=f"{_UCI}, id 144, german.data-numeric",
        description=(
            "The 24 integers of the numeric re-coding (Strathclyde University) of 20 attributes."
        ),
        file_sha256="63bfc1c25dde829659cb081926d636858335a421c5d50c1038629b4799d766df",
        table_sha256="1d0b3e7719bd9fb7551bc9467c69c543e8a23e3b0a02430171bbb0d42dc63941",
    ),
    Entry(
        name="breast_cancer_with_missing",
        code="",
        title="Breast cancer Wisconsin (original), missing values kept",
        n_rows=699,
        n_features=9,
        class_counts=(("benign", 458), ("malignant", 241)),
        licence=f"{_CC_BY}; GPL-2 or GPL-3 as part of MASS",
        source=f"{_MASS}, biopsy; the same rows at the {_UCI}, id 15",
        description="As breast_cancer, with the 16 missing values of bare_nuclei left as NaN.",
        file_sha256="f795b5dab9049d147cb91dcf5c758a3e1a89bdd0a550c853713d52d82cff231c",
        table_sha256="e9676eca11caea1f8255bf2b29896bcb4bfb14549b4e8db2e8630bc645249a21",
    ),
    Entry(
        name="ionosphere_32",
        code="",
        title="Ionosphere radar returns without a01 and a02",
        n_rows=351,
        n_features=32,
        class_counts=(("bad", 126), ("good", 225)),
        licence=_CC_BY,
        source=f"{_UCI}, id 52, ionosphere.data",
        description=(
            "32 columns, the number the paper prints; its figures come from 33 (see ionosphere)."
        ),
        file_sha256="b2f7fa283bb95acf3cc89624966c70971de7e3b18b35454f3158a8002bd5cbcd",
        table_sha256="b2f7fa283bb95acf3cc89624966c70971de7e3b18b35454f3158a8002bd5cbcd",
    ),
    Entry(
        name="jain",
        code="Jain",
        title="Jain, two crescents",
        n_rows=373,
        n_features=2,
        class_counts=(("1", 276), ("2", 97)),
        licence=_RESEARCH,
        source=f"{_SHAPES}; Jain and Law 2005",
        description="Two crescents of unequal density in the plane.",
        file_sha256="68e89e9a06857c6e615cd84e1eb1df8e692fa1f30d2b736ad50ad14cf428c310",
        table_sha256="68e89e9a06857c6e615cd84e1eb1df8e692fa1f30d2b736ad50ad14cf428c310",
    ),
    Entry(
        name="spiral",
        code="Spiral",
        title="Spiral, three arms",
        n_rows=312,
        n_features=2,
        class_counts=(("1", 101), ("2", 105), ("3", 106)),
        licence=_RESEARCH,
        source=f"{_SHAPES}; Chang and Yeung 2008",
        description="Three spiral arms; the paper does not say how it made two classes of them.",
        file_sha256="f88daacedc1df77b7eebe525501abf0943de7f690c102d3531d18059dcdee1a1",
        table_sha256="f88daacedc1df77b7eebe525501abf0943de7f690c102d3531d18059dcdee1a1",
    ),
    Entry(
        name="flame",
        code="Flame",
        title="Flame, two overlapping clusters",
        n_rows=240,
        n_features=2,
        class_counts=(("1", 87), ("2", 153)),
        licence=_RESEARCH,
        source=f"{_SHAPES}; Fu and Medico 2007",
        description="A bowl with a ball in it; the first two rows are outliers of class 1.",
        file_sha256="d621656f8123de0a9d297375aa8253c88c1921c4778d6de09e1e3da408acd73a",
        table_sha256="d621656f8123de0a9d297375aa8253c88c1921c4778d6de09e1e3da408acd73a",
    ),
    Entry(
        name="pathbased",
        code="",
        title="Pathbased, a ring around two clusters",
        n_rows=300,
        n_features=2,
        class_counts=(("1", 110), ("2", 97), ("3", 93)),
        licence=_RESEARCH,
        source=f"{_SHAPES}; Chang and Yeung 2008",
        description=(
            "A ring (class 1) around two clusters. A stand-in for the set the paper calls Circles, "
            "which is not published under that name."
        ),
        file_sha256="8b7ba27f707d2d7eb0473b2a6e14c9693b43665de46c5e02ab4157f8f0948ce0",
        table_sha256="8b7ba27f707d2d7eb0473b2a6e14c9693b43665de46c5e02ab4157f8f0948ce0",
    ),
    Entry(
        name="circles",
        code="Circles",
        title="Two concentric circles (synthetic)",
        n_rows=400,
        n_features=2,
        class_counts=(("inner", 200), ("outer", 200)),
        licence="BSD-3-Clause (generated by scikit-learn)",
        source="synthetic: sklearn.datasets.make_circles",
        description=(
            "Synthetic, not the data of the paper: make_circles(n_samples=400, factor=0.4, "
            "noise=0.05, random_state=0), in place of a set that is not published."
        ),
        generated=True,
    ),
    Entry(
        name="paper_example",
        code="",
        title="The worked example of the paper (synthetic)",
        n_rows=200,
        n_features=2,
        class_counts=(("-1", 100), ("1", 100)),
        licence="BSD-3-Clause (generated by lincent)",
        source="synthetic: lincent.datasets.make_paper_example, after the paper's visual overview",
        description=(
            "Synthetic: two Gaussian groups with the printed means. The printed matrices are no "
            "covariances; make_paper_example says what is taken instead. The paper gives no size; "
            "100 points a group and random_state=0 are ours."
        ),
        aliases=("example",),
        generated=True,
    ),
)

ENTRIES: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
_NAMES: dict[str, str] = {
    alias.lower(): entry.name
    for entry in _ENTRIES
    for alias in (entry.name, entry.code, *entry.aliases)
    if alias
}


def find_entry(name: str) -> Entry:
    """Return the entry of a name, code or alias in any case, or suggest the closest ones."""
    if not isinstance(name, str):
        raise TypeError(f"The name of a data set is a string, got {type(name).__name__}.")
    key = name.strip().lower().replace("-", "_").replace(" ", "_").removesuffix(".csv")
    if key in _NAMES:
        return ENTRIES[_NAMES[key]]
    close = list(dict.fromkeys(_NAMES[k] for k in difflib.get_close_matches(key, _NAMES, 3, 0.6)))
    if close:
        hint = "did you mean " + " or ".join(repr(match) for match in close) + "?"
    else:
        hint = "the names are " + ", ".join(ENTRIES) + "."
    raise ValueError(f"Unknown data set {name!r}: {hint}")
