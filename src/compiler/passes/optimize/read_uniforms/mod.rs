//! Reads constant variables of program scope through a uniform buffer, for a driver that does so with less code.
//!
//! **Why.** llvmpipe (seen in Mesa 22.3) makes a loop over the work-items of each load from device memory, of four to seven
//! blocks, and its coroutine passes look at all blocks for each variable. A hash that looks up a thousand words of tables took
//! 3.6 s to compile so. A load from a uniform buffer is straight code there, if its place differs (`emit_load_ubo`): the same
//! hash took 1.2 s, and an eighth of the time to run. From 25.0 on (tried in 25.0.7 and 26.2.6) both loads are straight code,
//! and the one from device memory is the shorter one.
//!
//! **How.** The buffer is the start of the program's data segment ([`DataSegment::constant_bytes`]), as far as the device takes it.
//! A load whose pointer is the address of a variable that lies there, and an offset, becomes loads of words
//! ([`Place::Uniform`]), or of 64-bit numbers, at the offset in the segment: C has such a pointer stay within its variable.
//! All else that is done with pointers stays, and so do loads that are less aligned than what they load. Of `local` arrays that
//! hold nothing but copies of such variables the variables are read instead (`copies.rs`).
//!
//! **Needs** calls inlined as far as they will be; comes before `lower::arguments`, which asks for the segment's address only
//! where it is still used. Does nothing unless the device asks for it ([`crate::compiler::Capabilities::uniform_bytes`]) and
//! has 64-bit integers.
//!
//! [`DataSegment::constant_bytes`]: crate::compiler::program::DataSegment::constant_bytes

mod copies;
mod low_words;

use crate::compiler::analysis::{Affine, KnownBits};
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Convert, Function, GlobalId, Module, Op, Place, Rewrite,
    Type, Value, Values, rewrite_instructions,
};
use crate::compiler::passes::helpers::data_segment;
use crate::compiler::passes::helpers::scalar_bits;
use crate::compiler::passes::optimize::simplify;
use crate::compiler::{CompileError, Context, MAX_WORK_GROUP_SIZE};
use std::collections::HashMap;
use std::convert::Infallible;

/// How deep an offset is followed.
const DEPTH: u32 = 12;

const MOST_LOCAL_SIZES: [u32; 3] = [MAX_WORK_GROUP_SIZE as u32; 3];

/// Runs the pass on the module's kernel.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let caps = cx.capabilities;
    let [kernel] = module.kernels.as_slice() else {
        return Ok(());
    };
    // Initializers run before the segment is complete.
    if caps.uniform_bytes == 0 || !caps.int64 || kernel.attributes.is_initializer {
        return Ok(());
    }
    let offsets = data_segment::offsets(module)?;
    let constant_bytes = data_segment::constant_bytes(module, &offsets);
    let size_bytes = u64::from(constant_bytes.min(caps.uniform_bytes));
    let variables: Starts = (0..)
        .map(GlobalId)
        .zip(module.globals.iter().zip(offsets))
        .filter(|(_, (global, offset))| {
            let end = offset.checked_add(global.size_bytes);
            global.space == AddressSpace::Constant && end.is_some_and(|end| end <= size_bytes)
        })
        .map(|(id, (_, offset))| (id, offset))
        .collect();
    let mut reads = false;
    let copies = copies::find(module, &variables, size_bytes);
    for function in &mut module.functions {
        if read(function, &variables, &copies) {
            reads = true;
            simplify::remove_dead(function);
        }
    }
    if reads {
        module.kernels[0].uniform_bytes = size_bytes as u32;
    }
    Ok(())
}

/// By variable, where its first byte is in the segment.
type Starts = HashMap<GlobalId, u64>;

/// Replaces loads from variables, and from copies of them, which nobody needs then; whether there were any.
fn read(function: &mut Function, variables: &Starts, copies: &Starts) -> bool {
    let Ok(is_read) = rewrite_instructions(function, |b, inst| {
        let data = b.function.inst(inst);
        let start = |pointer: &Pointer| {
            let start = variables.get(&pointer.variable);
            start.or_else(|| copies.get(&pointer.variable)).copied()
        };
        let replacement = match data.op {
            Op::Load(Place::Pointer(pointer), access) => {
                let types: Vec<Type> = data.results.iter().map(|&it| b.ty(it)).collect();
                let pointer = Pointer::of(b.function, pointer);
                let offset =
                    pointer.and_then(|it| Offset::of(start(&it)?, it, access, types.iter()));
                offset.map(|offset| offset.load(b, &types))
            }
            Op::Store(Place::Pointer(pointer), ..) => {
                let pointer = Pointer::of(b.function, pointer);
                let is_copy = pointer.is_some_and(|it| copies.contains_key(&it.variable));
                is_copy.then(Values::new)
            }
            _ => None,
        };
        Ok::<_, Infallible>(replacement.map_or(Rewrite::Keep, Rewrite::Replace))
    });
    is_read
}

/// A pointer into a variable, and how far: the sum of the terms, each times its factor, and a constant.
struct Pointer {
    variable: GlobalId,
    terms: Vec<(Value, u64)>,
    constant: u64,
    /// Modulo 2³² that is how far, where an offset has no more bits; else modulo 2⁶⁴.
    is_narrow: bool,
}

impl Pointer {
    fn of(function: &Function, mut pointer: Value) -> Option<Self> {
        let mut terms = Vec::new();
        let mut constant = 0_u64;
        let mut is_narrow = false;
        loop {
            match *function.op_of(pointer)? {
                Op::GlobalAddress(variable) => {
                    return Some(Self {
                        variable,
                        terms,
                        constant,
                        is_narrow,
                    });
                }
                Op::PtrAdd(base, offset) if function.ty(offset).bits() >= 32 => {
                    let sum = Affine::of(function, offset, DEPTH);
                    terms.extend(sum.terms);
                    constant = constant.wrapping_add(sum.constant);
                    is_narrow |= function.ty(offset) == Type::I32;
                    pointer = base;
                }
                _ => return None,
            }
        }
    }
}

/// Where scalars lie in the segment: a sum as [`Pointer`] has it.
struct Offset {
    terms: Vec<(Value, u64)>,
    constant: u64,
    is_narrow: bool,
    /// What it is a multiple of; no less than any of the scalars takes.
    align_bytes: u32,
}

impl Offset {
    /// That of a load through a pointer into a variable, or a copy of one, that starts at `start`; `None` for a load that must
    /// stay.
    fn of<'a>(
        start: u64,
        pointer: Pointer,
        access: Access,
        mut types: impl Iterator<Item = &'a Type>,
    ) -> Option<Self> {
        let Pointer {
            terms,
            constant,
            is_narrow,
            ..
        } = pointer;
        let constant = constant.wrapping_add(start);
        let align = |numbers: &mut dyn Iterator<Item = u64>| {
            let zeros = numbers.map(u64::trailing_zeros).min();
            1_u32 << zeros.unwrap_or(0).min(3)
        };
        // What the access says is said of the variable or its copy.
        let said = access.align_bytes.min(align(&mut [start].into_iter()));
        let factors = terms.iter().map(|&(_, factor)| factor);
        let align_bytes = said.max(align(&mut factors.chain([constant])));
        let fits = |ty: &Type| !ty.is_pointer() && ty.size_bytes() <= align_bytes;
        (!access.volatile && types.all(fits)).then_some(Self {
            terms,
            constant,
            is_narrow,
            align_bytes,
        })
    }

    /// The offset of `further_bytes` more, an I32, over 2 to the power of `shift`. It is below 2³²: so large is no segment.
    fn shifted(&self, b: &mut Builder<'_>, further_bytes: u32, shift: u32) -> Value {
        let constant = self.constant.wrapping_add(further_bytes.into());
        let is_multiple = |number: u64| number.trailing_zeros() >= shift;
        let divides = is_multiple(constant) && self.terms.iter().all(|&(_, it)| is_multiple(it));
        // Signed: a factor may be negative.
        let part = |number: u64| {
            if divides {
                (number as i64 >> shift) as u32
            } else {
                number as u32
            }
        };
        let mut sum = None;
        for &(term, factor) in &self.terms {
            let word = word(b, term);
            let product = match part(factor) {
                1 => word,
                by if by.is_power_of_two() => {
                    b.binary_const(Binary::Shl, word, by.trailing_zeros().into())
                }
                by => b.binary_const(Binary::Mul, word, by.into()),
            };
            sum = Some(match sum {
                Some(sum) => b.binary(Binary::Add, sum, product),
                None => product,
            });
        }
        let whole = match (sum, part(constant)) {
            (Some(sum), 0) => sum,
            (Some(sum), rest) => b.binary_const(Binary::Add, sum, rest.into()),
            (None, rest) => b.i32(rest),
        };
        if !divides {
            b.binary_const(Binary::LShr, whole, shift.into())
        } else if shift > 0 && self.is_narrow && !self.is_below_2_32(b.function, constant) {
            // The highest bits of the terms are not in the offset.
            b.binary_const(Binary::And, whole, (u32::MAX >> shift).into())
        } else {
            whole
        }
    }

    /// Whether the sum is below 2³² as it is, without a modulus, by what is known of the terms.
    fn is_below_2_32(&self, function: &Function, constant: u64) -> bool {
        let terms = self.terms.iter();
        let most = terms.map(|&(term, factor)| {
            KnownBits::of(function, MOST_LOCAL_SIZES, term)
                .most
                .checked_mul(factor)
        });
        let mut most = most.chain([Some(constant)]);
        let sum = most.try_fold(0_u64, |sum, most| sum.checked_add(most?));
        sum.is_some_and(|sum| sum <= u32::MAX.into())
    }

    /// Loads the scalars, one after the other as [`Op::Load`] has them.
    fn load(&self, b: &mut Builder<'_>, types: &[Type]) -> Values {
        let (places, _) = scalar_bits::offsets_of(types.iter().copied());
        // By the first byte of each, as far as that is known.
        let mut words: HashMap<u32, Value> = HashMap::new();
        let mut values = Values::new();
        for (&ty, place) in types.iter().zip(places) {
            let bits = scalar_bits::memory_int(ty);
            let int = match ty.size_bytes() {
                8 => self.number(b, place, Type::I64),
                _ if self.align_bytes >= 4 => {
                    let start = place & !3;
                    let word = *words
                        .entry(start)
                        .or_insert_with(|| self.number(b, start, Type::I32));
                    scalar_bits::extract(b, word, place - start, bits)
                }
                _ => {
                    let word = self.number(b, place, Type::I32);
                    let byte = self.shifted(b, place, 0);
                    let byte = b.binary_const(Binary::And, byte, 3);
                    let by = b.binary_const(Binary::Shl, byte, 3);
                    let shifted = b.binary(Binary::LShr, word, by);
                    b.resize_int(shifted, bits, false)
                }
            };
            values.push(scalar_bits::from_int(b, int, ty));
        }
        values
    }

    /// The word or 64-bit number that holds the byte at `further_bytes` from the offset.
    fn number(&self, b: &mut Builder<'_>, further_bytes: u32, ty: Type) -> Value {
        let align_bytes = ty.size_bytes();
        let index = self.shifted(b, further_bytes, align_bytes.trailing_zeros());
        let access = Access {
            align_bytes,
            volatile: false,
            read_only: true,
        };
        b.load1(Place::Uniform { index }, ty, access)
    }
}

/// The low 32 bits of an integer of as many or more.
fn word(b: &mut Builder<'_>, value: Value) -> Value {
    match extended_word(b.function, value) {
        Some(word) => word,
        None => b.resize_int(value, Type::I32, false),
    }
}

/// What an integer is an extension of, if that has 32 bits.
fn extended_word(function: &Function, value: Value) -> Option<Value> {
    match *function.op_of(value)? {
        Op::Convert(Convert::ZeroExtend | Convert::SignExtend, from)
            if function.ty(from) == Type::I32 =>
        {
            Some(from)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
