# pyclesperanto (PyPI): its own tests of some 200 image filters.
prepare() {
    python_packages pytest pyclesperanto scikit-image
    python_source pyclesperanto
}
check() {
    cp -r "$KEEP/source/tests" tests
    # Three load a picture from the network.
    explained '*::test_connected_components_labeling_box_blobs*' '*::test_exclude_labels_on_edges_blobs*'
    own_tests tests
}
