# gputools (PyPI): its own tests of filters on volumes of an image.
prepare() {
    python_packages pytest gputools matplotlib scikit-image
    python_source gputools
}
check() {
    cp -r "$KEEP/source/tests" tests
    own_tests tests
}
