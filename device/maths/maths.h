// What the functions of single precision share. They are for devices with a fused multiply-add; each keeps the limit
// of error of OpenCL C section 7.4 that stands at the head of its file. Polynomials are minimax approximations
// (Sollya's fpminimax).

// A call needs a name to be found by, which static functions lose.
#define INLINED static inline __attribute__((always_inline))
#define MATHS __attribute__((overloadable))

// Whether GLSL.std.450 Exp2 is as precise as exp2 is to be: answered by the compiler for the device
// (src/compiler/passes/lower_builtins/target.rs).
bool pumice_exp2_is_precise(void);

// A number much smaller than this, added to it, is rounded to an integer, which stands in the last bits.
#define INTEGERS 0x1.8p23f
#define EXPONENT_BITS 23
#define EXPONENT_OF_ONE 0x3f800000
#define LEAST_NORMAL 0x00800000u
#define INFINITY_BITS 0x7f800000u

// Neither negative, zero, denormal, infinite nor NaN.
INLINED bool is_positive_normal(float x)
{
    return as_uint(x) - LEAST_NORMAL < INFINITY_BITS - LEAST_NORMAL;
}

float MATHS pumice_exp(float x);
float MATHS pumice_log1p(float x);
