//! What stands for `fma` of doubles inside the built-in library, on a device that lacks a fused one.
//!
//! libclc multiplies and adds by `fma` throughout, mostly in polynomials, where it saves an instruction and one
//! rounding in many. Emulated ([`super::fused_multiply_add::emulated`]) each is some 150 instructions, and drivers that
//! inline all functions make a copy for each. So a function takes the cheapest substitute that keeps its error within
//! OpenCL C's limits (section 7.4), which `doubles_by_another_library` shows of every one of them. A function that is
//! not named here, one of a newer libclc for instance, gets what is right in every case.

use super::error_free::two_product;
use super::gamma::TGAMMA64;
use super::lower::Lower;
use crate::compiler::ir::{Binary, Value};

/// Functions of which a product that is rounded before the sum spoils nothing.
const SEPARATE: [&str; 34] = [
    "_Z10__clc_powndi",
    "_Z10__clc_powrdd",
    "_Z11__clc_exp10d",
    "_Z11__clc_hypotdd",
    "_Z11__clc_rootndi",
    "_Z11__clc_tanpid",
    "_Z3erfd",
    "_Z3expd",
    "_Z4acosd",
    "_Z4asind",
    "_Z4atand",
    "_Z4cbrtd",
    "_Z4coshd",
    "_Z4erfcd",
    "_Z4exp2d",
    "_Z4log2d",
    "_Z4sinhd",
    "_Z4tanhd",
    "_Z5acoshd",
    "_Z5asinhd",
    "_Z5atan2dd",
    "_Z5atanhd",
    "_Z5cospid",
    "_Z5expm1d",
    "_Z5log10d",
    "_Z5log1pd",
    "_Z5sinpid",
    "_Z6acospid",
    "_Z6asinpid",
    "_Z6atanpid",
    "_Z7atan2pidd",
    "_Z8lgamma_rdPi",
    "_Z9__clc_powdd",
    "_Z9__clc_tand",
];

/// Helpers of several functions, of which a product that is rounded before the sum spoils nothing.
const SEPARATE_HELPERS: [&str; 3] = ["__clc_ep_log", "__clc_exp_helper", "__clc_sincos_piby4"];

/// Functions that ask what a product lost when it was rounded: the trigonometric functions' reduction of their
/// argument, whose quotient cancels nearly all of it, and the recurrence of gamma.
const RESIDUAL: [&str; 3] = [
    "__clc_remainder_piby2_large",
    "__clc_remainder_piby2_medium",
    TGAMMA64,
];

impl Lower<'_, '_> {
    /// `x * y + z` of doubles in a function of the library; `None` where that must be rounded once.
    pub fn unfused(&mut self, x: Value, y: Value, z: Value) -> Option<Value> {
        let name = self.b.function.name.as_str();
        if RESIDUAL.contains(&name) {
            return Some(self.with_residual(x, y, z));
        }
        let separate = SEPARATE.contains(&name) || SEPARATE_HELPERS.contains(&name);
        separate.then(|| self.mad(x, y, z))
    }

    /// `x * y + z` with what the product lost added last. Rounded once where `z` cancels the product, as far as
    /// that neither overflows nor becomes denormal; nearly so elsewhere.
    fn with_residual(&mut self, x: Value, y: Value, z: Value) -> Value {
        let flags = self.b.flags;
        self.b.flags.no_contraction = true;
        let (product, lost) = two_product(self.b, x, y);
        let sum = self.binary(Binary::FAdd, product, z);
        let sum = self.binary(Binary::FAdd, sum, lost);
        self.b.flags = flags;
        sum
    }
}
