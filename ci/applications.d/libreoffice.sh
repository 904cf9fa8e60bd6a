# LibreOffice Calc (Debian): some hundred formulas, each down 200 rows, as kernels and by the host.
prepare() { install libreoffice-calc python3-uno clinfo; }
check() {
    # It prefers the host unless a device is named by a part of its name.
    SC_OPENCL_DEVICE_OVERRIDE=$(clinfo --raw | sed -n 's/.* CL_DEVICE_NAME *//p' | head -n 1 | cut -c -8)
    export SC_OPENCL_DEVICE_OVERRIDE
    /usr/bin/python3 "$ROOT/ci/applications.d/libreoffice_formulas.py" host threads
    PUMICE_TRACE=$PWD/trace /usr/bin/python3 "$ROOT/ci/applications.d/libreoffice_formulas.py" kernels opencl
    echo "kernels launched: $(launches trace)"
    [ "$(launches trace)" != 0 ]
    python3 - <<'PYTHON'
import json

host, kernels = (json.load(open(name)) for name in ("host", "kernels"))
assert host.keys() == kernels.keys() and host
wrong = []
for formula, values in host.items():
    assert all(isinstance(value, float) for value in values), (formula, "the host finds no number")
    worst = max(
        abs(a - b) / max(abs(a), 1e-9) if isinstance(b, float) else float("inf") for a, b in zip(values, kernels[formula])
    )
    if worst > 1e-9:
        wrong.append(formula)
        print(f"{formula}: {worst:.2g}", *[pair for pair in zip(values, kernels[formula])][:3])
print(f"{len(host)} formulas, {len(wrong)} differ")
raise SystemExit(bool(wrong))
PYTHON
}
