# sasmodels (PyPI): every model's own known values, by kernels.
prepare() { python_packages sasmodels pyopencl; }
check() { SAS_OPENCL=0:0 python -m sasmodels.model_test opencl all; }
