"""Models grown by LightGBM's OpenCL kernels against the same grown by the host, which must say the same of every row."""

import lightgbm
import numpy
from sklearn.datasets import make_classification, make_regression

ROWS, TREES = 4000, 5


def data(objective):
    """The features, some of them empty or with few values, and what is to be learned."""
    if objective == "regression":
        features, wanted = make_regression(ROWS, 20, noise=0.1, random_state=3)
    else:
        features, wanted = make_classification(
            ROWS, 20, n_informative=8, n_classes=3 if objective == "multiclass" else 2, random_state=5
        )
    features[:, 3] = numpy.round(features[:, 3])
    features[::7, 5] = numpy.nan
    features[numpy.arange(ROWS) % 20 != 0, 6] = 0
    return features, wanted


def grown(device, features, wanted, weights, settings):
    settings = {"device_type": device, "verbose": -1, "deterministic": True, "num_threads": 1, **settings}
    rows = lightgbm.Dataset(features, wanted, weight=weights, params=settings)
    return lightgbm.train(settings, rows, TREES)


def compare(objective, bins, **more):
    features, wanted = data(objective)
    weights = numpy.random.default_rng(7).uniform(0.5, 2, ROWS)
    settings = {"objective": objective, "max_bin": bins, "gpu_use_dp": True, **more}
    if objective == "multiclass":
        settings["num_class"] = 3
    by_host, by_kernels = (grown(device, features, wanted, weights, settings).predict(features) for device in ("cpu", "gpu"))
    scale = numpy.abs(by_host).max()
    difference = numpy.abs(by_host - by_kernels).max() / scale
    print(f"{objective}, {bins} bins {more or ''}: {difference:.2g}", flush=True)
    assert numpy.ptp(by_host) > 0.05 * scale, "the host has learned nothing"
    return difference


# Sums of doubles in another order: the same splits, unless two are as good to the last bits.
exact = [
    compare(objective, bins, **more)
    for bins in (15, 63, 255)
    for objective, more in (
        ("regression", {}),
        ("binary", {}),
        ("multiclass", {}),
        ("binary", {"bagging_fraction": 0.6, "bagging_freq": 1}),
    )
]
assert max(exact) < 1e-6, exact
# Sums of floats choose other splits here and there; most rows end where they do on the host.
single = compare("regression", 63, gpu_use_dp=False)
assert single < 0.2, single
print(f"{len(exact) + 1} models, largest difference {max(exact):.2g}, with floats {single:.2g}")
