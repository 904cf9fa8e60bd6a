# clFFT (Debian), by PyPI's gpyfft: transforms of many sizes against NumPy's.
prepare() {
    install libclfft-dev python3-gpyfft python3-pyopencl python3-numpy
}
check() {
    /usr/bin/python3 - <<'PYTHON'
import gpyfft, numpy as np, pyopencl as cl, pyopencl.array as cla

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
random = np.random.default_rng(2)
tried = 0
for shape, axes in [((1024,), (0,)), ((8, 4096), (1,)), ((60, 81), (0, 1)), ((128, 96), (0, 1)), ((49, 35), (1,)), ((16, 20, 24), (0, 1, 2)),
                    ((121,), (0,)), ((169, 4), (0,)), ((2**15,), (0,)), ((3 * 5 * 7 * 11 * 13,), (0,))]:
    for kind, limit in ((np.complex64, 2e-5), (np.complex128, 1e-12)):
        host = (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(kind)
        for forward in (True, False):
            device = cla.to_device(queue, host)
            out = cla.empty_like(device)
            for event in gpyfft.FFT(context, queue, device, out_array=out, axes=axes).enqueue(forward=forward):
                event.wait()
            right = (np.fft.fftn if forward else np.fft.ifftn)(host, axes=axes)
            error = abs(out.get() - right).max() / abs(right).max()
            assert error < limit, (shape, kind, forward, error)
            tried += 1
print(tried, "transforms")
PYTHON
}
