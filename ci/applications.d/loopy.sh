# loopy (PyPI): its own tests of generated kernels, but for those of C, CUDA and Fortran targets.
prepare() {
    # The islpy of 2026 lacks what this release of loopy calls.
    python_packages pytest loopy 'islpy<2026' pyopencl mako numpy
    python_source loopy
}
check() {
    cp -r "$KEEP/source/test" tests
    # A sequential kernel of one work-item makes the reference: lavapipe before 25.0 has a limit of 65,533 iterations.
    explained '*::test_convolution*' '*::test_diff*' '*::test_dg_volume*' '*::test_*_matrix_mul*' '*::test_small_batched_matvec*' \
        '*::test_rank_one*' '*::test_axpy*' '*::test_ilp_loop_bound*' '*::test_nbody*' '*::test_tim2d*' \
        '*::test_map_domain_transform_map_validity*' '*::test_add_inames_for_unused_hw_axes*'
    own_tests --ignore tests/test_fortran.py --ignore tests/test_c_execution.py -k 'not ExecutableCTarget' tests
}
