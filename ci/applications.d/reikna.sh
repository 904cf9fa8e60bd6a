# reikna (PyPI): its own tests of FFT, reductions, scans, matrix products and random numbers, but for those of speed.
prepare() {
    python_packages pytest reikna pyopencl scipy mako
    python_source reikna
}
check() {
    cp -r "$KEEP/source/test" tests
    # PyOpenCL has taken away an argument that reikna still gives.
    cat >older_pyopencl.py <<'PYTHON'
from pyopencl.array import Array

newer = Array.get
Array.get = lambda self, queue=None, ary=None, async_=False: newer(self, queue, ary)
PYTHON
    PYTHONPATH=$PWD own_tests -p older_pyopencl -m 'not perf' tests
}
