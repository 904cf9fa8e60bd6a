# grunnur (PyPI): its own tests.
prepare() {
    python_packages pytest pytest-grunnur grunnur pyopencl mako numpy
    python_source grunnur
}
check() {
    cp -r "$KEEP/source/tests" tests
    own_tests -p no:pytest_grunnur tests
}
