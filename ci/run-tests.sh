# Sourced by ci/test and ci/test-newer.

# What clang made of a source for one driver is there for the next; nothing of an earlier run is.
if [ -z "${PUMICE_TEST_CACHE_DIR:-}" ]; then
    PUMICE_TEST_CACHE_DIR=$(mktemp -d)
    export PUMICE_TEST_CACHE_DIR
    trap 'rm -rf "$PUMICE_TEST_CACHE_DIR"' EXIT
fi

# What newer validation layers say of SwiftShader, which takes memory of the host for buffers and does not report it.
UNREPORTED=VUID-VkBufferCreateInfo-pNext-00920,VUID-VkImportMemoryWin32HandleInfoKHR-handleType-00658
# The second's number since the specification knows tensors.
UNREPORTED+=,VUID-VkImportMemoryWin32HandleInfoKHR-handleType-09861

# make_emulated_layer FOLDER: builds the layer that shows devices of tests/devices, and leaves its manifest there.
make_emulated_layer() {
    cargo build --locked --example emulated_device
    cat >"$1/emulated.json" <<END
{ "file_format_version": "1.2.0", "layer": { "name": "VK_LAYER_PUMICE_emulated", "type": "GLOBAL",
  "library_path": "$ROOT/target/debug/examples/libemulated_device.so", "api_version": "1.3.0",
  "implementation_version": "1", "description": "Shows a device as another one" } }
END
}

# run_tests NAME MANIFEST [ARGUMENT…]: all tests, or those that the arguments of `cargo test` choose, on one
# driver or several (separated by colons), with the validation layer, which must say nothing, and layers that $LAYERS_BELOW
# names behind it. Says how many were skipped.
run_tests() {
    local name=$1 manifest=$2 log unreported=
    shift 2
    log=$(mktemp)
    [[ $manifest == *swiftshader* ]] && unreported=$UNREPORTED
    say "Tests on $name"
    PUMICE_TEST_NEEDS_DEVICE=1 PUMICE_TEST_COMPILER=$ROOT/target/release/pumice \
        VK_LAYER_MESSAGE_ID_FILTER=$unreported VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation${LAYERS_BELOW:+:$LAYERS_BELOW} \
        on_driver "$manifest" cargo test --locked "$@" 2>&1 | tee "$log"
    if grep -qE 'VUID-|Validation (Error|Warning)' "$log"; then
        echo "The Vulkan validation layer is not silent on $name." >&2
        return 1
    fi
    # What the last program printed of itself may stand before it.
    echo "skipped, besides what programs count themselves: $(grep -c 'skipped: ' "$log" || true)"
    rm "$log"
}

# device_tests: the arguments of `cargo test` that choose all programs of tests/ but those that run nothing on a device.
device_tests() {
    local path name
    for path in tests/*.rs tests/*/main.rs; do
        name=${path#tests/}
        name=${name%.rs}
        name=${name%/main}
        case $name in
            architecture | benchmarked_code | code_growth | compiler_memory | documents | mutations | null_hardware | without_hardware) ;;
            *) echo --test "$name" ;;
        esac
    done
}

# random_kernels NAME MANIFEST SEED COUNT [OPTION…]: so many kernels of consecutive seeds, half of them in each of two
# processes, on the library of ci/demo, which takes a fraction of the time of the one that tests are built with.
random_kernels() {
    local name=$1 manifest=$2 seed=$3 half=$(($4 / 2)) program running=() one
    shift 4
    say "$((half * 2)) random kernels on $name $*"
    program=$(cargo test --locked --no-run --test random_kernels 2>&1 | sed -n 's/.*Executable .*(\(.*\))$/\1/p')
    for one in 0 1; do
        on_driver "$manifest" "$program" --library target/release/libpumice.so --seed $((seed + one * half)) \
            --count "$half" --reduce-seconds 60 "$@" &
        running+=($!)
    done
    for one in "${running[@]}"; do wait "$one"; done
}
