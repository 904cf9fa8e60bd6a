# loopy (PyPI): its own tests of generated kernels, but for those of C, CUDA and Fortran targets.
prepare() {
    python_packages pytest loopy pyopencl mako numpy
    python_source loopy
}
check() {
    cp -r "$KEEP/source/test" tests
    own_tests tests
}
