# StarPU's examples (Debian): those with OpenCL kernels, which check their own results, with no other device.
prepare() { install starpu-examples; }
check() {
    local example failed=()
    export STARPU_HOME=$HOME STARPU_NCPU=0 STARPU_OPENCL_ON_CPUS=1 STARPU_NCUDA=0 STARPU_SILENT=1
    # Not axpy, custom_mf_filter, dot_product and multiformat, whose kernels include headers that Debian leaves out, nor
    # complex, which has a part for the host alone.
    for example in binary block fblock incrementer incrementer_cpp matvecmult variable vector_scal; do
        echo "== $example"
        timeout 120 /usr/lib/x86_64-linux-gnu/starpu/examples/$example || failed+=("$example: $?")
    done
    echo "8 examples; failed: ${failed[*]:-none}"
    [ ${#failed[@]} = 0 ]
}
