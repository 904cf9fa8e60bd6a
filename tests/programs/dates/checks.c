// Check digits: Luhn, ISBN, EAN, Verhoeff, IBAN's remainder; Levenshtein codes of one error corrected by Hamming.
// words: 8 40
// run: private u8 1x16
// run: local u16 1x8
#define WORKS 24
typedef element work_t;

TABLE(u8) permutation[8][10] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 5, 7, 6, 2, 8, 3, 0, 9, 4},
                                {5, 8, 0, 3, 7, 9, 6, 1, 4, 2}, {8, 9, 1, 6, 0, 4, 3, 5, 2, 7},
                                {9, 4, 5, 3, 1, 2, 6, 8, 7, 0}, {4, 2, 8, 6, 5, 7, 3, 9, 0, 1},
                                {2, 7, 9, 3, 8, 0, 6, 4, 1, 5}, {7, 0, 4, 6, 9, 1, 3, 2, 5, 8}};

static int dihedral(int a, int b) {
    if (a < 5)
        return b < 5 ? (a + b) % 5 : (a + b - 5) % 5 + 5;
    return b < 5 ? (a - 5 + 5 - b) % 5 + 5 : (a - b + 5) % 5;
}

static void program(IN in, OUT out, MEM work_t *digits) {
    for (int n = 0; n < 8; n++) {
        u64 x = (u64)in[n] * 1000003u + in[(n + 1) & 7];
        int luhn = 0, isbn = 0, ean = 0, verhoeff = 0, remainder = 0;
        for (int i = 0; i < 16; i++) {
            digits[i] = (element)(x % 10);
            x = x / 10 + (i == 8 ? in[n] : 0);
        }
        for (int i = 0; i < 16; i++) {
            int d = (int)digits[i];
            ean += i % 2 ? d : 3 * d;
            if (i < 9)
                isbn += d * (i + 2);
            verhoeff = dihedral(verhoeff, permutation[(i + 1) % 8][d]);
            if (i % 2 == 0 && (d *= 2) > 9)
                d -= 9;
            luhn += d;
        }
        for (int i = 15; i >= 0; i--)
            remainder = (remainder * 10 + (int)digits[i]) % 97;
        out[5 * n] = (u32)((10 - luhn % 10) % 10 << 8 | (10 - ean % 10) % 10);
        out[5 * n + 1] = (u32)((11 - isbn % 11) % 11 << 8 | (98 - remainder));
        out[5 * n + 2] = (u32)verhoeff;
        u32 data = in[n] & 0x7ff, word = 0;
        for (u32 i = 1, k = 0; i < 16; i++)
            if (i & (i - 1))
                word |= (data >> k++ & 1) << i;
        for (u32 p = 1; p < 16; p *= 2) {
            u32 parity = 0;
            for (u32 i = 1; i < 16; i++)
                if (i & p)
                    parity ^= word >> i & 1;
            word |= parity << p;
        }
        u32 received = word ^ (in[n] >> 28 ? 1u << (in[n] >> 28) : 0), syndrome = 0, corrected = 0;
        for (u32 i = 1; i < 16; i++)
            if (received >> i & 1)
                syndrome ^= i;
        if (syndrome)
            received ^= 1u << syndrome;
        for (u32 i = 1, k = 0; i < 16; i++)
            if (i & (i - 1))
                corrected |= (received >> i & 1) << k++;
        out[5 * n + 3] = word;
        out[5 * n + 4] = syndrome << 16 | (corrected ^ data);
    }
}
