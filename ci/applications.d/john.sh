# John the Ripper, built with OpenCL (its folder `run`): its own test of each of its OpenCL formats.
# by path: JOHN
prepare() { :; }
check() {
    local format passed=0 failed=()
    cp -r "$JOHN" run
    while read -r format; do
        # Some build for minutes, with any OpenCL.
        if (ulimit -t "${FORMAT_SECONDS:-60}" && exec ./run/john --test=0 --format="$format") >said 2>&1 &&
            grep -q 'PASS' said && ! grep -qE 'FAILED|Error' said; then
            passed=$((passed + 1))
        else
            failed+=("$format") && echo "$format: $(grep -v '^ *$' said | tail -n 1)"
        fi
    done < <(./run/john --list=formats --format=opencl 2>/dev/null | tr -d '\n' | tr ',' '\n' | grep -o '[^ ]*-opencl')
    echo "$passed formats pass; not: ${failed[*]:-none}"
    [ ${#failed[@]} = 0 ]
}
