# CLBlast (Debian): its own tests of every routine against the host's BLAS, in single precision and more.
prepare() { install clblast-tests libopenblas0-pthread || install clblast-tests libblas3; }
check() {
    local test failed=0 passed=0
    for test in /usr/bin/clblast_test_*; do
        timeout 120 "$test" -platform 0 -device 0 -warm_up 0 >log 2>&1 || true
        passed=$((passed + $(sed -n 's/.*: \([0-9]*\) test(s) passed.*/\1/p; s/^ *\([0-9]*\) test(s) passed.*/\1/p' log | paste -sd+ | bc)))
        if ! grep -q 'Completed all test' log || grep -qE '[1-9][0-9]* test\(s\) failed' log; then
            echo "failed: $test" && tail -n 40 log && failed=$((failed + 1))
        fi
    done
    echo "$passed passed, $failed routines failed"
    [ $failed = 0 ]
}
