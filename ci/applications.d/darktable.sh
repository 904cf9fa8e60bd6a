# darktable (Debian): builds all its kernels, and develops a made-up raw picture with OpenCL and without.
prepare() {
    install darktable imagemagick clinfo
    python_packages pidng numpy
}

# develop FILE OPENCL: the default modules of a raw picture.
develop() {
    darktable-cli raw.dng "$1" --icc-type SRGB --core --conf "opencl=$2" \
        --conf plugins/lighttable/export/force_lcms2=false -d opencl -d perf
}

check() {
    python - <<'PYTHON'
import numpy as np
from pidng.camdefs import BaseCameraModel
from pidng.core import RAW2DNG, DNGTags, Tag
from pidng.defs import CFAPattern, CalibrationIlluminant, DNGVersion, Orientation, PhotometricInterpretation, PreviewColorSpace

width, height = 800, 600
y, x = np.mgrid[0:height, 0:width]
scene = 600 + 500 * np.sin(x / 37.0) * np.cos(y / 23.0) + 900 * ((x // 50 + y // 50) % 2)
scene += np.random.default_rng(1).normal(0, 30, scene.shape)
scene[100:160, 300:380] = 4095
tags = DNGTags()
tags.set(Tag.ImageWidth, width)
tags.set(Tag.ImageLength, height)
tags.set(Tag.TileWidth, width)
tags.set(Tag.TileLength, height)
tags.set(Tag.Orientation, Orientation.Horizontal)
tags.set(Tag.PhotometricInterpretation, PhotometricInterpretation.Color_Filter_Array)
tags.set(Tag.SamplesPerPixel, 1)
tags.set(Tag.BitsPerSample, 16)
tags.set(Tag.CFARepeatPatternDim, [2, 2])
tags.set(Tag.CFAPattern, CFAPattern.RGGB)
tags.set(Tag.BlackLevel, 64)
tags.set(Tag.WhiteLevel, 4095)
tags.set(Tag.ColorMatrix1, [[6722, 10000], [-635, 10000], [-963, 10000], [-4287, 10000], [12460, 10000], [2028, 10000],
                            [-908, 10000], [2162, 10000], [5668, 10000]])
tags.set(Tag.CalibrationIlluminant1, CalibrationIlluminant.D65)
tags.set(Tag.AsShotNeutral, [[1, 1], [1, 1], [1, 1]])
tags.set(Tag.Make, "Made up")
tags.set(Tag.Model, "Camera")
tags.set(Tag.DNGVersion, DNGVersion.V1_4)
tags.set(Tag.DNGBackwardVersion, DNGVersion.V1_2)
convert = RAW2DNG()
convert.options(tags, path="", compress=False)
convert.convert(scene.clip(0, 4095).astype(np.uint16), filename="raw")
PYTHON
    darktable-cltest >cltest 2>&1
    if grep -q 'discarding new device' cltest; then
        # The eighth number of a device says that it is not used, which it is not where it is a CPU.
        sed -i -E 's/^(cldevice_v4_[a-z0-9]+=([^ ]+ ){7})1/\10/' "$XDG_CONFIG_HOME/darktable/darktablerc"
        darktable-cltest >cltest 2>&1
    fi
    grep 'FINALLY: opencl is AVAILABLE' cltest
    none 'failed|error' cltest
    develop cpu.png false >cpu.log 2>&1
    develop cl.png true >cl.log 2>&1
    grep -iE 'processed .* on GPU' cl.log | sed 's/.*processed/processed/'
    none '\[opencl.*(error|could not|failed)' cl.log
    # The border of a raw picture, four pixels wide, is interpolated otherwise by the kernels.
    mogrify -shave 5x5 cpu.png cl.png
    same_picture cpu.png cl.png 0.02
}
