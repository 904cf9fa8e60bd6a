# FFmpeg (Debian): its OpenCL filters against those of the same name for the host, on made-up pictures.
prepare() { install ffmpeg imagemagick; }

# filtered NAME INPUTS FILTER: the first picture that it makes of them.
filtered() {
    # shellcheck disable=SC2086
    ffmpeg -hide_banner -loglevel error -y -init_hw_device opencl=device:0.0 -filter_hw_device device $2 \
        -filter_complex "$3" -frames:v 1 "$1.png"
}

# pair NAME LIMIT FORMAT OPENCL HOST: two filters make the same, but for the border. 0.004 is one step of eight bits.
pair() {
    total=$((total + 1))
    if filtered "$1-cl" "-i one.png" "format=$3,hwupload,$4,hwdownload,format=$3" &&
        filtered "$1-cpu" "-i one.png" "format=$3,$5"; then
        mogrify -shave 8x8 "$1-cl.png" "$1-cpu.png"
        same_picture "$1-cl.png" "$1-cpu.png" "$2" || failed="$failed $1"
    else
        failed="$failed $1"
    fi
}

check() {
    local total=0 failed='' kernel='1 2 1 2 4 2 1 2 1'
    convert -size 320x240 -seed 5 plasma:fractal -depth 8 one.png
    pair transpose 0 yuv420p transpose_opencl=dir=clock transpose=dir=clock
    pair avgblur 0.02 yuv420p avgblur_opencl=sizeX=3 avgblur=sizeX=3
    pair boxblur 0.012 yuv420p boxblur_opencl=luma_radius=2:luma_power=1 boxblur=luma_radius=2:luma_power=1
    pair dilation 0 gray dilation_opencl dilation
    pair erosion 0 gray erosion_opencl erosion
    pair sobel 0.012 gray sobel_opencl sobel
    pair prewitt 0.012 gray prewitt_opencl prewitt
    pair roberts 0.012 gray roberts_opencl roberts
    pair unsharp 0.02 gray unsharp_opencl=lx=5:ly=5:la=1 unsharp=lx=5:ly=5:la=1
    pair convolution 0.02 gray "convolution_opencl=0m='$kernel':0rdiv=0.0625" "convolution=0m='$kernel':0rdiv=0.0625"
    pair pad 0 yuv420p pad_opencl=400:300:20:30 pad=400:300:20:30
    pair nlmeans 0.03 yuv420p nlmeans_opencl=s=3:p=7:r=9 nlmeans=s=3:p=7:r=9
    echo "$total filters; differ:${failed:- none}"
    [ -z "$failed" ]
}
