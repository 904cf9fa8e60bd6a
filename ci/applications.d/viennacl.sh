# ViennaCL (Debian): its OpenCL back end against the host's loops: products, solvers, preconditioners, sparse matrices.
prepare() {
    install libviennacl-dev libboost-dev g++ ocl-icd-opencl-dev
    g++ -O1 -std=c++14 -w -DVIENNACL_WITH_OPENCL "$ROOT/ci/applications.d/viennacl.cpp" -o "$KEEP/test" -lOpenCL
}
check() { "$KEEP/test"; }
