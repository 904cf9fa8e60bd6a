// hashcat 2020: private arrays with initializers inside of a loop had other words from the sixth on.
// out: uint 1778454915 1778454982 1778454905
// value: uint 3
kernel void test(global uint *out, uint count)
{
    for (uint n = 0; n < count; n++) {
        uint text[6] = { 0x4f727068, 0x65616e42, 0x65686f6c, 0x64657253, 0x63727944, 0x6f756274 };
        uint mixed[8] = { n * 7, n * 7 + 1, n * 7 + 2, n * 7 + 3, n * 7 + 4, n * 7 + 5, n * 7 + 6, n * 7 + 7 };
        for (uint k = 0; k < 6; k++)
            text[k] ^= mixed[k + 1];
        uint sum = 0;
        for (uint k = 0; k < 6; k++)
            sum += text[k] * (k + 1);
        out[n] = sum;
    }
}
