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
    # It takes two tiles of 32 × 33 complex doubles, 33,792 bytes, wherever a work-group may have 1,024 work-items; lavapipe has
    # 32,768 bytes of local memory.
    explained '*matrixmul*::test_dtypes*cc-*dp*'
    PYTHONPATH=$PWD own_tests -p older_pyopencl -m 'not perf' tests
}
