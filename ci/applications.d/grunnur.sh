# grunnur (PyPI): its own tests.
prepare() {
    python_packages pytest pytest-grunnur grunnur pyopencl mako numpy
    python_source grunnur
}
check() {
    cp -r "$KEEP/source/tests" tests
    # Two need a file that is left out of the source package.
    own_tests -p no:pytest_grunnur --ignore tests/test_template.py tests
}
