# pyclesperanto (PyPI): its own tests of some 200 image filters.
prepare() {
    python_packages pytest pyclesperanto scikit-image
    python_source pyclesperanto
}
check() {
    cp -r "$KEEP/source/tests" tests
    # Three load a picture from the network.
    explained '*::test_connected_components_labeling_box_blobs*' '*::test_exclude_labels_on_edges_blobs*'
    # One blurs 4 million values 23 times beside a thread that spins.
    TEST_SECONDS=400 own_tests tests
}
