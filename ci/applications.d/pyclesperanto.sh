# pyclesperanto (PyPI): its own tests of some 200 image filters.
prepare() {
    python_packages pytest pyclesperanto scikit-image
    python_source pyclesperanto
}
check() {
    cp -r "$KEEP/source/tests" tests
    own_tests tests
}
