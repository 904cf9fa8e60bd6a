# Rodinia, built in its folders: 12 of its OpenCL programs; what they read back is compared with what they do on PoCL.
# by path: RODINIA
prepare() {
    install gcc libc6-dev ocl-icd-opencl-dev pocl-opencl-icd
    python_packages numpy
    gcc -O1 -shared -fPIC -o "$KEEP/read_back.so" "$ROOT/ci/applications.d/read_back.c" -ldl
    rm -rf "$KEEP/inputs" "$KEEP/pocl"
    mkdir -p "$KEEP/inputs" "$KEEP/pocl"
    inputs "$KEEP/inputs"
    mkdir -p "$KEEP/vendors"
    cp /etc/OpenCL/vendors/pocl.icd "$KEEP/vendors"
    OCL_ICD_VENDORS=$KEEP/vendors jobs_into "$KEEP/pocl"
}
# inputs FOLDER: as those that Rodinia offers for download, and small.
inputs() {
    python3 - "$1" <<'PYTHON'
import os, random, sys

random.seed(1)
os.chdir(sys.argv[1])


def lines(name, values):
    with open(name, "w") as file:
        file.writelines(f"{value}\n" for value in values)


lines("temp", (random.uniform(320, 340) for _ in range(64 * 64 * 8)))
lines("power", (random.uniform(0, 0.01) for _ in range(64 * 64 * 8)))
edges = [[random.randrange(4096) for _ in range(random.randint(1, 6))] for _ in range(4096)]
begins = [sum(map(len, edges[:i])) for i in range(4096)]
graph = [4096, *(f"{begin} {len(one)}" for begin, one in zip(begins, edges)), "", 0, "", sum(map(len, edges))]
lines("graph", graph + [f"{to} {random.randint(1, 9)}" for one in edges for to in one])
PYTHON
}
# job NAME FOLDER COMMAND…: what it reads back goes to the folder $into, its words beside that.
job() {
    local name=$1
    rm -f "$into/$name"
    (cd "$RODINIA/opencl/$2" && READ_BACK=$into/$name LD_PRELOAD=$KEEP/read_back.so timeout 120 "${@:3}") \
        >"$into/$name.said" 2>&1 || echo "exit status $?" >>"$into/$name.said"
}
# jobs_into FOLDER: every program, but for those that want more data (srad, cfd, dwt2d, heartwall, leukocyte, myocyte, nn) or
# read back what is not the same in two runs (b+tree memory that nobody has written, streamcluster pointers), and for kmeans,
# which crashes where it reads its options.
jobs_into() {
    local into=$1 given=$KEEP/inputs
    job backprop backprop ./backprop.out -n 4096
    job bfs bfs ./bfs.out "$given/graph" -p 0 -d 0
    job gaussian gaussian ./gaussian.out -s 64 -p 0 -d 0
    job hotspot hotspot ./hotspot.out 64 2 20 "$given/temp" "$given/power" "$KEEP/output" -p 0 -d 0
    job hotspot3D hotspot3D ./hotspot3D.out -n 64 -l 8 -i 20 -f "$given/power" "$given/temp" "$KEEP/output"
    job lavaMD lavaMD ./lavaMD.out -boxes1d 3 -p 0 -d 0
    job lud lud ./lud.out -s 128 -v
    job nw nw ./nw.out 256 10 ./nw.cl -p 0 -d 0
    job particlefilter-double particlefilter ./OCL_particlefilter_double.out -x 64 -y 64 -z 5 -np 128
    job particlefilter-single particlefilter ./OCL_particlefilter_single.out -x 64 -y 64 -z 5 -np 128
    job pathfinder pathfinder ./pathfinder.out -c 5000 -r 50 -h 10
    job hybridsort hybridsort ./hybridsort.out r -p 0 -d 0
}
check() {
    local reference name which failed=() passed=0
    mkdir into
    jobs_into "$PWD/into"
    for reference in "$KEEP"/pocl/*.said; do
        name=$(basename "$reference" .said)
        touch "into/$name"
        # What is in a bucket is in any order until it is sorted; pathfinder's other buffer is of what it has not written.
        case $name in
            hybridsort) which=last ;;
            pathfinder) which=first ;;
            *) which= ;;
        esac
        echo "$name: $(tail -n 1 "into/$name.said")"
        if python "$ROOT/ci/applications.d/read_back.py" "into/$name" "${reference%.said}" 1e-3 $which; then
            passed=$((passed + 1))
        else
            failed+=("$name")
        fi
    done
    echo "$passed programs; failed: ${failed[*]:-none}"
    [ ${#failed[@]} = 0 ]
}
