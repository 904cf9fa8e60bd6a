# CLBlast (Debian): its own tests of every routine against the host's BLAS.
prepare() { install clblast-tests libblas3; }
check() {
    local test failed=() passed=0
    for test in /usr/bin/clblast_test_*; do
        timeout 100 "$test" -warm_up 0 >log 2>&1 || true
        passed=$((passed + $(sed -n 's/^ *\([0-9]*\) test(s) passed.*/\1/p' log | awk '{ n += $1 } END { print n + 0 }')))
        if ! grep -q 'Completed all test' log || grep -qE '[^0-9 ] *[1-9][0-9]* test\(s\) failed|^ *[1-9][0-9]* test\(s\) failed' log; then
            echo "failed: $test" && tail -n 25 log && failed+=("${test##*_}")
        fi
    done
    echo "$passed results right; routines with failures: ${failed[*]:-none}"
    [ ${#failed[@]} = 0 ]
}
