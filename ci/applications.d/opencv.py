"""OpenCV's functions with kernels, called with a UMat (OpenCL) and with an array (host): the results must be near."""
import cv2
import numpy as np

cv2.ocl.setUseOpenCL(True)
assert cv2.ocl.haveOpenCL() and cv2.ocl.useOpenCL(), "OpenCV finds no OpenCL"
print("device:", cv2.ocl.Device_getDefault().name())

random = np.random.default_rng(3)
y, x = np.mgrid[0:240, 0:320]
smooth = (127 + 60 * np.sin(x / 17) + 60 * np.cos(y / 11)).astype(np.uint8)
GRAY = cv2.GaussianBlur(np.clip(smooth + random.integers(-20, 20, smooth.shape), 0, 255).astype(np.uint8), (3, 3), 0)
COLOR = np.dstack([GRAY, np.roll(GRAY, 7, 0), np.roll(GRAY, 13, 1)])
OTHER = np.roll(COLOR, 5, 1)
FLOAT = GRAY.astype(np.float32) / 255
MATRICES = [random.normal(size=(96, 96)).astype(np.float32) for _ in range(3)]
COMPLEX = random.normal(size=(128, 64, 2)).astype(np.float32)
TURN = cv2.getRotationMatrix2D((160, 120), 20, 0.9)
TILT = np.array([[1, 0.1, 5], [0.05, 1, -7], [1e-4, 2e-4, 1]])
KERNEL = np.ones((5, 5), np.uint8)
MAP_X, MAP_Y = (x + 5 * np.sin(y / 20)).astype(np.float32), (y + 5 * np.cos(x / 20)).astype(np.float32)
NARROW = 1e-4

# name: function of inputs, the inputs, the largest difference that is allowed.
# Eight-bit results may round otherwise: one step. Not Canny and Farneback's optical flow: their kernels decide otherwise than the
# host in one pixel and in 2,219 values, on PoCL as on Pumice.
CASES = {
    "add": (cv2.add, (COLOR, OTHER), 0),
    "subtract": (cv2.subtract, (COLOR, OTHER), 0),
    "absdiff": (cv2.absdiff, (COLOR, OTHER), 0),
    "multiply": (lambda a, b: cv2.multiply(a, b, scale=1 / 128), (COLOR, OTHER), 1),
    "divide": (lambda a, b: cv2.divide(a, b, scale=64), (COLOR, OTHER), 1),
    "addWeighted": (lambda a, b: cv2.addWeighted(a, 0.3, b, 0.6, 5), (COLOR, OTHER), 1),
    "bitwise_xor": (cv2.bitwise_xor, (COLOR, OTHER), 0),
    "bitwise_not": (cv2.bitwise_not, (COLOR,), 0),
    "min": (cv2.min, (COLOR, OTHER), 0),
    "compare": (lambda a, b: cv2.compare(a, b, cv2.CMP_GT), (GRAY, np.roll(GRAY, 3, 0)), 0),
    "inRange": (lambda a: cv2.inRange(a, (50, 60, 70), (180, 190, 200)), (COLOR,), 0),
    "exp": (cv2.exp, (FLOAT,), NARROW),
    "log": (lambda a: cv2.log(a), (FLOAT + 0.1,), NARROW),
    "pow": (lambda a: cv2.pow(a, 2.5), (FLOAT,), NARROW),
    "sqrt": (cv2.sqrt, (FLOAT,), NARROW),
    "magnitude": (cv2.magnitude, (FLOAT, 1 - FLOAT), NARROW),
    "phase": (cv2.phase, (FLOAT, 1 - FLOAT), 1e-3),
    "cartToPolar": (lambda a, b: cv2.cartToPolar(a, b)[0], (FLOAT, 1 - FLOAT), NARROW),
    "polarToCart": (lambda a, b: cv2.polarToCart(a, b)[1], (FLOAT, 1 - FLOAT), NARROW),
    "sum": (cv2.sumElems, (COLOR,), 0),
    "mean": (cv2.mean, (COLOR,), 1e-6),
    "meanStdDev": (lambda a: cv2.meanStdDev(a)[1], (COLOR,), 1e-3),
    "norm": (lambda a, b: cv2.norm(a, b, cv2.NORM_L2), (COLOR, OTHER), 0.1),
    "minMaxLoc": (lambda a: cv2.minMaxLoc(a)[:2], (GRAY,), 0),
    "countNonZero": (cv2.countNonZero, (GRAY // 100,), 0),
    "reduce": (lambda a: cv2.reduce(a, 0, cv2.REDUCE_SUM, dtype=cv2.CV_32S), (GRAY,), 0),
    "LUT": (cv2.LUT, (COLOR, np.arange(255, -1, -1, dtype=np.uint8)), 0),
    "normalize": (lambda a: cv2.normalize(a, None, 0, 1, cv2.NORM_MINMAX), (FLOAT,), NARROW),
    "transpose": (cv2.transpose, (COLOR,), 0),
    "flip": (lambda a: cv2.flip(a, -1), (COLOR,), 0),
    "copyMakeBorder": (lambda a: cv2.copyMakeBorder(a, 5, 6, 7, 8, cv2.BORDER_REFLECT), (COLOR,), 0),
    "extractChannel": (lambda a: cv2.extractChannel(a, 1), (COLOR,), 0),
    "gemm": (lambda a, b, c: cv2.gemm(a, b, 0.5, c, 2), tuple(MATRICES), 1e-3),
    "gemm, transposed": (lambda a, b, c: cv2.gemm(a, b, 0.5, c, 2, flags=cv2.GEMM_1_T), tuple(MATRICES), 1e-3),
    "dft": (lambda a: cv2.dft(a), (COMPLEX,), 5e-3),
    "idft": (lambda a: cv2.idft(a, flags=cv2.DFT_SCALE), (COMPLEX,), NARROW),
    "mulSpectrums": (lambda a, b: cv2.mulSpectrums(a, b, 0), (COMPLEX, COMPLEX + 1), 1e-3),
    "cvtColor to gray": (lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2GRAY), (COLOR,), 1),
    "cvtColor to YCrCb": (lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2YCrCb), (COLOR,), 1),
    "cvtColor to HSV": (lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2HSV), (COLOR,), 1),
    "cvtColor to Lab": (lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2Lab), (COLOR,), 1),
    "cvtColor to XYZ": (lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2XYZ), (COLOR,), 1),
    "resize, linear": (lambda a: cv2.resize(a, (500, 333)), (COLOR,), 1),
    "resize, area": (lambda a: cv2.resize(a, (160, 120), interpolation=cv2.INTER_AREA), (COLOR,), 1),
    "resize, nearest": (lambda a: cv2.resize(a, (500, 333), interpolation=cv2.INTER_NEAREST), (COLOR,), 0),
    "warpAffine": (lambda a: cv2.warpAffine(a, TURN, (320, 240)), (GRAY,), 4),
    "warpPerspective": (lambda a: cv2.warpPerspective(a, TILT, (320, 240)), (GRAY,), 4),
    "remap": (lambda a, b, c: cv2.remap(a, b, c, cv2.INTER_LINEAR), (GRAY, MAP_X, MAP_Y), 4),
    "blur": (lambda a: cv2.blur(a, (5, 5)), (COLOR,), 1),
    "GaussianBlur": (lambda a: cv2.GaussianBlur(a, (7, 7), 1.5), (COLOR,), 1),
    "medianBlur": (lambda a: cv2.medianBlur(a, 5), (COLOR,), 0),
    "bilateralFilter": (lambda a: cv2.bilateralFilter(a, 7, 40, 5), (GRAY,), 1),
    "filter2D": (lambda a: cv2.filter2D(a, cv2.CV_32F, np.arange(9, dtype=np.float32).reshape(3, 3)), (FLOAT,), 1e-3),
    "sepFilter2D": (lambda a: cv2.sepFilter2D(a, cv2.CV_32F, np.float32([1, 2, 1]), np.float32([1, 0, -1])), (FLOAT,), 1e-3),
    "Sobel": (lambda a: cv2.Sobel(a, cv2.CV_32F, 1, 0), (FLOAT,), NARROW),
    "Scharr": (lambda a: cv2.Scharr(a, cv2.CV_32F, 0, 1), (FLOAT,), NARROW),
    "Laplacian": (lambda a: cv2.Laplacian(a, cv2.CV_32F, ksize=3), (FLOAT,), 1e-3),
    "erode": (lambda a: cv2.erode(a, KERNEL), (COLOR,), 0),
    "dilate": (lambda a: cv2.dilate(a, KERNEL), (COLOR,), 0),
    "morphologyEx": (lambda a: cv2.morphologyEx(a, cv2.MORPH_GRADIENT, KERNEL), (GRAY,), 0),
    "pyrDown": (cv2.pyrDown, (COLOR,), 1),
    "pyrUp": (cv2.pyrUp, (COLOR,), 1),
    "threshold": (lambda a: cv2.threshold(a, 120, 255, cv2.THRESH_BINARY)[1], (GRAY,), 0),
    "integral": (cv2.integral, (GRAY,), 0),
    "calcHist": (lambda a: cv2.calcHist([a], [0], None, [256], [0, 256]), (GRAY,), 0),
    "equalizeHist": (cv2.equalizeHist, (GRAY,), 1),
    "CLAHE": (lambda a: cv2.createCLAHE(2.0, (8, 8)).apply(a), (GRAY,), 1),
    "accumulateWeighted": (lambda a, b: cv2.accumulateWeighted(a, b, 0.25), (FLOAT, FLOAT * 2), NARROW),
    "matchTemplate": (lambda a, b: cv2.matchTemplate(a, b, cv2.TM_CCOEFF_NORMED), (GRAY, GRAY[50:90, 60:110].copy()), 1e-3),
    "cornerHarris": (lambda a: cv2.cornerHarris(a, 3, 3, 0.04), (FLOAT,), NARROW),
    "cornerMinEigenVal": (lambda a: cv2.cornerMinEigenVal(a, 3), (FLOAT,), NARROW),
    "fastNlMeansDenoising": (lambda a: cv2.fastNlMeansDenoising(a, None, 10, 5, 11), (GRAY,), 2),
}


def values(result):
    if isinstance(result, cv2.UMat):
        result = result.get()
    return np.asarray(result, dtype=np.float64)


failed = 0
for name, (function, inputs, limit) in CASES.items():
    try:
        host = values(function(*(array.copy() for array in inputs)))
        device = values(function(*(cv2.UMat(array.copy()) if isinstance(array, np.ndarray) else array for array in inputs)))
        difference = np.abs(host.reshape(-1) - device.reshape(-1)).max()
    except (cv2.error, ValueError) as error:
        print(f"{name}: {error}")
        failed += 1
        continue
    if difference > limit or np.isnan(difference):
        print(f"{name}: differs by {difference}")
        failed += 1
print(f"{len(CASES)} functions, {failed} failed")
raise SystemExit(failed > 0)
