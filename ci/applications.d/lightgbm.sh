# LightGBM (PyPI): trees grown by its kernels of 16, 64 and 256 bins and by the host, of four kinds of models.
prepare() { python_packages lightgbm numpy scikit-learn; }
check() {
    PUMICE_TRACE=$PWD/trace python "$ROOT/ci/applications.d/lightgbm_models.py"
    echo "kernels launched: $(launches trace)"
    [ "$(launches trace)" != 0 ]
}
