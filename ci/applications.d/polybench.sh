# PolyBench for accelerators: each of its OpenCL programs, with small data, against its own loops on the host.
# by path: POLYBENCH
prepare() { install gcc libc6-dev ocl-icd-opencl-dev; }
# benchmark FOLDER: builds and runs the one there; it reads its kernels from where it runs.
benchmark() {
    (
        cd "$1"
        # For a processor, too, and with variables that its headers define in each file.
        gcc -O1 -w -fcommon -DSMALL_DATASET -DOPENCL_DEVICE_SELECTION=CL_DEVICE_TYPE_ALL -I"$2" ./*.c -o program -lOpenCL -lm
        timeout 120 ./program
    ) >"$1/said" 2>&1
}
check() {
    local folder name passed=0 failed=()
    cp -r "$POLYBENCH/OpenCL" suite
    while read -r folder; do
        name=${folder##*/}
        if benchmark "$folder" "$PWD/suite/utilities" &&
            grep -qE '(Non-Matching CPU-GPU Outputs.*|Number of misses): 0$' "$folder/said" && ! grep -q '^Error' "$folder/said"; then
            passed=$((passed + 1))
        else
            failed+=("$name") && echo "failed: $name" && tail -n 4 "$folder/said"
        fi
    done < <(find suite -name '*.cl' -printf '%h\n' | sort -u)
    echo "$passed programs; failed: ${failed[*]:-none}"
    [ ${#failed[@]} = 0 ]
}
