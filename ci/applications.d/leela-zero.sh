# Leela Zero (Debian): what a small made-up network says of a position of Go, by kernels and by the host.
prepare() { install leela-zero python3 clinfo; }

# of_device NAME: a property of the only device, as clinfo prints it.
of_device() { clinfo --raw | sed -n "s/.* CL_DEVICE_$1 *//p" | head -n 1; }

# tuned: a choice of the parameters of its matrix product, as its tuner would leave one. The tuner itself tries 290 kernels.
tuned() {
    local folder=$HOME/.local/share/leela-zero
    mkdir -p "$folder"
    echo '1;XgemmBatched;32;25;32;36;-DKWG=16 -DKWI=2 -DMDIMA=8 -DMDIMC=8 -DMWG=16 -DNDIMB=8 -DNDIMC=8 -DNWG=16' \
        "-DSA=1 -DSB=1 -DSTRM=0 -DSTRN=0 -DTCE=0 -DVWM=2 -DVWN=2;OpenCL: $(of_device VENDOR) $(of_device NAME) @" \
        "$(of_device MAX_CLOCK_FREQUENCY)MHz" >"$folder/leelaz_opencl_tuning"
}

# says OPTION…: the network's judgement of each point, in thousandths, and of the game.
says() {
    printf '%s\n' 'boardsize 19' 'play b q16' 'play w d4' 'play b d16' 'heatmap 0' 'heatmap 3' quit |
        /usr/games/leelaz --gtp --noponder -w network -t 1 "$@" 2>&1
}

check() {
    python3 - <<'PYTHON'
import random

random.seed(4)
filters, blocks = 32, 4
convolution = lambda ins, outs: [[random.gauss(0, (2 / (9 * ins)) ** 0.5) for _ in range(9 * ins * outs)]]
normal = lambda outs: [[random.gauss(0, 0.05) for _ in range(outs)], [random.gauss(0, 0.1) for _ in range(outs)],
                       [random.uniform(0.6, 1.4) for _ in range(outs)]]
dense = lambda ins, outs: [[random.gauss(0, ins**-0.5) for _ in range(ins * outs)], [random.gauss(0, 0.1) for _ in range(outs)]]
lines = convolution(18, filters) + normal(filters)
for _ in range(2 * blocks):
    lines += convolution(filters, filters) + normal(filters)
lines += [[random.gauss(0, filters**-0.5) for _ in range(2 * filters)]] + normal(2) + dense(2 * 361, 362)
lines += [[random.gauss(0, filters**-0.5) for _ in range(filters)]] + normal(1) + dense(361, 256) + dense(256, 1)
with open("network", "w") as network:
    print(1, file=network)
    for line in lines:
        print(*(f"{value:.6g}" for value in line), file=network)
PYTHON
    says --cpu-only >cpu
    tuned
    says --gpu 0 --precision single >cl
    grep "Loaded existing SGEMM tuning" cl
    python3 - <<'PYTHON'
import re

def judgement(file):
    text = open(file).read()
    return [[int(n) for n in re.findall(r"\d+", line)] for line in text.splitlines() if re.match(r"^\s*(\d+\s+){18}\d+\s*$", line)], [
        float(rate) for rate in re.findall(r"winrate: ([\d.]+)", text)]

(cpu, cpu_rates), (cl, cl_rates) = judgement("cpu"), judgement("cl")
assert len(cpu) == len(cl) == 38 and len(cpu_rates) == len(cl_rates) == 2, (len(cpu), len(cl), cpu_rates, cl_rates)
differences = [abs(a - b) for one, other in zip(cpu, cl) for a, b in zip(one, other)]
assert max(differences) <= 1 and max(map(abs, (a - b for a, b in zip(cpu_rates, cl_rates)))) < 0.001, (max(differences), cpu_rates, cl_rates)
print("two judgements of 361 points, win rates", *cl_rates)
PYTHON
}
