"""The regularized problem, by Newton's method.

ridge       L2 penalty, X in memory: chooses the route by the shape of the data
dual        its steps where active samples are fewer than features (wide data)
lasso       L1 penalty, by column generation
in_place    L2 penalty, X on a cluster, on a device or in batches
joint       several classes, or several values of C, in one problem
descent     Newton's method with an exact line search, which all of them use
"""
