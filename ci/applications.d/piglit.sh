# piglit (Debian): its 661 OpenCL program tests, some 4,200 results; PIGLIT_FILES=PATTERN takes those whose path contains it.
prepare() { install piglit python3; }

# one FILE: a process of its own, whose output gets a file of its own.
one() {
    local output
    output=$RESULTS/$(tr / % <<<"${1#"$PIGLIT"/}")
    # Some name files to include from piglit's own folder.
    (cd "$PIGLIT" && timeout 300 bin/cl-program-tester "$1") >"$output" 2>&1 || echo "exit status $?" >>"$output"
}

check() {
    export PIGLIT=/usr/lib/x86_64-linux-gnu/piglit RESULTS=$PWD/results
    export -f one
    mkdir results
    find "$PIGLIT/tests/cl/program" "$PIGLIT/generated_tests/cl" \( -name '*.cl' -o -name '*.program_test' \) |
        { grep -F -- "${PIGLIT_FILES:-}" || true; } | sort | xargs -P "$(nproc)" -I{} bash -c 'one "$1"' one {}
    python3 "$ROOT/ci/applications.d/piglit_results.py" results
}
