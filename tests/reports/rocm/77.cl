// ROCm 77 and ComputeLibrary 559: functions that are inline, with the word before or behind the type, were calls to nothing.
// range: 2
// out: uint 0x10c01 0x5ce2120c 0x1c28a4a 0xd7f84ca0 0x3e8eb77c 0x33ce5aef 0x92db9b36 0x6c93967a
typedef struct {
    uint low, high;
} wide;

wide inline multiplied(uint a, uint b)
{
    wide w;
    w.low = a * b;
    w.high = mul_hi(a, b);
    return w;
}

inline void philox_round(uint key[2], uint counter[4])
{
    wide a = multiplied(0xD2511F53, counter[0]);
    wide b = multiplied(0xCD9E8D57, counter[2]);
    counter[0] = b.high ^ counter[1] ^ key[0];
    counter[1] = b.low;
    counter[2] = a.high ^ counter[3] ^ key[1];
    counter[3] = a.low;
}

inline void raised(uint key[2])
{
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
}

inline void philox(uint key[2], uint counter[4])
{
    philox_round(key, counter);
    for (int i = 1; i < 10; i++) {
        raised(key);
        philox_round(key, counter);
    }
}

global inline uint *at(global uint *out, uint i)
{
    return out + 4 * i;
}

kernel void test(global uint *out)
{
    uint id = get_global_id(0);
    uint counter[4] = { id, 0, 0, 7 }, key[2] = { 42, 9 };
    philox(key, counter);
    for (int i = 0; i < 4; i++)
        at(out, id)[i] = counter[i];
}
