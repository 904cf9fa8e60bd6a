# pyvkfft (PyPI): VkFFT's transforms of many sizes against NumPy's. (Its own tests take GPUs alone.)
prepare() { install ocl-icd-opencl-dev && python_packages pyvkfft pyopencl numpy psutil; }
check() {
    python - <<'PYTHON'
import numpy as np, pyopencl as cl, pyopencl.array as cla
from pyvkfft.opencl import VkFFTApp

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
random = np.random.default_rng(2)
tried = 0
for shape in [(1024,), (17,), (8, 4096), (60, 81), (16, 20, 24), (121,), (97, 3), (2**15,), (1009,)]:
    for kind, limit in ((np.complex64, 2e-5), (np.complex128, 1e-12)):
        host = (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(kind)
        application = VkFFTApp(shape, kind, queue, ndim=len(shape), inplace=False)
        for transform, right in ((application.fft, np.fft.fftn(host)), (application.ifft, np.fft.ifftn(host))):
            device, out = cla.to_device(queue, host), cla.zeros(queue, shape, kind)
            transform(device, out)
            error = abs(out.get() - right).max() / abs(right).max()
            assert error < limit, (shape, kind, error)
            tried += 1
print(tried, "transforms")
PYTHON
}
