/* What programs of csmith include, for a kernel and for the host alike. */
#ifdef __OPENCL_VERSION__
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
#else
#include <stdint.h>
#endif

/* All arithmetic of csmith's programs goes through these: each is defined for all operands. */
#define UNARY(T, S, RESULT) \
    static T safe_unary_minus_func_##T##_##S(T a) { return (T)(RESULT); }
#define BINARY(NAME, T, S, RESULT) \
    static T safe_##NAME##_func_##T##_##S##_##S(T a, T b) { return (T)(RESULT); }
#define SHIFT(NAME, T, S, B, RESULT) \
    static T safe_##NAME##_func_##T##_##S(T a, B b) { return (T)(RESULT); }
#define ALWAYS(T, S) \
    BINARY(add, T, S, (uint64_t)a + (uint64_t)b) \
    BINARY(sub, T, S, (uint64_t)a - (uint64_t)b) \
    BINARY(mul, T, S, (uint64_t)a * (uint64_t)b)
#define OF_SIGNED(T, BITS, LEAST) \
    UNARY(T, s, a == LEAST ? a : -a) \
    ALWAYS(T, s) \
    BINARY(div, T, s, b == 0 || (a == LEAST && b == -1) ? a : a / b) \
    BINARY(mod, T, s, b == 0 || (a == LEAST && b == -1) ? a : a % b) \
    SHIFT(lshift, T, s_s, int32_t, a < 0 || b < 0 || b >= BITS ? a : (uint64_t)a << b) \
    SHIFT(lshift, T, s_u, uint32_t, a < 0 || b >= BITS ? a : (uint64_t)a << b) \
    SHIFT(rshift, T, s_s, int32_t, a < 0 || b < 0 || b >= BITS ? a : a >> b) \
    SHIFT(rshift, T, s_u, uint32_t, a < 0 || b >= BITS ? a : a >> b)
#define OF_UNSIGNED(T, BITS) \
    UNARY(T, u, -a) \
    ALWAYS(T, u) \
    BINARY(div, T, u, b == 0 ? a : a / b) \
    BINARY(mod, T, u, b == 0 ? a : a % b) \
    SHIFT(lshift, T, u_s, int32_t, b < 0 || b >= BITS ? a : (uint64_t)a << b) \
    SHIFT(lshift, T, u_u, uint32_t, b >= BITS ? a : (uint64_t)a << b) \
    SHIFT(rshift, T, u_s, int32_t, b < 0 || b >= BITS ? a : a >> b) \
    SHIFT(rshift, T, u_u, uint32_t, b >= BITS ? a : a >> b)
OF_SIGNED(int8_t, 8, -0x80)
OF_SIGNED(int16_t, 16, -0x8000)
OF_SIGNED(int32_t, 32, -0x7fffffff - 1)
OF_SIGNED(int64_t, 64, -0x7fffffffffffffffL - 1)
OF_UNSIGNED(uint8_t, 8)
OF_UNSIGNED(uint16_t, 16)
OF_UNSIGNED(uint32_t, 32)
OF_UNSIGNED(uint64_t, 64)

static uint64_t checksum;
#define platform_main_begin()
#define crc32_gentab() (checksum = 0x9e3779b97f4a7c15UL)
#define transparent_crc(value, name, flag) \
    (checksum = (checksum ^ (uint64_t)(value)) * 0x100000001b3UL, checksum ^= checksum >> 29)
#define platform_main_end(crc, flag) (out[0] = checksum)
