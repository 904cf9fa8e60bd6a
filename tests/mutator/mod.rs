//! Damages SPIR-V modules: for `tests/mutations.rs`, and for the fuzz target.

use pumice::compiler::Capabilities;

/// xorshift64
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Names (5 and 6 are `OpName` and `OpMemberName`) mean next to nothing: to damage them is a waste.
fn is_name(instruction: &[u32]) -> bool {
    instruction
        .first()
        .is_some_and(|word| matches!(word & 0xffff, 5 | 6))
}

/// The words of each instruction, the header first.
pub fn instructions(words: &[u32]) -> Vec<Vec<u32>> {
    let (header, mut rest) = words.split_at(words.len().min(5));
    let mut all = vec![header.to_vec()];
    while let Some(first) = rest.first() {
        // Of a module that is damaged already the last one may be cut off.
        let count = ((first >> 16) as usize).clamp(1, rest.len());
        let (one, after) = rest.split_at(count);
        if !is_name(one) {
            all.push(one.to_vec());
        }
        rest = after;
    }
    all
}

/// Changes whole instructions, which gets further than changes of words do, and words.
pub fn damage(instructions: &[Vec<u32>], random: &mut Random) -> Vec<u32> {
    let mut all = instructions.to_vec();
    for _ in 0..1 + random.below(5) / 3 {
        if all.len() < 2 {
            break;
        }
        let at = 1 + random.below(all.len() - 1);
        let other = 1 + random.below(all.len() - 1);
        match random.below(8) {
            0 => drop(all.remove(at)),
            1 => all.swap(at, other),
            2 => all.insert(at, all[other].clone()),
            3 => {
                // The operands of another instruction.
                let from = all[other].clone();
                for (to, from) in all[at].iter_mut().zip(from).skip(2) {
                    *to = from;
                }
            }
            4 => {
                // The same with another opcode.
                let opcode = all[other][0] & 0xffff;
                all[at][0] = all[at][0] & 0xffff_0000 | opcode;
            }
            _ => {
                let word = 1 + random.below(all[at].len() - 1);
                let Some(place) = all[at].get_mut(word) else {
                    continue;
                };
                *place = match random.below(6) {
                    0 => *place ^ 1 << random.below(32),
                    1 => place.wrapping_add(1),
                    2 => place.wrapping_sub(1),
                    3 => random.below(700) as u32,
                    4 => random.below(9) as u32,
                    _ => u32::MAX >> random.below(32),
                };
            }
        }
    }
    all.concat()
}

/// Devices that take each other's opposite way through the compiler: one like an NVIDIA GPU, one like lavapipe, one like
/// SwiftShader.
pub fn devices() -> [Capabilities; 3] {
    [
        Capabilities::full(),
        Capabilities::lavapipe(),
        Capabilities::minimal(),
    ]
}
