# ocl-core, opencl3 and cl3 (Cargo): their own tests; those of ocl do not compile.
CRATES='ocl-core opencl3 cl3'
prepare() {
    install ocl-icd-opencl-dev
    [ ! -e "$KEEP/programs" ] || return 0
    rm -rf "$KEEP/vendor" "$KEEP/fetch"
    mkdir -p "$KEEP/fetch/src" "$KEEP/fetch/.cargo"
    touch "$KEEP/fetch/src/lib.rs"
    cat >"$KEEP/fetch/Cargo.toml" <<'TOML'
[package]
name = "fetch"
version = "0.1.0"
edition = "2021"
[workspace]
[dependencies]
ocl = "0.19"
opencl3 = "0.12"
TOML
    (cd "$KEEP/fetch" && cargo vendor --quiet "$KEEP/vendor" >/dev/null)
    # They ask for a GPU, which a device that is a processor is not.
    sed -i 's/CL_DEVICE_TYPE_GPU)/0xFFFF_FFFF)/' "$KEEP"/vendor/{cl3,opencl3}/{src,tests}/*.rs
    # One of opencl3's names the crate where it is in the crate itself.
    sed -i 's/ opencl3::device::/ crate::device::/' "$KEEP/vendor/opencl3/src/device.rs"
    local crate
    for crate in $CRATES; do
        (
            cd "$KEEP/vendor/$crate"
            CARGO_TARGET_DIR=$KEEP/target cargo test --no-run --lib --tests --message-format=json |
                sed -n "s|.*\"executable\":\"\([^\"]*\)\".*|$crate \1|p"
        )
    done >"$KEEP/built"
    mv "$KEEP/built" "$KEEP/programs"
}
check() {
    local crate program failed=() passed=0
    while read -r crate program; do
        # The first wants a device that is a GPU, the second a clock frequency, of which Vulkan says nothing.
        timeout 120 "$program" --test-threads 1 --exact --skip device::tests::test_device_info \
            --skip device::tests::test_get_device_info >said 2>&1 || failed+=("$crate")
        cat said
        passed=$((passed + $(sed -n 's/^test result: .* \([0-9]*\) passed.*/\1/p' said | awk '{ n += $1 } END { print n + 0 }')))
    done <"$KEEP/programs"
    echo "$passed tests pass; with failures: ${failed[*]:-none}"
    [ ${#failed[@]} = 0 ] && [ $passed -gt 0 ]
}
