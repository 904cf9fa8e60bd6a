# pyvkfft (PyPI): VkFFT's transforms against those of NumPy and SciPy, its own quick test.
prepare() { install ocl-icd-opencl-dev && python_packages pyvkfft pyopencl scipy psutil; }
check() { pyvkfft-test --backend pyopencl --nproc 1 --quick; }
