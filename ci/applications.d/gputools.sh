# gputools (PyPI): its own tests of filters on volumes of an image.
prepare() {
    python_packages pytest gputools matplotlib scikit-image
    python_source gputools
}
check() {
    cp -r "$KEEP/source/tests" tests
    # Some make hundreds of kernels, one for each size; one transforms 256 × 256 × 256 values 200 times.
    TEST_SECONDS=1200 own_tests tests
}
