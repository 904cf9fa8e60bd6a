//! 64-bit integers as pairs of 32-bit ones, on devices without `shaderInt64`.
//!
//! Needs: no pointers (`lower::pointers`), plain conversions (`lower::conversions`), and loads and stores of
//! 64-bit integers as words (`legalize::memory`).
//!
//! Every I64 becomes two I32, low and high, through block parameters, calls and returns. Device addresses
//! become [`Place::AddressPair`]. Operations with constant halves, which address computations are full
//! of, fold as they are built. Division calls a helper function that is added to the module when first
//! needed.
//!
//! Afterwards: no I64, no [`Place::Address`].

mod arithmetic;
mod division;
mod float;
#[cfg(test)]
mod tests;

use crate::compiler::evaluate;
use crate::compiler::ir::{
    Access, Binary, Builder, Compare, Convert, Edge, FuncId, Function, Module, Op, Place, Rounding,
    Terminator, Type, Unary, Value, Values,
};
use crate::compiler::passes::helpers::expand_values::{
    Expanded, Expander, Expansion, expand_function,
};
use crate::compiler::passes::helpers::folding;
use crate::compiler::{Capabilities, CompileError, Context};
use smallvec::smallvec;

/// Replaces 64-bit integers in every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    legalize(module, cx.capabilities)
}

fn legalize(module: &mut Module, device: &Capabilities) -> Result<(), CompileError> {
    if device.int64 {
        return Ok(());
    }
    if let Some(array) = module.arrays.iter().find(|a| a.element == Type::I64) {
        return Err(CompileError::unsupported(format!(
            "the array '{}' has 64-bit elements, which the device lacks",
            array.name
        )));
    }
    let mut pass = Int64 {
        helpers: Helpers::new(module),
    };
    module
        .functions
        .iter_mut()
        .try_for_each(|function| expand_function(function, &mut pass))?;
    pass.helpers.add_to(module);
    Ok(())
}

/// The halves of a 64-bit integer, both I32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub lo: Value,
    pub hi: Value,
}

impl Pair {
    fn values(self) -> Values {
        smallvec![self.lo, self.hi]
    }
}

/// Functions added to the module for what is too long to repeat.
pub struct Helpers {
    /// The identity that the helper will get.
    next: FuncId,
    divide: Option<Function>,
}

impl Helpers {
    /// For a module to which no function is added before [`Helpers::add_to`].
    pub fn new(module: &Module) -> Self {
        Self {
            next: FuncId(module.functions.len() as u32),
            divide: None,
        }
    }

    /// Unsigned quotient and remainder.
    pub fn call_divide(&mut self, b: &mut Builder<'_>, x: Pair, y: Pair) -> (Pair, Pair) {
        self.divide.get_or_insert_with(division::helper);
        let args = smallvec![x.lo, x.hi, y.lo, y.hi];
        let parts = b.op(Op::Call(self.next, args), [Type::I32; 4]);
        let pair = |at: usize| Pair {
            lo: parts[at],
            hi: parts[at + 1],
        };
        (pair(0), pair(2))
    }

    /// Gives the module what was called.
    pub fn add_to(self, module: &mut Module) {
        if let Some(function) = self.divide {
            module.add_function(function);
        }
    }
}

struct Int64 {
    helpers: Helpers,
}

fn pair(x: &Expansion<'_>, value: Value) -> Pair {
    let (lo, hi) = x.pair(value);
    Pair { lo, hi }
}

/// The low word of an integer of any width: a shift amount.
fn low_word(x: &mut Expansion<'_>, value: Value) -> Value {
    let low = x.one(value);
    x.b.resize_int(low, Type::I32, false)
}

impl Expander for Int64 {
    fn parts(&self, ty: Type) -> Option<&'static [Type]> {
        (ty == Type::I64).then_some(&[Type::I32, Type::I32])
    }

    fn instruction(&mut self, x: &mut Expansion<'_>, op: &Op, types: &[Type]) -> Expanded {
        let result = match op {
            Op::Const(bits) => arithmetic::constant(&mut x.b, *bits),
            Op::Unary(op, a) => {
                let a = pair(x, *a);
                match op {
                    Unary::Negate => arithmetic::negate(&mut x.b, a),
                    Unary::Not => arithmetic::not(&mut x.b, a),
                    Unary::BitCount => arithmetic::bit_count(&mut x.b, a),
                    Unary::BitReverse => arithmetic::bit_reverse(&mut x.b, a),
                    _ => return Err(lacking(&format!("{op:?}"))),
                }
            }
            Op::Binary(op, a, b) if op.is_shift() => {
                let amount = low_word(x, *b);
                if x.ty(*a) != Type::I64 {
                    let a = x.one(*a);
                    return Ok(vec![smallvec![x.b.binary(*op, a, amount)]]);
                }
                let a = pair(x, *a);
                arithmetic::shift(&mut x.b, *op, a, amount)
            }
            Op::Binary(op, a, b) => {
                let (a, b) = (pair(x, *a), pair(x, *b));
                self.binary(x, *op, a, b)?
            }
            Op::Compare(op, a, b) => {
                let (a, b) = (pair(x, *a), pair(x, *b));
                let holds = arithmetic::compare_pairs(&mut x.b, *op, a, b);
                return Ok(vec![smallvec![holds]]);
            }
            Op::Convert(op, a) => return convert(x, *op, *a, types[0]),
            Op::MulExtended { signed, a, b } => {
                let (a, b) = (pair(x, *a), pair(x, *b));
                let (low, high) = arithmetic::mul_extended(&mut x.b, a, b, *signed);
                return Ok(vec![low.values(), high.values()]);
            }
            Op::Load(place, access) => return load(x, *place, *access, types),
            Op::Store(place, values, access) => {
                if values.iter().any(|&v| x.ty(v) == Type::I64) {
                    return Err(lacking("a 64-bit store"));
                }
                let place = address_pair(x, *place);
                let values = values.iter().map(|&v| x.one(v)).collect();
                x.b.store(place, values, *access);
                return Ok(Vec::new());
            }
            Op::Atomic {
                op,
                place,
                values,
                scope,
                semantics,
            } => {
                let wide = |&ty: &Type| ty == Type::I64;
                if types.iter().any(wide) || values.iter().any(|&v| wide(&x.ty(v))) {
                    return Err(lacking(&format!("atomic {op:?}")));
                }
                let atomic = Op::Atomic {
                    op: *op,
                    place: address_pair(x, *place),
                    values: values.iter().map(|&v| x.one(v)).collect(),
                    scope: *scope,
                    semantics: *semantics,
                };
                let results = x.b.op(atomic, types.iter().copied());
                return Ok(results.into_iter().map(|v| smallvec![v]).collect());
            }
            other => return Err(lacking(&format!("'{other}'"))),
        };
        Ok(vec![result.values()])
    }

    fn switch(
        &mut self,
        x: &mut Expansion<'_>,
        value: Value,
        cases: Vec<(u64, Edge)>,
        default: Edge,
    ) -> Result<(), CompileError> {
        switch(x, value, cases, default);
        Ok(())
    }
}

impl Int64 {
    fn binary(
        &mut self,
        x: &mut Expansion<'_>,
        op: Binary,
        a: Pair,
        b: Pair,
    ) -> Result<Pair, CompileError> {
        use Binary::*;
        let builder = &mut x.b;
        Ok(match op {
            Add => arithmetic::add(builder, a, b),
            Sub => arithmetic::sub(builder, a, b),
            Mul => arithmetic::mul(builder, a, b),
            And | Or | Xor => arithmetic::bitwise(builder, op, a, b),
            UMin | UMax | SMin | SMax => arithmetic::min_max(builder, op, a, b),
            UDiv | SDiv | URem | SRem | SMod => {
                division::divide(builder, &mut self.helpers, op, a, b)
            }
            _ => return Err(lacking(&format!("{op:?}"))),
        })
    }
}

fn convert(x: &mut Expansion<'_>, op: Convert, a: Value, to: Type) -> Expanded {
    let from = x.ty(a);
    let refused = || lacking(&format!("conversion {op:?} from {from} to {to}"));
    Ok(vec![match op {
        Convert::Truncate => {
            let low = x.pair(a).0;
            smallvec![x.b.resize_int(low, to, false)]
        }
        Convert::ZeroExtend | Convert::SignExtend => {
            let signed = op == Convert::SignExtend;
            let a = x.one(a);
            let lo = match x.b.function.constant(a) {
                Some(bits) if signed => {
                    x.b.constant(Type::I32, evaluate::signed(from, bits) as u64)
                }
                Some(bits) => x.b.constant(Type::I32, bits),
                None => x.b.resize_int(a, Type::I32, signed),
            };
            let hi = if signed {
                folding::binary_const(&mut x.b, Binary::AShr, lo, 31)
            } else {
                x.b.i32(0)
            };
            smallvec![lo, hi]
        }
        Convert::UnsignedToFloat(rounding) | Convert::SignedToFloat(rounding) => {
            if to == Type::F64 {
                return Err(refused());
            }
            let signed = matches!(op, Convert::SignedToFloat(_));
            let a = pair(x, a);
            let rounding = rounding.unwrap_or(Rounding::Rte);
            let single = float::to_f32(&mut x.b, a, signed, rounding);
            smallvec![match to {
                Type::F32 => single,
                // Integers that F32 can't hold exactly are infinite as halves anyway.
                _ =>
                    x.b.convert(Convert::FloatToFloat(Some(rounding)), single, to),
            }]
        }
        Convert::FloatToUnsigned {
            rounding: None | Some(Rounding::Rtz),
            saturate: false,
        }
        | Convert::FloatToSigned {
            rounding: None | Some(Rounding::Rtz),
            saturate: false,
        } => {
            let signed = matches!(op, Convert::FloatToSigned { .. });
            let a = x.one(a);
            let single = match from {
                Type::F32 => a,
                Type::F16 => x.b.convert(Convert::FloatToFloat(None), a, Type::F32),
                _ => return Err(refused()),
            };
            float::from_f32(&mut x.b, single, signed).values()
        }
        Convert::Bitcast if from == to => x.parts(a),
        _ => return Err(refused()),
    }])
}

fn load(x: &mut Expansion<'_>, place: Place, access: Access, types: &[Type]) -> Expanded {
    if types.contains(&Type::I64) {
        return Err(lacking("a 64-bit load"));
    }
    let place = address_pair(x, place);
    let results = x.b.op(Op::Load(place, access), types.iter().copied());
    Ok(results.into_iter().map(|v| smallvec![v]).collect())
}

fn address_pair(x: &Expansion<'_>, place: Place) -> Place {
    match place {
        Place::Address(address) => {
            let (lo, hi) = x.pair(address);
            Place::AddressPair { lo, hi }
        }
        Place::Element { array, index } => Place::Element {
            array,
            index: x.one(index),
        },
        Place::AddressPair { lo, hi } => Place::AddressPair {
            lo: x.one(lo),
            hi: x.one(hi),
        },
        // Indexed places are made of 64-bit addresses, later; uniform ones are for devices with 64-bit integers.
        other @ (Place::Pointer(_)
        | Place::Argument { .. }
        | Place::Indexed { .. }
        | Place::Uniform { .. }) => other,
    }
}

/// One switch on the low word for each high word that a case has.
fn switch(x: &mut Expansion<'_>, value: Value, cases: Vec<(u64, Edge)>, default: Edge) {
    let value = pair(x, value);
    let mut high_words: Vec<u32> = cases.iter().map(|(case, _)| (case >> 32) as u32).collect();
    high_words.sort_unstable();
    high_words.dedup();
    for word in high_words {
        let constant = x.b.i32(word);
        let matches = folding::compare(&mut x.b, Compare::Equal, value.hi, constant);
        let inner = x.b.function.add_block();
        let next = x.b.function.add_block();
        x.b.branch(matches, inner, next);
        x.b.switch_to(inner);
        let cases = cases
            .iter()
            .filter(|(case, _)| (case >> 32) as u32 == word)
            .map(|(case, edge)| (case & u64::from(u32::MAX), edge.clone()))
            .collect();
        x.b.terminate(Terminator::Switch {
            value: value.lo,
            cases,
            default: default.clone(),
        });
        x.b.switch_to(next);
    }
    x.b.jump(default);
}

/// Something that an earlier pass must have taken away, or that can't be done.
fn lacking(what: &str) -> CompileError {
    CompileError::unsupported(format!(
        "{what} on 64-bit integers is not supported on a device without them"
    ))
}
