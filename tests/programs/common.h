/* What lets one text be C for the host and OpenCL C for the device. It stands before each program. */
#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#ifdef ELEMENT_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef uchar u8;
typedef char i8;
typedef ushort u16;
typedef short i16;
typedef uint u32;
typedef int i32;
typedef ulong u64;
typedef long i64;
/* A table at file scope: `TABLE(u8) name[3] = {1, 2, 3};`, and a pointer into one: `TABLE(u8) *p`. */
#define TABLE(type) constant type
#define IN global const u32 *
#define OUT global u32 *
/* The address space of the working memory. */
#if defined(SPACE_PRIVATE)
#define MEM private
#elif defined(SPACE_LOCAL)
#define MEM local
#else
#define MEM global
#endif
/* In programs of a whole work-group: one iteration for each work-item, in any order; then all of them meet. */
#define EACH(i) for (u32 i = (u32)get_local_id(0); i < GROUP; i += GROUP)
#define MEET() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef int8_t i8;
typedef uint16_t u16;
typedef int16_t i16;
typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;
#define TABLE(type) static const type
#define IN const u32 *
#define OUT u32 *
#define MEM
#define global
#define local
#define private
#define constant const
#define EACH(i) for (u32 i = 0; i < GROUP; i++)
#define MEET()
static inline u32 as_uint(float x) { u32 y; memcpy(&y, &x, 4); return y; }
static inline float as_float(u32 x) { float y; memcpy(&y, &x, 4); return y; }
static inline u64 as_ulong(double x) { u64 y; memcpy(&y, &x, 8); return y; }
static inline double as_double(u64 x) { double y; memcpy(&y, &x, 8); return y; }
/* The functions of C for floats under the names that OpenCL C has for all widths. */
#ifndef ELEMENT_DOUBLE
#define sqrt sqrtf
#define sin sinf
#define cos cosf
#define exp expf
#define log logf
#define floor floorf
#define fabs fabsf
#endif
#endif

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ROTL32(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define ROTR32(x, n) (((x) >> (n)) | ((x) << (32 - (n))))

/* The element type that a program runs with, made of a word of input and into a word of output. Floats are made of
   multiples of 1/4 below 1024, so that their sums and short products are exact. */
typedef ELEMENT element;
#if defined(ELEMENT_FLOAT)
#define ELEMENT_OF(word) ((element)((i32)(word) >> 20) * (element)0.25f)
#define WORD_OF(x) as_uint((float)(x))
#else
#define ELEMENT_OF(word) ((element)(word))
#define WORD_OF(x) ((u32)((u64)(x) ^ ((u64)(x) >> 32)))
#endif
