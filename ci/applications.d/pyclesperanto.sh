# pyclesperanto (PyPI): its own tests of some 200 image filters.
prepare() {
    python_packages pytest pyclesperanto scikit-image
    python_source pyclesperanto
}
check() {
    cp -r "$KEEP/source/tests" tests
    # One loads a picture from the network.
    own_tests tests --deselect \
        'tests/labeling/test_connected_components_labeling.py::test_connected_components_labeling_box_blobs[opencl]'
}
