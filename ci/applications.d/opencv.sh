# OpenCV (PyPI): some 60 functions by its kernels (UMat) and on the host (Mat).
prepare() { install libgl1 && python_packages opencv-python-headless numpy; }
check() { OPENCV_OPENCL_DEVICE=:CPU: python "$ROOT/ci/applications.d/opencv.py"; }
