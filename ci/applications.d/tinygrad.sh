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
    export DEV=CL PYTHONPATH=$PWD CC=clang-22
    for name in ops dtype dtype_alu uops nn transcendental linearizer setitem subbuffer custom_kernel jit; do
        tests+=("test/backend/test_$name.py")
    done
    # Debian's PyTorch 1.13 has not what most of these call, or says otherwise (cummax, cummin, linspace), and its NumPy 1.24
    # lacks `pow` and turns overflowing integers otherwise. linspace, bitcast and uint_overflow were seen to fail for tinygrad's own
    # CPU backend, too; the others say so in their messages.
    for name in all_axis all_zero_axis any_axis any_zero_axis cummax cummin gemm_fp16 linspace max_pool2d_padding_int \
        max_pool2d_return_indices 'scaled_dot_product_attention*' std std_keepdim std_mean var var_keepdim interpolate_bilinear \
        bitcast shape_change_bitcast uint_overflow pow_vectorized; do
        explained "*::test_$name"
    done
    explained '*::TestFp8sConversions::*'
    own_tests test/test_tiny.py test/device/test_ocl.py "${tests[@]}"
}
