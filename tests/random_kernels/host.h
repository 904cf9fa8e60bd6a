/* What kernels of plain C need to be compiled for the host, where work-items of a group take turns at barriers. */
#include <ucontext.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef struct { short s[4]; } short4;

struct launch {
    void (*kernel)(ulong *, const uint *, uint *, uint *, short *, uint, short4);
    ulong *out;
    const uint *in;
    uint *scratch, *counters;
    short *items;
    uint number;
    short4 vector;
    ulong items_of_all, items_of_group;
};

#define MOST_ITEMS 64
static struct {
    ucontext_t scheduler, items[MOST_ITEMS];
    char stacks[MOST_ITEMS][1 << 18];
    int ended[MOST_ITEMS];
    const struct launch *launch;
    ulong group, item;
} host;

static void host_item(void) {
    const struct launch *all = host.launch;
    all->kernel(all->out, all->in, all->scratch, all->counters, all->items, all->number, all->vector);
    host.ended[host.item] = 1;
}

static void host_barrier(void) {
    swapcontext(&host.items[host.item], &host.scheduler);
}

static void host_group(void) {
    ulong running = host.launch->items_of_group;
    for (host.item = 0; host.item < running; ++host.item) {
        ucontext_t *context = &host.items[host.item];
        getcontext(context);
        context->uc_stack.ss_sp = host.stacks[host.item];
        context->uc_stack.ss_size = sizeof host.stacks[0];
        context->uc_link = &host.scheduler;
        makecontext(context, host_item, 0);
        host.ended[host.item] = 0;
    }
    while (running > 0) {
        for (host.item = 0; host.item < host.launch->items_of_group; ++host.item) {
            if (host.ended[host.item])
                continue;
            swapcontext(&host.scheduler, &host.items[host.item]);
            running -= host.ended[host.item];
        }
    }
}

void host_run(const struct launch *launch) {
    host.launch = launch;
    for (host.group = 0; host.group * launch->items_of_group < launch->items_of_all; ++host.group)
        host_group();
}

#define kernel
#define global
#define local
#define private
#define constant static const
#define shared static
#define get_global_id(dimension) (host.group * host.launch->items_of_group + host.item)
#define get_local_id(dimension) host.item
#define get_group_id(dimension) host.group
#define get_global_size(dimension) host.launch->items_of_all
#define barrier(flags) host_barrier()

/* The order of work-items shows in no result. */
#define host_atomic(p, expression) ({ __auto_type _p = (p); __typeof__(*_p + 0) _old = *_p; *_p = (expression); _old; })
#define atomic_add(p, v) host_atomic(p, _old + (v))
#define atomic_sub(p, v) host_atomic(p, _old - (v))
#define atomic_or(p, v) host_atomic(p, _old | (v))
#define atomic_and(p, v) host_atomic(p, _old & (v))
#define atomic_xor(p, v) host_atomic(p, _old ^ (v))
#define atomic_min(p, v) host_atomic(p, ({ __auto_type _v = (v); _v < _old ? _v : _old; }))
#define atomic_max(p, v) host_atomic(p, ({ __auto_type _v = (v); _v > _old ? _v : _old; }))

/* Built-in functions, in integers that are wide enough for all of them. */
typedef __int128 wide;
#define BITS(x) ((int)(8 * sizeof(x)))
#define SIGNED(T) ((T)-1 < (T)1)
#define LEAST(T) (SIGNED(T) ? -((wide)1 << (BITS(T) - 1)) : (wide)0)
#define MOST(T) (((wide)1 << (BITS(T) - SIGNED(T))) - 1)
static inline wide host_clamp(wide x, wide least, wide most) { return x < least ? least : x > most ? most : x; }
/* The last arguments are what the function makes of `a`, `b` and `c`, in the type of `a`. */
#define host_1(x, expression) ({ __auto_type a = (x); (__typeof__(a))(expression); })
#define host_2(x, y, expression) ({ __auto_type a_ = (x); __auto_type b_ = (y); \
    ({ __auto_type a = a_; __auto_type b = b_; (__typeof__(a))(expression); }); })
#define host_3(x, y, z, expression) ({ __auto_type a_ = (x); __auto_type b_ = (y); __auto_type c_ = (z); \
    ({ __auto_type a = a_; __auto_type b = b_; __auto_type c = c_; (__typeof__(a))(expression); }); })
#define SATURATED(x) host_clamp(x, LEAST(__typeof__(a)), MOST(__typeof__(a)))
#define abs(x) host_1(x, a < 0 ? -(wide)a : (wide)a)
#define abs_diff(x, y) host_2(x, y, a > b ? (wide)a - b : (wide)b - a)
#define add_sat(x, y) host_2(x, y, SATURATED((wide)a + b))
#define sub_sat(x, y) host_2(x, y, SATURATED((wide)a - b))
#define hadd(x, y) host_2(x, y, ((wide)a + b) >> 1)
#define rhadd(x, y) host_2(x, y, ((wide)a + b + 1) >> 1)
#define max(x, y) host_2(x, y, a > b ? a : b)
#define min(x, y) host_2(x, y, a < b ? a : b)
#define clamp(x, y, z) host_3(x, y, z, a < b ? b : a > c ? c : a)
#define host_raw(a) ((ulong)(a) & (~0ul >> (64 - BITS(a))))
#define clz(x) host_1(x, host_raw(a) == 0 ? BITS(a) : __builtin_clzl(host_raw(a)) - (64 - BITS(a)))
#define ctz(x) host_1(x, host_raw(a) == 0 ? BITS(a) : __builtin_ctzl(host_raw(a)))
#define popcount(x) host_1(x, __builtin_popcountl(host_raw(a)))
#define rotate(x, y) host_2(x, y, ({ int _n = (int)(b & (BITS(a) - 1)); \
    _n == 0 ? host_raw(a) : host_raw(a) << _n | host_raw(a) >> (BITS(a) - _n); }))
#define host_product(a, b) ((wide)((unsigned __int128)(wide)(a) * (unsigned __int128)(wide)(b)))
#define host_mul_hi(a, b) (BITS(a) == 64 && !SIGNED(__typeof__(a)) \
    ? (wide)(((unsigned __int128)(ulong)(a) * (ulong)(b)) >> 64) : host_product(a, b) >> BITS(a))
#define mul_hi(x, y) host_2(x, y, host_mul_hi(a, b))
#define mad_hi(x, y, z) host_3(x, y, z, (ulong)host_mul_hi(a, b) + (ulong)c)
/* Only the product of two ulongs is too wide, and then the sum is, too. */
#define mad_sat(x, y, z) host_3(x, y, z, \
    !SIGNED(__typeof__(a)) && ((unsigned __int128)(ulong)a * (ulong)b) >> 126 \
        ? MOST(__typeof__(a)) : SATURATED(host_product(a, b) + c))
#define mul24(x, y) host_2(x, y, (uint)a * (uint)b)
#define mad24(x, y, z) host_3(x, y, z, (uint)a * (uint)b + (uint)c)
#define bitselect(x, y, z) host_3(x, y, z, (a & ~c) | (b & c))
#define select(x, y, z) host_3(x, y, z, c ? b : a)
#define host_upsampled(T, a, b) ((T)((ulong)(T)(a) << BITS(b) | host_raw(b)))
#define upsample(x, y) ({ __auto_type a_ = (x); __auto_type b_ = (y); ({ __auto_type a = a_; __auto_type b = b_; \
    _Generic(a, char: host_upsampled(short, a, b), uchar: host_upsampled(ushort, a, b), \
    short: host_upsampled(int, a, b), ushort: host_upsampled(uint, a, b), \
    int: host_upsampled(long, a, b), uint: host_upsampled(ulong, a, b)); }); })

/* Conversions of each type, as it is named. */
#define HOST_CONVERSIONS(T) \
    static inline T host_saturated_##T(wide x) { return (T)host_clamp(x, LEAST(T), MOST(T)); }
HOST_CONVERSIONS(char)
HOST_CONVERSIONS(uchar)
HOST_CONVERSIONS(short)
HOST_CONVERSIONS(ushort)
HOST_CONVERSIONS(int)
HOST_CONVERSIONS(uint)
HOST_CONVERSIONS(long)
HOST_CONVERSIONS(ulong)
