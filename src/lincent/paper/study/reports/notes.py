"""What a reader should know to read a report rightly."""

from lincent.report.blocks import Note

IMBALANCE = Note(
    "Classes of different size",
    (
        "When one class is much larger, always answering with it gives a high accuracy and helps "
        "nobody. Balanced accuracy and the hard-label AUC count each class equally.",
        "Much of the difference between methods on such data is where they cut, not what they "
        "learned. LCC, SMP, TSV, WSV and DEL cut near the balanced point; LDA, SVM and logistic "
        "regression follow the class sizes unless they are told to balance. Compare them with "
        "their balanced twins before you call one better.",
    ),
)
HARD_AND_SCORE = Note(
    "Hard-label AUC and score AUC",
    (
        "The AUC in the paper is that of the predicted labels, (sensitivity + specificity) / 2: it "
        "judges one cut. The usual AUC uses the continuous score: it judges the order of the rows "
        "at all cuts, and is mostly much higher.",
        "If you can choose your own threshold, read the score AUC. If you use predict() as it is, "
        "read the hard-label AUC. A method that leads in one and trails in the other needs another "
        "threshold, not another model.",
    ),
)
OPTIMISTIC = Note(
    "Procedure 2 is optimistic",
    (
        "Procedure 2 takes the best of fifteen values on the same folds that then give the score. "
        "The best of fifteen noisy numbers is too high, more so for small sets and for methods "
        "with a sensitive parameter.",
        "The nested version chooses inside the training part and scores on rows that had no say. "
        "Its numbers are lower and are what to expect on new data.",
    ),
)
REAL = Note(
    "When is a difference real",
    (
        "All methods see the same splits, so differences are taken split by split. The splits "
        "share rows and are not independent: a plain test calls nearly everything significant once "
        "there are enough splits. The intervals here use the correction of Nadeau and Bengio "
        "(2003), which does not shrink to nothing as splits are added.",
        "Several comparisons at once find something by chance; Holm's rule corrects for that. A "
        "difference is called real here when it holds after both corrections. The signed-rank p "
        "values of the paper's kind stand beside them.",
        "The effect size is the rank-biserial correlation: 1 means better on every split, 0 means "
        "even.",
    ),
)
