//! OpenCL C for `__builtin_add_overflow` and its brothers, put before every source that uses them.
//!
//! clang makes of them operations that its SPIR-V back end either breaks down on (signed sums and differences, integers
//! of 33 or 65 bits for operands of different types), or gets wrong: it takes a signed product for too large where its
//! upper half is not zero. So they are computed as what they are, of as many bits as the exact result has, and compared
//! with what became of it.

const WIDE: &str = "\
#ifndef __cplusplus\n\
typedef struct { ulong low; long high; } __pumice_wide;\n\
#define __PUMICE_WIDE inline __attribute__((internal_linkage, always_inline)) __pumice_wide\n\
__PUMICE_WIDE __pumice_widen(ulong low, int is_negative) {\n\
  __pumice_wide z = {low, is_negative ? -1 : 0}; return z; }\n\
__PUMICE_WIDE __pumice_add(__pumice_wide x, __pumice_wide y) {\n\
  __pumice_wide z = {x.low + y.low, (long)((ulong)x.high + (ulong)y.high + (x.low + y.low < x.low))}; return z; }\n\
__PUMICE_WIDE __pumice_sub(__pumice_wide x, __pumice_wide y) {\n\
  __pumice_wide z = {x.low - y.low, (long)((ulong)x.high - (ulong)y.high - (x.low < y.low))}; return z; }\n\
__PUMICE_WIDE __pumice_mul(__pumice_wide x, __pumice_wide y) {\n\
  ulong a = x.high < 0 ? -x.low : x.low, b = y.high < 0 ? -y.low : y.low;\n\
  ulong low = a * b, high = mul_hi(a, b);\n\
  if ((x.high < 0) != (y.high < 0)) { low = -low; high = ~high + (low == 0); }\n\
  __pumice_wide z = {low, (long)high}; return z; }\n\
#undef __PUMICE_WIDE\n\
#define __PUMICE_IS_NARROW(x) (sizeof(x) < 4 || (sizeof(x) == 4 && (__typeof_unqual__(x))-1 < 0))\n\
#define __PUMICE_OVERFLOW(name, op, x, y, r) ({ \
__typeof_unqual__(x) __pumice_x = (x); \
__typeof_unqual__(y) __pumice_y = (y); \
__typeof__(r) __pumice_r = (r); \
__pumice_wide __pumice_z; \
if (sizeof(__pumice_x) <= 4 && sizeof(__pumice_y) <= 4 \
&& (__PUMICE_IS_NARROW(__pumice_x) || __PUMICE_IS_NARROW(__pumice_y))) { \
long __pumice_n = (long)__pumice_x op (long)__pumice_y; \
__pumice_z = __pumice_widen((ulong)__pumice_n, __pumice_n < 0); \
} else { \
__pumice_z = __pumice_##name(__pumice_widen((ulong)__pumice_x, __pumice_x < 0), \
__pumice_widen((ulong)__pumice_y, __pumice_y < 0)); \
} \
__typeof_unqual__(*__pumice_r) __pumice_v = (__typeof_unqual__(*__pumice_r))__pumice_z.low; \
*__pumice_r = __pumice_v; \
(bool)((ulong)__pumice_v != __pumice_z.low || __pumice_z.high != (__pumice_v < 0 ? -1l : 0l)); })\n\
#define __builtin_add_overflow(x, y, r) __PUMICE_OVERFLOW(add, +, x, y, r)\n\
#define __builtin_sub_overflow(x, y, r) __PUMICE_OVERFLOW(sub, -, x, y, r)\n\
#define __builtin_mul_overflow(x, y, r) __PUMICE_OVERFLOW(mul, *, x, y, r)\n\
#define __builtin_sadd_overflow(x, y, r) __PUMICE_OVERFLOW(add, +, (int)(x), (int)(y), r)\n\
#define __builtin_ssub_overflow(x, y, r) __PUMICE_OVERFLOW(sub, -, (int)(x), (int)(y), r)\n\
#define __builtin_smul_overflow(x, y, r) __PUMICE_OVERFLOW(mul, *, (int)(x), (int)(y), r)\n\
#define __builtin_saddl_overflow(x, y, r) __PUMICE_OVERFLOW(add, +, (long)(x), (long)(y), r)\n\
#define __builtin_ssubl_overflow(x, y, r) __PUMICE_OVERFLOW(sub, -, (long)(x), (long)(y), r)\n\
#define __builtin_smull_overflow(x, y, r) __PUMICE_OVERFLOW(mul, *, (long)(x), (long)(y), r)\n\
#define __builtin_saddll_overflow(x, y, r) __PUMICE_OVERFLOW(add, +, (long)(x), (long)(y), r)\n\
#define __builtin_ssubll_overflow(x, y, r) __PUMICE_OVERFLOW(sub, -, (long)(x), (long)(y), r)\n\
#define __builtin_smulll_overflow(x, y, r) __PUMICE_OVERFLOW(mul, *, (long)(x), (long)(y), r)\n\
#endif\n";

/// What a source needs; empty for one that uses none of them. `elsewhere` says that more of the program comes from
/// other files. Unsigned ones of one type, `__builtin_uadd_overflow` and so on, are right as they are.
pub fn prelude(source: &str, elsewhere: bool) -> &'static str {
    // Macros may put names together.
    let mentions = source.contains("_overflow")
        || (source.contains("overflow") && source.contains("__builtin"));
    if elsewhere || mentions { WIDE } else { "" }
}

#[cfg(test)]
mod tests {
    use super::prelude;

    #[test]
    fn only_a_source_that_uses_them_needs_them() {
        assert_eq!(prelude("p[0] = add_sat(p[1], 1);", false), "");
        let pasted = "#define CHECKED(op) __builtin_##op##_overflow";
        for text in ["__builtin_add_overflow(a, b, &c)", pasted] {
            assert!(prelude(text, false).contains("__builtin_mul_overflow"));
        }
        assert!(!prelude("", true).is_empty());
    }
}
