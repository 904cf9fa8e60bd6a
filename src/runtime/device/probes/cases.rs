//! What the probes are given, and what follows from what they write: all computed here, exactly.

use super::random::Random;
use crate::compiler::evaluate::float::{Parts, decode, encode};
use crate::compiler::ir::{Rounding, Type};
use crate::runtime::device::findings::Subject;
use crate::vulkan::PhysicalDeviceInfo;

/// Work-items of a work-group.
pub const GROUP: usize = 64;

/// What was found, for each subject of a probe.
pub type Verdicts = Vec<(Subject, bool)>;

/// From the buffers of a probe as they are behind it to what follows.
type Judge = Box<dyn Fn(&[Vec<u32>]) -> Verdicts>;

/// A launch of a probe.
pub struct Case {
    pub kernel: &'static str,
    pub groups: u32,
    /// The kernel's buffers, one after the other, as they are before.
    pub buffers: Vec<Vec<u32>>,
    pub judge: Judge,
    /// What it is about: those are missing where it can't be run.
    pub subjects: Vec<Subject>,
}

/// The launches for a device. What it does not claim is not asked for.
pub fn all(info: &PhysicalDeviceInfo, sub_group_size: u32) -> Vec<Case> {
    let features = &info.features;
    let mut cases = vec![singles(), exponentials(), barriers(), messages()];
    if features.shader_float16 && features.shader_int16 {
        cases.push(halves());
    }
    if features.shader_float64 {
        cases.push(doubles());
    }
    if features.shader_int64 {
        cases.push(longs());
    }
    if features.shader_int8 && features.shader_int16 {
        cases.push(narrow_integers());
    }
    if features.storage_buffer_8bit && features.storage_buffer_16bit {
        cases.push(narrow_memory());
    }
    if sub_group_size > 1 {
        cases.push(sub_groups());
        // A half of the group is at least one sub-group.
        let most = info.limits.max_compute_work_group_invocations;
        if sub_group_size <= 64 && most >= 128 {
            cases.push(progress("progress_128"));
        } else if sub_group_size <= 128 && most >= 256 {
            cases.push(progress("progress_256"));
        }
    }
    cases
}

fn words_of(longs: impl IntoIterator<Item = u64>) -> Vec<u32> {
    let words = |long: u64| [long as u32, (long >> 32) as u32];
    longs.into_iter().flat_map(words).collect()
}

fn longs_of(words: &[u32]) -> Vec<u64> {
    let (pairs, _) = words.as_chunks::<2>();
    let long = |&[low, high]: &[u32; 2]| u64::from(low) | u64::from(high) << 32;
    pairs.iter().map(long).collect()
}

/// Floats of a type: those of the first kind are normal, and so is all that is computed of them; those of the second are
/// denormal, or what is computed of them is.
#[derive(Clone, Copy)]
struct Floats {
    ty: Type,
    mantissa_bits: u32,
    bias: u64,
    sign_bit: u32,
}

/// How far the exponents of two numbers are apart at most whose sum is computed.
const MOST_APART: u32 = 72;

const SINGLES: Floats = Floats {
    ty: Type::F32,
    mantissa_bits: 23,
    bias: 127,
    sign_bit: 31,
};
const HALVES: Floats = Floats {
    ty: Type::F16,
    mantissa_bits: 10,
    bias: 15,
    sign_bit: 15,
};
const DOUBLES: Floats = Floats {
    ty: Type::F64,
    mantissa_bits: 52,
    bias: 1023,
    sign_bit: 63,
};

impl Floats {
    /// A number of about 2^`exponent`, either sign.
    fn about(self, random: &mut Random, exponent: i64) -> u64 {
        let field = (self.bias as i64 + exponent) as u64;
        let mantissa = random.next() & ((1 << self.mantissa_bits) - 1);
        random.below(2) << self.sign_bit | field << self.mantissa_bits | mantissa
    }

    /// `x * y + z` of which the sum needs what the product was rounded by.
    fn normal(self, random: &mut Random) -> [u64; 3] {
        let [a, b] = [random.below(5) as i64 - 2, random.below(5) as i64 - 2];
        let near = random.below(4) as i64 - 2;
        [a, b, a + b + near].map(|exponent| self.about(random, exponent))
    }

    /// Numbers of which the product is denormal, and one that is.
    fn denormal(self, random: &mut Random) -> [u64; 3] {
        let least = 1 - self.bias as i64;
        let half = least / 2;
        let denormal = random.next() & ((1 << self.mantissa_bits) - 1) | 1;
        let x = self.about(random, half - 1);
        let y = self.about(random, least - half);
        [x, y, denormal]
    }

    fn add(self, x: u64, y: u64) -> u64 {
        self.fma(x, self.bias << self.mantissa_bits, y)
    }

    fn minus(self, x: u64) -> u64 {
        x ^ 1 << self.sign_bit
    }

    fn product(self, x: u64, y: u64) -> u64 {
        let (x, y) = (finite(self.ty, x), finite(self.ty, y));
        let parts = Parts::Finite {
            negative: x.0 != y.0,
            mantissa: x.1 * y.1,
            exponent: x.2 + y.2,
        };
        encode(self.ty, parts, Rounding::Rte)
    }

    /// `x * y + z`, rounded once, of finite numbers. Those that are too far apart for 128 bits are none that are judged.
    fn fma(self, x: u64, y: u64, z: u64) -> u64 {
        let ((xs, xm, xe), (ys, ym, ye), (zs, zm, ze)) =
            (finite(self.ty, x), finite(self.ty, y), finite(self.ty, z));
        let (mut product, mut other) = ((xm * ym) as i128, zm as i128);
        let mut exponent = xe + ye;
        if ze.abs_diff(exponent) > MOST_APART {
            return 0;
        }
        // Both with the smaller exponent.
        if ze > exponent {
            other <<= ze - exponent;
        } else {
            product <<= exponent - ze;
            exponent = ze;
        }
        let sum = if xs != ys { -product } else { product } + if zs { -other } else { other };
        let parts = Parts::Finite {
            negative: sum < 0,
            mantissa: sum.unsigned_abs(),
            exponent,
        };
        encode(self.ty, parts, Rounding::Rte)
    }
}

/// Sign, mantissa and exponent.
fn finite(ty: Type, bits: u64) -> (bool, u128, i32) {
    match decode(ty, bits) {
        Parts::Finite {
            negative,
            mantissa,
            exponent,
        } => {
            // Without zeros at its end, which would only take room.
            let zeros = mantissa.trailing_zeros().min(127);
            match mantissa {
                0 => (negative, 0, 0),
                _ => (negative, mantissa >> zeros, exponent + zeros as i32),
            }
        }
        _ => (false, 0, 0),
    }
}

/// Four groups of normal numbers, and one of denormal ones.
const NORMAL: usize = 4 * GROUP;

fn triples(of: Floats, seed: u64) -> Vec<[u64; 3]> {
    let mut random = Random::new(seed);
    let normal: Vec<_> = (0..NORMAL).map(|_| of.normal(&mut random)).collect();
    let denormal = (0..GROUP).map(|_| of.denormal(&mut random));
    normal.into_iter().chain(denormal).collect()
}

/// Whether the results at `places` of rows of `width` are as expected, in all normal rows or in all denormal ones.
fn agree(
    found: &[u64],
    expected: &[u64],
    width: usize,
    places: &[usize],
    of_denormals: bool,
) -> bool {
    let rows = if of_denormals {
        NORMAL..NORMAL + GROUP
    } else {
        0..NORMAL
    };
    rows.into_iter().all(|row| {
        let at = |place: &usize| row * width + place;
        places
            .iter()
            .all(|place| found.get(at(place)) == expected.get(at(place)))
    })
}

fn singles() -> Case {
    let of = SINGLES;
    let numbers = triples(of, 1);
    let expected: Vec<u64> = (numbers.iter())
        .flat_map(|&[x, y, z]| {
            let integer = x as u32 as i32;
            [
                of.fma(x, y, z),
                of.add(x, y),
                of.add(x, of.minus(z)),
                of.product(x, y),
                u64::from((integer as f32).to_bits()),
            ]
        })
        .collect();
    let input = numbers.iter().flatten().map(|&bits| bits as u32).collect();
    Case {
        kernel: "singles",
        groups: 5,
        buffers: vec![input, vec![0; numbers.len() * 5]],
        judge: Box::new(move |buffers| {
            let found: Vec<u64> = buffers[1].iter().copied().map(u64::from).collect();
            vec![
                (
                    Subject::FusedSingles,
                    agree(&found, &expected, 5, &[0], false),
                ),
                (
                    Subject::Singles,
                    agree(&found, &expected, 5, &[1, 2, 3, 4], false),
                ),
                (
                    Subject::DenormalSingles,
                    agree(&found, &expected, 5, &[3], true),
                ),
            ]
        }),
        subjects: vec![
            Subject::FusedSingles,
            Subject::Singles,
            Subject::DenormalSingles,
        ],
    }
}

/// The largest error that our own mathematics can take, in units of the last place.
const MOST_ULPS: f64 = 2.0;

fn exponentials() -> Case {
    const ITEMS: usize = 16 * GROUP;
    let mut random = Random::new(2);
    let arguments: Vec<f32> = (0..ITEMS)
        .map(|_| random.below(26 << 16) as f32 / 65536.0 - 24.0)
        .collect();
    let input = arguments.iter().map(|x| x.to_bits()).collect();
    Case {
        kernel: "exponentials",
        groups: (ITEMS / GROUP) as u32,
        buffers: vec![input, vec![0; ITEMS]],
        judge: Box::new(move |buffers| {
            let is_near = |(x, found): (&f32, &u32)| {
                let exact = f64::from(*x).exp2();
                let ulp = exact.log2().floor().exp2() * f64::from(f32::EPSILON);
                (f64::from(f32::from_bits(*found)) - exact).abs() <= MOST_ULPS * ulp
            };
            let precise = arguments.iter().zip(&buffers[1]).all(is_near);
            vec![(Subject::PreciseExp2, precise)]
        }),
        subjects: vec![Subject::PreciseExp2],
    }
}

fn halves() -> Case {
    let of = HALVES;
    let numbers = triples(of, 3);
    let expected: Vec<u64> = (numbers.iter())
        .flat_map(|&[x, y, z]| {
            let single = decode(Type::F32, x << 16 | y);
            [
                of.fma(x, y, z),
                of.add(x, y),
                of.product(x, y),
                encode(Type::F16, single, Rounding::Rte),
                encode(Type::F32, decode(Type::F16, z), Rounding::Rte),
            ]
        })
        .collect();
    let input = numbers.iter().flatten().map(|&bits| bits as u32).collect();
    Case {
        kernel: "halves",
        groups: 5,
        buffers: vec![input, vec![0; numbers.len() * 5]],
        judge: Box::new(move |buffers| {
            let found: Vec<u64> = buffers[1].iter().copied().map(u64::from).collect();
            let right = agree(&found, &expected, 5, &[1, 2, 3, 4], false)
                && agree(&found, &expected, 5, &[2, 4], true);
            vec![
                (Subject::Halves, right),
                (
                    Subject::FusedHalves,
                    agree(&found, &expected, 5, &[0], false),
                ),
            ]
        }),
        subjects: vec![Subject::Halves, Subject::FusedHalves],
    }
}

fn doubles() -> Case {
    let of = DOUBLES;
    let numbers = triples(of, 4);
    let expected: Vec<u64> = (numbers.iter())
        .flat_map(|&[x, y, z]| {
            let single = encode(Type::F32, decode(Type::F64, x), Rounding::Rte);
            [
                of.fma(x, y, z),
                of.add(x, y),
                of.add(x, of.minus(z)),
                of.product(x, y),
                encode(Type::F64, decode(Type::F32, single), Rounding::Rte),
            ]
        })
        .collect();
    let input = words_of(numbers.iter().flatten().copied());
    Case {
        kernel: "doubles",
        groups: 5,
        buffers: vec![input, vec![0; numbers.len() * 10]],
        judge: Box::new(move |buffers| {
            let found = longs_of(&buffers[1]);
            vec![
                (
                    Subject::FusedDoubles,
                    agree(&found, &expected, 5, &[0], false),
                ),
                (
                    Subject::Doubles,
                    agree(&found, &expected, 5, &[1, 2, 3, 4], false),
                ),
                (
                    Subject::DenormalDoubles,
                    agree(&found, &expected, 5, &[3], true),
                ),
            ]
        }),
        subjects: vec![
            Subject::FusedDoubles,
            Subject::Doubles,
            Subject::DenormalDoubles,
        ],
    }
}

/// Numbers of all lengths, and those at the ends of what a type holds.
fn integers(seed: u64, bits: u32, count: usize) -> Vec<u64> {
    let mut random = Random::new(seed);
    let mask = u64::MAX >> (64 - bits);
    let mut integer = |_| {
        let length = random.below(u64::from(bits)) as u32;
        let number = random.next() >> (64 - bits) >> length;
        let number = if random.below(2) == 0 {
            number
        } else {
            !number
        };
        number & mask
    };
    let ends = [0, 1, 2, mask >> 1, (mask >> 1) + 1, mask - 1, mask, 3];
    let all = (0..count).map(|place| match place.checked_sub(count - ends.len()) {
        Some(end) => ends[end],
        None => integer(place),
    });
    all.collect()
}

fn longs() -> Case {
    const ITEMS: usize = 4 * GROUP;
    let numbers = integers(5, 64, ITEMS * 2);
    let (pairs, _) = numbers.as_chunks::<2>();
    let expected: Vec<u64> = (pairs.iter())
        .flat_map(|&[x, y]| {
            let (sx, sy) = (x as i64, y as i64);
            let shift = (y & 63) as u32;
            [
                x.wrapping_add(y),
                x.wrapping_sub(y),
                x.wrapping_mul(y),
                x / (y | 1),
                sx.wrapping_rem((y >> 1 | 1) as i64) as u64,
                x << shift,
                x >> shift,
                (sx >> shift) as u64,
                u64::from(x < y) | u64::from(sx < sy) << 1 | u64::from(x == y) << 2,
                i64::from(x as u32 as i32) as u64 ^ u64::from(y as u32),
            ]
        })
        .collect();
    Case {
        kernel: "longs",
        groups: (ITEMS / GROUP) as u32,
        buffers: vec![words_of(numbers.iter().copied()), vec![0; ITEMS * 20]],
        judge: Box::new(move |buffers| vec![(Subject::Longs, longs_of(&buffers[1]) == expected)]),
        subjects: vec![Subject::Longs],
    }
}

fn packed(bytes: impl IntoIterator<Item = u8>) -> Vec<u32> {
    let bytes: Vec<u8> = bytes.into_iter().collect();
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn narrow_integers() -> Case {
    const ITEMS: usize = 4 * GROUP;
    let bytes: Vec<u8> = integers(6, 8, ITEMS * 2)
        .iter()
        .map(|&it| it as u8)
        .collect();
    let shorts: Vec<u16> = integers(7, 16, ITEMS * 2)
        .iter()
        .map(|&it| it as u16)
        .collect();
    let expected: Vec<u32> = (0..ITEMS)
        .flat_map(|i| {
            let (a, b, s, t) = (
                bytes[i * 2],
                bytes[i * 2 + 1],
                shorts[i * 2],
                shorts[i * 2 + 1],
            );
            narrow_results(a, b, s, t)
        })
        .collect();
    let shorts = packed(shorts.iter().flat_map(|short| short.to_le_bytes()));
    Case {
        kernel: "narrow",
        groups: (ITEMS / GROUP) as u32,
        buffers: vec![packed(bytes), shorts, vec![0; ITEMS * 8]],
        judge: Box::new(move |buffers| vec![(Subject::NarrowIntegers, buffers[2] == expected)]),
        subjects: vec![Subject::NarrowIntegers],
    }
}

/// What `narrow` computes of two bytes and two shorts.
fn narrow_results(a: u8, b: u8, s: u16, t: u16) -> [u32; 8] {
    let (sa, sb, ss, st) = (a as i8, b as i8, s as i16, t as i16);
    let bytes = u32::from_le_bytes;
    let shorts = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
    let (by, by_short) = (u32::from(b & 7), u32::from(t & 15));
    [
        bytes([
            a.wrapping_add(b),
            a.wrapping_mul(b),
            a.wrapping_sub(b),
            a / (b | 1),
        ]),
        bytes([
            (sa >> by) as u8,
            a >> by,
            ((u32::from(a)) << by) as u8,
            u8::from(sa < sb),
        ]),
        i32::from(sa.wrapping_add(sb)) as u32,
        (i32::from(sa) % i32::from(sb | 1)) as u32,
        shorts(s.wrapping_add(t), s.wrapping_mul(t)),
        shorts(s.wrapping_sub(t), s / (t | 1)),
        shorts((ss >> by_short) as u16, s >> by_short),
        (i32::from(ss.wrapping_add(st)) as u32).wrapping_add(u32::from(ss < st)),
    ]
}

fn narrow_memory() -> Case {
    const ITEMS: usize = 4 * GROUP;
    let input: Vec<u32> = integers(8, 32, ITEMS).iter().map(|&it| it as u32).collect();
    let other = |i: usize| input[i ^ 1];
    let bytes = packed((0..ITEMS).map(|i| other(i) as u8));
    let shorts = packed((0..ITEMS).flat_map(|i| ((other(i) >> 8) as u16).to_le_bytes()));
    Case {
        kernel: "narrow_stores",
        groups: (ITEMS / GROUP) as u32,
        buffers: vec![input, vec![0; ITEMS / 4], vec![0; ITEMS / 2]],
        judge: Box::new(move |buffers| {
            let right = buffers[1] == bytes && buffers[2] == shorts;
            vec![(Subject::NarrowMemory, right)]
        }),
        subjects: vec![Subject::NarrowMemory],
    }
}

fn barriers() -> Case {
    const GROUPS: usize = 8;
    let steps: Vec<u32> = (0..GROUPS as u32).map(|group| group * 3 + 5).collect();
    let expected: Vec<u32> = (0..GROUPS)
        .flat_map(|group| {
            let mut values: Vec<u32> = (0..GROUP).map(|l| (group * GROUP + l) as u32).collect();
            for step in 0..steps[group] {
                let words = values.clone();
                for (l, value) in values.iter_mut().enumerate() {
                    let from = (l + step as usize) % GROUP;
                    *value = words[from].wrapping_mul(3).wrapping_add(step);
                    if step % 3 == 1 {
                        *value ^= l as u32;
                    }
                }
            }
            values
        })
        .collect();
    Case {
        kernel: "barriers",
        groups: GROUPS as u32,
        buffers: vec![steps, vec![0; GROUPS * GROUP]],
        judge: Box::new(move |buffers| vec![(Subject::Barriers, buffers[1] == expected)]),
        subjects: vec![Subject::Barriers],
    }
}

fn messages() -> Case {
    const ITEMS: usize = 32 * GROUP;
    Case {
        kernel: "messages",
        groups: (ITEMS / GROUP) as u32,
        buffers: vec![vec![0; ITEMS], vec![0; ITEMS], vec![0; ITEMS]],
        judge: Box::new(|buffers| {
            let written = buffers[0]
                .iter()
                .zip(1..)
                .all(|(&word, number)| word == number);
            let missed = buffers[2].iter().any(|&missed| missed > 0);
            vec![(Subject::Messages, written && !missed)]
        }),
        subjects: vec![Subject::Messages],
    }
}

/// Words that a work-item of `sub_groups` writes.
const ROW: usize = 16;

fn sub_groups() -> Case {
    const ITEMS: usize = 4 * GROUP;
    let input: Vec<u32> = integers(9, 8, ITEMS).iter().map(|&it| it as u32).collect();
    let values = input.clone();
    Case {
        kernel: "sub_groups",
        groups: (ITEMS / GROUP) as u32,
        buffers: vec![input, vec![0; ITEMS * ROW]],
        judge: Box::new(move |buffers| judge_sub_groups(&values, &buffers[1])),
        subjects: vec![
            Subject::SubGroupArithmetic,
            Subject::SubGroupVotes,
            Subject::SubGroupExchanges,
            Subject::SubGroupRotations,
        ],
    }
}

/// Compares with the definitions what sub-groups say, each of the work-items that say to be in it.
fn judge_sub_groups(values: &[u32], found: &[u32]) -> Verdicts {
    let (rows, _) = found.as_chunks::<ROW>();
    let [mut computes, mut votes, mut exchanges, mut rotates] = [true; 4];
    for (group, items) in rows.chunks(GROUP).enumerate() {
        let of = |row: &[u32; ROW]| (row[0] >> 16, row[0] >> 8 & 0xff, row[0] & 0xff);
        // Work-items by their sub-group and their place in it.
        let mut places: Vec<(u32, u32, usize)> = (items.iter().enumerate())
            .map(|(item, row)| (of(row).0, of(row).1, item))
            .collect();
        places.sort_unstable();
        for members in places.chunk_by(|a, b| a.0 == b.0) {
            let size = members.len();
            let x: Vec<u32> = members
                .iter()
                .map(|&(.., item)| values[group * GROUP + item])
                .collect();
            for (lane, &(_, place, item)) in members.iter().enumerate() {
                let row = &items[item];
                let is_one = place as usize == lane && of(row).2 as usize == size;
                let chosen = |at: usize| !at.is_multiple_of(3);
                let some: Vec<u32> = x
                    .iter()
                    .copied()
                    .filter(|&it| chosen(it as usize))
                    .collect();
                let to_here = x[..=lane].iter().copied().filter(|&it| chosen(it as usize));
                let is_chosen = chosen(x[lane] as usize);
                let if_chosen = |value: u32| if is_chosen { value } else { 0 };
                computes &= row[1] == x.iter().sum::<u32>()
                    && row[2] == x[..=lane].iter().sum::<u32>()
                    && row[3] == x[..lane].iter().copied().max().unwrap_or(0)
                    && row[13] == if_chosen(some.iter().sum())
                    && row[14] == if_chosen(to_here.sum());
                let all = u32::from(x.iter().all(|&it| it > 20));
                let any = u32::from(x.iter().any(|&it| it > 200));
                votes &= row[5] == all << 1 | any;
                exchanges &= is_one
                    && row[4] == x[size - 1]
                    && row[6] == x[(lane * 5 + 3) % size]
                    && x.get(lane ^ (1 % size)).is_none_or(|&it| row[7] == it)
                    && (lane == 0 || row[8] == x[lane - 1])
                    && (lane + 1 == size || row[9] == x[lane + 1])
                    && row[10] == x.iter().filter(|&it| it & 1 == 1).count() as u32
                    && row[11] == x[lane] & 1
                    && row[15] == if_chosen(some.iter().filter(|&it| it & 2 == 2).count() as u32);
                rotates &= row[12] == x[(lane + 3) % size];
            }
        }
    }
    vec![
        (Subject::SubGroupArithmetic, computes),
        (Subject::SubGroupVotes, votes),
        (Subject::SubGroupExchanges, exchanges),
        (Subject::SubGroupRotations, rotates),
    ]
}

/// How often a sub-group looks whether another one has come.
const PATIENCE: u32 = 1 << 14;

fn progress(kernel: &'static str) -> Case {
    Case {
        kernel,
        groups: 1,
        buffers: vec![vec![PATIENCE, 0]],
        judge: Box::new(|buffers| vec![(Subject::SubGroupProgress, buffers[0][1] == 0)]),
        subjects: vec![Subject::SubGroupProgress],
    }
}
