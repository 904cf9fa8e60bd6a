# SHOC, built in its folder: eight of its benchmarks that check their own results, and S3D, with the smallest size.
# by path: SHOC
prepare() { :; }
check() {
    local name failed=() passed=0
    # Scan and Sort need sub-groups of 32 that run in step.
    for name in level1/bfs/BFS level1/fft/FFT level1/md/MD level1/reduction/Reduction level1/spmv/Spmv \
        level1/stencil2d/Stencil2D level1/scan/Scan level1/sort/Sort level2/s3d/S3D; do
        (timeout 240 "$SHOC/src/opencl/$name" -s 1 -n 1 || echo "exit status $?, failed") >said 2>&1
        echo "$name: $(grep -ciE 'pass' said) $(grep -iE 'fail|[1-9][0-9]* validation errors' said | head -n 1)"
        if ! grep -qiE 'fail|[1-9][0-9]* validation errors' said; then
            passed=$((passed + 1))
        else
            failed+=("${name##*/}") && tail -n 3 said
        fi
    done
    echo "$passed programs; failed: ${failed[*]:-none}"
    [ ${#failed[@]} = 0 ]
}
