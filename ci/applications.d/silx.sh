# silx (PyPI): its own tests of its OpenCL part (codecs, image processing, sparse algebra, tomography).
prepare() { python_packages pytest silx pyopencl mako; }
check() { SILX_OPENCL=True own_tests --pyargs silx.opencl.test silx.opencl.codec.test; }
