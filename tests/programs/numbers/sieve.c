// Primes by a sieve of bits.
// words: 1 42
// run: private u32 1x4
// run: local u8 1x16
// run: global u64 1x2
#define BITS (8 * sizeof(element))
#define WORKS 64
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *sieve) {
    const int limit = 400 + (int)(in[0] % 100);
    for (int i = 0; i < 64; i++)
        sieve[i] = 0;
    int count = 0;
    for (int p = 2; p < limit; p++) {
        if (sieve[p / BITS] >> (p % BITS) & 1)
            continue;
        if (count < 40)
            out[count] = (u32)p;
        count++;
        for (int k = p * p; k < limit; k += p)
            sieve[k / BITS] |= (element)((element)1 << (k % BITS));
    }
    out[40] = (u32)count;
    u32 set = 0;
    for (int i = 0; i < 64; i++)
        for (element x = sieve[i]; x; x &= (element)(x - 1))
            set++;
    out[41] = set;
}
