"""Problem in, certified solution out: no estimator, no file, no label.

Each problem has one module that chooses its solver by the shape of the data:

    problem                           estimators                   chosen in
    linear program                    LCC, KernelLCC               lp.dispatch
    its regularization path           LCCCV                        lp.path
    regularized, L2 penalty           RegularizedLCC, Structured   newton.ridge
    regularized, L1 penalty           RegularizedLCC(norm="l1")    newton.lasso
    regularized, not in memory        RegularizedLCC on Dask, ...  newton.in_place
    several classes, or values of C   AdditiveLCC, AutoLCC         newton.joint
    ramp (nonconvex)                  FQCC                         ramp

The duality gap is that of ``problems``, for the coefficients that are returned.
"""
