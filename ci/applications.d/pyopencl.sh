# PyOpenCL (PyPI): its own tests.
prepare() {
    python_packages pytest pyopencl mako numpy
    python_source pyopencl
}
check() {
    cp -r "$KEEP/source/test" tests
    own_tests tests
}
