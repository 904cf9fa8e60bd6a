# Mandelbulber (Debian): a fractal of its examples by kernels and by the host.
prepare() { install mandelbulber2 imagemagick; }

# render FILE OPENCL: 1 is any kind of device.
render() {
    QT_QPA_PLATFORM=offscreen mandelbulber2 -C -n -f png -r 96x72 \
        -O "opencl_enabled=$2#opencl_device_type=1#opencl_mode=3" -o "$1" "/usr/share/mandelbulber2/examples/IFS_002.fract"
}

check() {
    render cpu.png 0 >cpu.log 2>&1
    render cl.png 1 >cl.log 2>&1 || cat cl.log
    convert cpu.png -blur 0x2 cpu-soft.png
    convert cl.png -blur 0x2 cl-soft.png
    same_picture cpu-soft.png cl-soft.png 0.1
}
