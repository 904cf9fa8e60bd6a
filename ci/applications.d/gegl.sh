# GEGL (Debian): operations that have kernels, with OpenCL and without, on a made-up picture.
prepare() { install gegl imagemagick clinfo; }

# operation NAME [PROPERTY=VALUE…]: equal but for rounding, and run by kernels. 0.004 is one step of eight bits.
operation() {
    local name=$1 launched
    shift
    total=$((total + 1))
    rm -f trace
    GEGL_USE_OPENCL=no gegl in.png -o "$name-cpu.png" -- "gegl:$name" "$@" >log 2>&1 || cat log
    GEGL_USE_OPENCL=$(device_type) PUMICE_TRACE=trace gegl in.png -o "$name-cl.png" -- "gegl:$name" "$@" >log 2>&1 || cat log
    launched=$(launches trace)
    [ "$launched" != 0 ] || { echo "$name: no kernel ran" && failed="$failed $name"; }
    same_picture "$name-cpu.png" "$name-cl.png" 0.004 || failed="$failed $name"
}

check() {
    local total=0 failed='' name
    # Not c2g, which chooses points at random, nor those whose kernels compute something else than their functions for
    # the host do, as much on PoCL and Rusticl: edge-laplace, hue-chroma, noise-reduction, oilify and snn-mean.
    convert -size 500x333 -seed 7 plasma:fractal -depth 8 in.png
    operation box-blur radius=5
    operation brightness-contrast contrast=1.3 brightness=0.1
    operation exposure exposure=0.5
    operation levels in-low=0.1 in-high=0.9
    operation noise-hsv seed=3
    operation shadows-highlights shadows=40 highlights=-30
    operation color-temperature intended-temperature=4000
    for name in alien-map bilateral-filter color-exchange invert-linear mono-mixer motion-blur-linear pixelize posterize \
        red-eye-removal stretch-contrast texturize-canvas threshold value-invert video-degradation vignette; do
        operation $name
    done
    echo "$total operations; differ:${failed:- none}"
    [ -z "$failed" ]
}
