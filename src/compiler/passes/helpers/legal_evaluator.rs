//! Runs a function on the host: what the tests of the legalizing passes compare with.
//!
//! One work-item, one flat memory; device addresses are offsets into it. Narrow integers left in the code
//! are computed at their width. Anything that has no defined result panics.

use crate::compiler::ir::{
    AtomicOp, Binary, Builder, BuiltIn, Compare, Convert, Edge, FuncId, Function, Module, Op,
    Place, Terminator, Type, Unary, Value, Values,
};
use crate::compiler::passes::helpers::folding::signed;

/// A small generator of numbers of every magnitude (xorshift64*).
pub struct Random(pub u64);

impl Random {
    /// Random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Random bits of random width, at times negated.
    pub fn number(&mut self) -> u64 {
        let bits = self.bits();
        let number = bits >> (self.bits() % 64);
        if self.bits() & 3 == 0 {
            number.wrapping_neg()
        } else {
            number
        }
    }
}

/// A module with one function of these parameters; `build` returns its results.
pub fn module_of(
    params: &[Type],
    build: impl FnOnce(&mut Builder<'_>, &[Value]) -> Values,
) -> Module {
    let mut function = Function::new("test");
    let entry = function.entry();
    let params: Vec<Value> = params
        .iter()
        .map(|&ty| function.add_param(entry, ty))
        .collect();
    let mut b = Builder::new(&mut function, entry);
    let results = build(&mut b, &params);
    b.terminate(Terminator::Return(results.clone()));
    function.return_types = results.iter().map(|&v| function.ty(v)).collect();
    let mut module = Module::default();
    module.add_function(function);
    module
}

/// A module being run.
pub struct Evaluator<'a> {
    pub module: &'a Module,
    pub memory: Vec<u8>,
    /// Every byte read or written, to show that nothing else is touched.
    pub touched: Vec<u64>,
    /// Every byte written by a plain store: a neighbour of what is stored must not be among them.
    pub stored: Vec<u64>,
}

impl<'a> Evaluator<'a> {
    pub fn new(module: &'a Module) -> Self {
        Self {
            module,
            memory: Vec::new(),
            touched: Vec::new(),
            stored: Vec::new(),
        }
    }

    pub fn call(&mut self, id: FuncId, args: &[u64]) -> Vec<u64> {
        let function = self.module.function(id);
        let mut values = vec![0; function.value_count()];
        let mut block = function.entry();
        let mut incoming = args.to_vec();
        for _ in 0..10_000 {
            let data = function.block(block);
            assert_eq!(data.params.len(), incoming.len());
            for (param, bits) in data.params.iter().zip(incoming) {
                values[param.index()] = bits & function.ty(*param).mask();
            }
            for &inst in &data.insts {
                let inst = function.inst(inst);
                let results = self.execute(function, &inst.op, &inst.results, &values);
                assert_eq!(results.len(), inst.results.len(), "{}", inst.op);
                for (result, bits) in inst.results.iter().zip(results) {
                    values[result.index()] = bits & function.ty(*result).mask();
                }
            }
            let go = |edge: &Edge| {
                let args = edge.args.iter().map(|v| values[v.index()]);
                (edge.block, args.collect())
            };
            (block, incoming) = match &data.terminator {
                Terminator::Jump(edge) => go(edge),
                Terminator::Branch {
                    condition,
                    then,
                    otherwise,
                } => go(if values[condition.index()] != 0 {
                    then
                } else {
                    otherwise
                }),
                Terminator::Switch {
                    value,
                    cases,
                    default,
                } => {
                    let found = cases.iter().find(|case| case.0 == values[value.index()]);
                    go(found.map_or(default, |case| &case.1))
                }
                Terminator::Return(results) => {
                    return results.iter().map(|v| values[v.index()]).collect();
                }
                Terminator::Unreachable => panic!("unreachable"),
            };
        }
        panic!("does not end");
    }

    fn execute(
        &mut self,
        function: &Function,
        op: &Op,
        results: &[Value],
        values: &[u64],
    ) -> Vec<u64> {
        let get = |v: Value| values[v.index()];
        let types: Vec<Type> = results.iter().map(|&v| function.ty(v)).collect();
        match op {
            Op::Const(bits) => vec![*bits],
            Op::Undef => vec![0x5a5a_5a5a_5a5a_5a5a],
            // The first work-item of the only group.
            Op::BuiltIn(BuiltIn::NumWorkgroups(_)) => vec![1],
            Op::BuiltIn(_) => vec![0],
            Op::Unary(op, a) => vec![unary(*op, get(*a), function.ty(*a))],
            Op::Binary(op, a, b) => vec![binary(*op, get(*a), get(*b), function.ty(*a))],
            Op::Compare(op, a, b) => {
                vec![compare(*op, get(*a), get(*b), function.ty(*a)).into()]
            }
            Op::Select(c, a, b) => vec![get(if get(*c) != 0 { *a } else { *b })],
            Op::Convert(op, a) => vec![convert(*op, get(*a), function.ty(*a), types[0])],
            Op::MulExtended { signed: s, a, b } => {
                let ty = function.ty(*a);
                let product = match s {
                    true => i128::from(signed(get(*a), ty)) * i128::from(signed(get(*b), ty)),
                    false => (u128::from(get(*a)) * u128::from(get(*b))) as i128,
                };
                vec![product as u64, (product >> ty.bits()) as u64]
            }
            Op::Glsl(number @ (3 | 8), args) => {
                let ty = types[0];
                let x = float(get(args[0]), ty);
                let rounded = if *number == 3 { x.trunc() } else { x.floor() };
                vec![float_bits(rounded, ty)]
            }
            Op::Glsl(75, args) => match get(args[0]) as u32 {
                0 => vec![u64::MAX],
                word => vec![word.ilog2().into()],
            },
            Op::Call(callee, args) => {
                let args: Vec<u64> = args.iter().map(|&v| get(v)).collect();
                self.call(*callee, &args)
            }
            Op::Load(place, access) => {
                let mut at = address(*place, values);
                assert_eq!(at % u64::from(access.align_bytes), 0, "alignment of a load");
                let mut loaded = Vec::new();
                for ty in types {
                    loaded.push(self.read(at, ty));
                    at += u64::from(ty.size_bytes());
                }
                loaded
            }
            Op::Store(place, stored, access) => {
                let mut at = address(*place, values);
                assert_eq!(
                    at % u64::from(access.align_bytes),
                    0,
                    "alignment of a store"
                );
                for &value in stored {
                    let ty = function.ty(value);
                    self.write(at, get(value), ty);
                    self.stored.extend(at..at + u64::from(ty.size_bytes()));
                    at += u64::from(ty.size_bytes());
                }
                Vec::new()
            }
            Op::Atomic {
                op,
                place,
                values: operands,
                ..
            } => {
                let at = address(*place, values);
                let ty = *types.first().unwrap_or(&Type::I32);
                assert_eq!(at % u64::from(ty.size_bytes()), 0);
                let old = self.read(at, ty);
                let operand = operands.first().map_or(0, |&v| get(v));
                let new = match op {
                    AtomicOp::Load => old,
                    AtomicOp::Store | AtomicOp::Exchange => operand,
                    AtomicOp::And => old & operand,
                    AtomicOp::Or => old | operand,
                    AtomicOp::CompareExchange if old == get(operands[1]) => operand,
                    AtomicOp::CompareExchange => old,
                    other => panic!("{other:?}"),
                };
                self.write(at, new, ty);
                types.iter().map(|_| old).collect()
            }
            other => panic!("{other}"),
        }
    }

    fn read(&mut self, at: u64, ty: Type) -> u64 {
        let mut bytes = [0; 8];
        let size = ty.size_bytes() as usize;
        self.touched.extend(at..at + size as u64);
        bytes[..size].copy_from_slice(&self.memory[at as usize..at as usize + size]);
        u64::from_le_bytes(bytes)
    }

    fn write(&mut self, at: u64, bits: u64, ty: Type) {
        let size = ty.size_bytes() as usize;
        self.touched.extend(at..at + size as u64);
        self.memory[at as usize..at as usize + size].copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}

fn address(place: Place, values: &[u64]) -> u64 {
    match place {
        Place::Address(v) => values[v.index()],
        Place::AddressPair { lo, hi } => values[hi.index()] << 32 | values[lo.index()],
        other => panic!("{other}"),
    }
}

fn unary(op: Unary, a: u64, ty: Type) -> u64 {
    match op {
        Unary::Negate => a.wrapping_neg(),
        Unary::Not => !a,
        Unary::FNegate => a ^ 1 << (ty.bits() - 1),
        Unary::BitCount => a.count_ones().into(),
        Unary::BitReverse => a.reverse_bits() >> (64 - ty.bits()),
        Unary::IsNan => f32::from_bits(a as u32).is_nan().into(),
        Unary::IsInf => f32::from_bits(a as u32).is_infinite().into(),
        other => panic!("{other:?}"),
    }
}

/// The operation on Rust's own integers and floats; also what the passes are compared with.
pub fn binary(op: Binary, a: u64, b: u64, ty: Type) -> u64 {
    let (x, y) = (signed(a, ty), signed(b, ty));
    // Singles by doubles: rounded twice, these operations give what rounding once does.
    let float = |f: fn(f64, f64) -> f64| float_bits(f(float(a, ty), float(b, ty)), ty);
    if op.is_shift() {
        assert!(b < ty.bits().into(), "{op:?} by {b} of {ty}");
    }
    match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        // Undefined, but not fatal.
        Binary::UDiv | Binary::SDiv if b == 0 => 0x1234,
        Binary::URem | Binary::SRem | Binary::SMod if b == 0 => 0x4321,
        Binary::UDiv => a / b,
        Binary::URem => a % b,
        Binary::SDiv => x.wrapping_div(y) as u64,
        Binary::SRem => x.wrapping_rem(y) as u64,
        Binary::SMod => {
            let rest = x.wrapping_rem(y);
            let moved = rest != 0 && (rest < 0) != (y < 0);
            (if moved { rest + y } else { rest }) as u64
        }
        Binary::Shl => a << b,
        Binary::LShr => a >> b,
        Binary::AShr => (x >> b) as u64,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::UMin => a.min(b),
        Binary::UMax => a.max(b),
        Binary::SMin => x.min(y) as u64,
        Binary::SMax => x.max(y) as u64,
        Binary::FAdd => float(|x, y| x + y),
        Binary::FSub => float(|x, y| x - y),
        Binary::FMul => float(|x, y| x * y),
        Binary::FDiv => float(|x, y| x / y),
        Binary::FMin => float(f64::min),
        Binary::FMax => float(f64::max),
        other => panic!("{other:?}"),
    }
}

pub fn compare(op: Compare, a: u64, b: u64, ty: Type) -> bool {
    let (x, y) = (signed(a, ty), signed(b, ty));
    // Of integers these are any numbers, which nothing looks at.
    let float = |bits| {
        if ty == Type::F64 {
            float(bits, ty)
        } else {
            float(bits, Type::F32)
        }
    };
    let (f, g) = (float(a), float(b));
    match op {
        Compare::Equal => a == b,
        Compare::NotEqual => a != b,
        Compare::ULess => a < b,
        Compare::ULessEqual => a <= b,
        Compare::SLess => x < y,
        Compare::SLessEqual => x <= y,
        Compare::FOrdEqual => f == g,
        Compare::FUnordNotEqual => f != g,
        Compare::FOrdLess => f < g,
        Compare::FOrdLessEqual => f <= g,
        other => panic!("{other:?}"),
    }
}

pub fn convert(op: Convert, a: u64, from: Type, to: Type) -> u64 {
    match op {
        Convert::Truncate | Convert::ZeroExtend | Convert::Bitcast => {
            if op == Convert::Bitcast {
                assert_eq!(from.bits(), to.bits());
            }
            a & to.mask()
        }
        Convert::SignExtend => signed(a, from) as u64 & to.mask(),
        Convert::UnsignedToFloat(None) if to == Type::F64 => (a as f64).to_bits(),
        Convert::SignedToFloat(None) if to == Type::F64 => (signed(a, from) as f64).to_bits(),
        Convert::UnsignedToFloat(None) => (a as f32).to_bits().into(),
        Convert::SignedToFloat(None) => (signed(a, from) as f32).to_bits().into(),
        Convert::FloatToUnsigned { rounding: None, .. } => float(a, from) as u64,
        Convert::FloatToSigned { rounding: None, .. } => float(a, from) as i64 as u64,
        other => panic!("{other:?}"),
    }
}

/// The number that the bits of a single or a double are.
fn float(bits: u64, ty: Type) -> f64 {
    match ty {
        Type::F32 => f32::from_bits(bits as u32).into(),
        Type::F64 => f64::from_bits(bits),
        other => panic!("{other} is no float here"),
    }
}

fn float_bits(number: f64, ty: Type) -> u64 {
    match ty {
        Type::F32 => (number as f32).to_bits().into(),
        _ => number.to_bits(),
    }
}

/// The number that the bits of a type are in two's complement.
pub fn extended(bits: u64, ty: Type) -> i64 {
    signed(bits, ty)
}
