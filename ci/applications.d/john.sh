# John the Ripper, built with OpenCL (its folder `run`): its own test of each of its OpenCL formats.
# by path: JOHN
prepare() { :; }

# Not judged. argon2 hands values over in local memory without a barrier between reading and the next writing, and pgpdisk is
# wrong with PoCL, too. descrypt has no end in 60 s of CPU on SwiftShader nor in 277 s with PoCL. sha256crypt and sha512crypt
# read and write 64-bit words at any address where the device is a CPU, which OpenCL C does not allow.
NOT_JUDGED='argon2|pgpdisk|descrypt|sha256crypt|sha512crypt'

check() {
    local format passed=0 short=() failed=()
    cp -r "$JOHN" run
    rm -f run/opencl/*.bin
    while read -r format; do
        # Some build for minutes, with any OpenCL.
        if (ulimit -t "${FORMAT_SECONDS:-60}" && exec ./run/john --test=0 --format="$format") >said 2>&1 &&
            grep -q 'PASS' said && ! grep -qE 'FAILED|Error' said; then
            passed=$((passed + 1))
        elif grep -q 'the device makes .* iterations' said; then
            short+=("${format%-opencl}")
        else
            failed+=("${format%-opencl}") && echo "$format: $(grep -v '^ *$' said | tail -n 1)"
        fi
    done < <(./run/john --list=formats --format=opencl 2>/dev/null | tr -d '\n' | tr ',' '\n' | grep -o '[^ ]*-opencl' |
        grep -vxE "($NOT_JUDGED)-opencl")
    echo "$passed formats pass; need more iterations: ${short[*]:-none}; fail: ${failed[*]:-none}"
    [ ${#failed[@]} = 0 ] && [ $passed -gt 0 ]
}
