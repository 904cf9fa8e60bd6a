# silx (PyPI): its own tests of its OpenCL part (codecs, image processing, sparse algebra, tomography).
prepare() { python_packages pytest silx pyopencl mako; }
check() {
    python - <<'PYTHON'
import silx.test
raise SystemExit(silx.test.run_tests(module="silx.opencl", verbosity=1))
PYTHON
}
