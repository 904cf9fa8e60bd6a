# reikna (PyPI): its own tests of FFT, reductions, scans, matrix products and random numbers.
prepare() {
    python_packages pytest reikna pyopencl scipy mako
    python_source reikna
}
check() {
    cp -r "$KEEP/source/test" tests
    own_tests tests
}
