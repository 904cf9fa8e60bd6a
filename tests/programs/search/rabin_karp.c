// String search with a rolling hash, for all distinct windows that come again.
// words: 60 12
// run: private u32 1x16
// run: global u8 2x5
#define WORKS 60
typedef element work_t;

static void program(IN in, OUT out, MEM work_t *text) {
    for (int i = 0; i < 60; i++)
        text[i] = (element)(in[i] % 3 + 65);
    u32 found = 0;
    for (int length = 2; length <= 5; length++) {
        const u32 modulus = 8191;
        u32 power = 1, wanted = 0, hash = 0, matches = 0, false_matches = 0, places = 0;
        for (int i = 1; i < length; i++)
            power = power * 257 % modulus;
        for (int i = 0; i < length; i++) {
            wanted = (wanted * 257 + (u32)text[i]) % modulus;
            hash = (hash * 257 + (u32)text[i + length]) % modulus;
        }
        for (int at = length;; at++) {
            if (hash == wanted) {
                int i = 0;
                for (; i < length; i++)
                    if (text[at + i] != text[i])
                        goto differs;
                matches++;
                places = places * 31 + (u32)at;
                goto next;
            differs:
                false_matches++;
            }
        next:
            if (at + length >= 60)
                break;
            hash = (hash + modulus - (u32)text[at] * power % modulus) % modulus;
            hash = (hash * 257 + (u32)text[at + length]) % modulus;
        }
        out[found++] = matches;
        out[found++] = places;
        out[found++] = hash;
    }
}
