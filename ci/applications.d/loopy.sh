# loopy (PyPI): its own tests of generated kernels, but for those of C, CUDA and Fortran targets.
prepare() {
    # The islpy of 2026 lacks what this release of loopy calls.
    python_packages pytest loopy 'islpy<2026' pyopencl mako numpy
    python_source loopy
}
check() {
    cp -r "$KEEP/source/test" tests
    # A sequential kernel of one work-item makes the reference: lavapipe before 25.0 has a limit of 65,533 iterations.
    explained '*::test_convolution*' '*::test_diff*' '*::test_dg_volume*'
    own_tests --ignore tests/test_fortran.py --ignore tests/test_c_execution.py -k 'not ExecutableCTarget' tests
}
