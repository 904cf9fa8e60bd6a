# pyFAI (PyPI): its own tests of its OpenCL part (integration of diffraction pictures).
prepare() { python_packages pytest pyFAI pyopencl mako; }
check() { own_tests --pyargs pyFAI.opencl.test; }
