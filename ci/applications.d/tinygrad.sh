# tinygrad, a checkout: its own tests of its OpenCL backend, against PyTorch (Debian's), NumPy and Python.
# by path: TINYGRAD
prepare() {
    install python3-venv python3-torch clang-22
    [ -x "$KEEP/venv/bin/python" ] || /usr/bin/python3 -m venv --system-site-packages "$KEEP/venv"
    python_packages pytest hypothesis 'z3-solver<4.15.4'
}
check() {
    local name tests=()
    cp -r "$TINYGRAD/tinygrad" "$TINYGRAD/test" .
    export DEV=CL CACHELEVEL=0 PYTHONPATH=$PWD CC=clang-22
    for name in ops dtype dtype_alu uops nn transcendental linearizer setitem symbolic_ops randomness subbuffer custom_kernel jit optim; do
        tests+=("test/backend/test_$name.py")
    done
    own_tests test/test_tiny.py test/device/test_ocl.py "${tests[@]}"
}
