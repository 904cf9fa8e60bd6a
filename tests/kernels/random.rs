//! Numbers to test with.

/// A small generator (xorshift64*): the same numbers in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Of every magnitude, at times negative.
    pub fn number(&mut self) -> u64 {
        let bits = self.next() >> (self.next() % 64);
        if self.next() & 3 == 0 {
            bits.wrapping_neg()
        } else {
            bits
        }
    }

    /// A float from -bound to bound.
    pub fn float(&mut self, bound: f32) -> f32 {
        let unit = (self.next() >> 40) as f32 / 8_388_608.0 - 1.0;
        unit * bound
    }
}
