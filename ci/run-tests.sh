# Sourced by ci/test and ci/test-newer.

# run_tests NAME MANIFEST [ARGUMENT…]: all tests, or those that the arguments of `cargo test` choose, on one
# driver or several (separated by colons), with the validation layer, which must say nothing.
run_tests() {
    local name=$1 manifest=$2 log
    shift 2
    log=$(mktemp)
    say "Tests on $name"
    PUMICE_TEST_NEEDS_DEVICE=1 VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation on_driver "$manifest" \
        cargo test --locked "$@" 2>&1 | tee "$log"
    if grep -qE 'VUID-|Validation (Error|Warning)' "$log"; then
        echo "The Vulkan validation layer is not silent on $name." >&2
        return 1
    fi
    rm "$log"
}
