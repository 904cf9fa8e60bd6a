# FFmpeg (Debian): its OpenCL filters against those of the same name for the host, on made-up pictures.
prepare() { install ffmpeg imagemagick; }

# filtered NAME INPUTS FILTER: the first picture that it makes of them.
filtered() {
    # shellcheck disable=SC2086
    ffmpeg -hide_banner -loglevel error -y -init_hw_device opencl=device:0.0 -filter_hw_device device $2 \
        -filter_complex "$3" -frames:v 1 "$1.png"
}

# pair NAME LIMIT FILTER OTHER: 0.004 is one step of eight bits. OTHER is one for the host, in RGB or YUV as it needs.
pair() {
    local up=hwupload down='hwdownload'
    total=$((total + 1))
    if filtered "$1-cl" "-i one.png" "format=$5,$up,$3,$down,format=$5" && filtered "$1-cpu" "-i one.png" "format=$5,$4"; then
        same_picture "$1-cl.png" "$1-cpu.png" "$2" || failed="$failed $1"
    else
        failed="$failed $1"
    fi
}

check() {
    local total=0 failed='' kernel='1 2 1 2 4 2 1 2 1'
    convert -size 320x240 -seed 5 plasma:fractal -depth 8 one.png
    pair transpose 0 transpose_opencl=dir=clock transpose=dir=clock yuv420p
    pair avgblur 0.012 avgblur_opencl=sizeX=3 avgblur=sizeX=3 yuv420p
    pair boxblur 0.012 boxblur_opencl=luma_radius=2:luma_power=1 boxblur=luma_radius=2:luma_power=1 yuv420p
    pair dilation 0 dilation_opencl dilation gray
    pair erosion 0 erosion_opencl erosion gray
    pair sobel 0.012 sobel_opencl sobel gray
    pair prewitt 0.012 prewitt_opencl prewitt gray
    pair roberts 0.012 roberts_opencl roberts gray
    pair unsharp 0.02 unsharp_opencl=lx=5:ly=5:la=1 unsharp=lx=5:ly=5:la=1 gray
    pair convolution 0.012 "convolution_opencl=0m='$kernel':0rdiv=0.0625" "convolution=0m='$kernel':0rdiv=0.0625" gray
    pair pad 0 pad_opencl=400:300:20:30 pad=400:300:20:30 yuv420p
    pair nlmeans 0.012 nlmeans_opencl=s=3:p=7:r=9 nlmeans=s=3:p=7:r=9 gray
    pair colorkey 0.012 colorkey_opencl=green:0.3:0.1 colorkey=green:0.3:0.1 rgba
    echo "$total filters; differ:${failed:- none}"
    [ -z "$failed" ]
}
