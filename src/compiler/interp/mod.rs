//! Runs IR, so that tests can compare what a function does before and after a pass.
//!
//! One work-item, one flat byte memory that addresses and pointers of every address space point into.
//! Accesses out of its bounds, undefined results and endless loops are errors, not surprises.

mod glsl;

use crate::compiler::evaluate;
use crate::compiler::ir::{
    ArrayId, AtomicOp, Block, BuiltIn, DotFormat, Edge, FuncId, Function, GlobalId, GroupOp, Inst,
    Module, Op, Place, Terminator, Type, Value, VariableId, WorkItem,
};
use crate::compiler::program::Implicit;
use std::collections::HashMap;
use std::ops::Range;

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trap {
    /// The step limit was reached.
    Steps,
    /// A memory access outside of memory or of an array.
    OutOfBounds(String),
    /// A load or a store at an address that has not the alignment that it says.
    Misaligned(String),
    /// A result that the operation leaves undefined: division by zero, a shift too far.
    Undefined(String),
    /// `Unreachable` was reached.
    Unreachable(Block),
    /// The interpreter does not know the operation.
    Unsupported(String),
}

/// Something that others could notice, in the order it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A store or an atomic write: address or (array, index), and the bits.
    Write(Location, Vec<u64>),
    Barrier,
    Group,
}

/// Where memory was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    Address(u64),
    Element(ArrayId, u32),
}

/// The first address that is handed out; below lies null.
const FIRST_ADDRESS: usize = 64;

/// A work-item and the memory it sees.
pub struct Interpreter<'a> {
    module: &'a Module,
    /// Bytes by address. The first 64 are not accessible.
    pub memory: Vec<u8>,
    /// Contents of arrays by element; made at the first use, filled with `undefined`.
    pub arrays: HashMap<ArrayId, Vec<u64>>,
    /// The argument block.
    pub arguments: Vec<u8>,
    /// The uniform buffer.
    pub uniforms: Vec<u8>,
    pub inputs: HashMap<BuiltIn, u32>,
    pub work_item: HashMap<WorkItem, u64>,
    pub implicit: HashMap<Implicit, u64>,
    /// By `SpecId`.
    pub spec_constants: HashMap<u32, u32>,
    /// What `Undef` and fresh memory hold.
    pub undefined: u64,
    /// Whether a result that an operation leaves undefined is `undefined`, rather than a trap.
    pub is_lenient: bool,
    /// Blocks and instructions that may still be executed.
    pub steps: usize,
    pub events: Vec<Event>,
    /// Addresses that were read or written, in order.
    pub touched: Vec<Range<u64>>,
    /// Addresses that stores have written, in order; what atomics write is not among them.
    pub stored: Vec<Range<u64>>,
    globals: HashMap<GlobalId, u64>,
}

impl<'a> Interpreter<'a> {
    pub fn new(module: &'a Module) -> Self {
        Self {
            module,
            memory: vec![0; FIRST_ADDRESS],
            arrays: HashMap::new(),
            arguments: Vec::new(),
            uniforms: Vec::new(),
            inputs: HashMap::new(),
            work_item: HashMap::new(),
            implicit: HashMap::new(),
            spec_constants: HashMap::new(),
            undefined: 0xABAB_ABAB_ABAB_ABAB,
            is_lenient: false,
            steps: 1_000_000,
            events: Vec::new(),
            touched: Vec::new(),
            stored: Vec::new(),
            globals: HashMap::new(),
        }
    }

    /// Puts bytes into memory, 16-byte aligned, and returns their address.
    pub fn allocate(&mut self, bytes: &[u8]) -> u64 {
        let address = self.memory.len().next_multiple_of(16);
        self.memory.resize(address, 0);
        self.memory.extend_from_slice(bytes);
        address as u64
    }

    /// The bytes at an address.
    pub fn bytes(&self, address: u64, size: usize) -> &[u8] {
        &self.memory[address as usize..address as usize + size]
    }

    /// Runs a function to its end; its results are bits.
    pub fn run(&mut self, id: FuncId, args: &[u64]) -> Result<Vec<u64>, Trap> {
        let module = self.module;
        let function = module.function(id);
        let mut frame = Frame {
            function,
            values: vec![None; function.value_count()],
            variables: HashMap::new(),
        };
        let stack = self.memory.len();
        let mut block = function.entry();
        for (&param, &arg) in function.params().iter().zip(args) {
            frame.set(param, arg & function.ty(param).mask());
        }
        let results = loop {
            self.step()?;
            for &inst in &function.block(block).insts {
                self.step()?;
                self.inst(&mut frame, inst)?;
            }
            let edge = match &function.block(block).terminator {
                Terminator::Jump(edge) => edge,
                Terminator::Branch {
                    condition,
                    then,
                    otherwise,
                } => match frame.get(*condition)? {
                    0 => otherwise,
                    _ => then,
                },
                Terminator::Switch {
                    value,
                    cases,
                    default,
                } => {
                    let value = frame.get(*value)?;
                    let case = cases.iter().find(|(case, _)| *case == value);
                    case.map_or(default, |(_, edge)| edge)
                }
                Terminator::Return(values) => {
                    break values
                        .iter()
                        .map(|&value| frame.get(value))
                        .collect::<Result<Vec<_>, _>>()?;
                }
                Terminator::Unreachable => return Err(Trap::Unreachable(block)),
            };
            frame.take(edge)?;
            block = edge.block;
        };
        // Private variables die with the call; globals placed meanwhile stay.
        if self
            .globals
            .values()
            .all(|&address| (address as usize) < stack)
        {
            self.memory.truncate(stack);
        }
        Ok(results)
    }

    fn step(&mut self) -> Result<(), Trap> {
        self.steps = self.steps.checked_sub(1).ok_or(Trap::Steps)?;
        Ok(())
    }

    fn inst(&mut self, frame: &mut Frame, inst: Inst) -> Result<(), Trap> {
        let function = frame.function;
        let data = function.inst(inst);
        let undefined = || Trap::Undefined(data.op.to_string());
        let ty = data.results.first().map(|&result| function.ty(result));
        let mask = ty.map_or(0, Type::mask);
        let value = match &data.op {
            Op::Const(bits) => *bits,
            Op::Undef => self.undefined & mask,
            &Op::Unary(op, a) => evaluate::unary(op, function.ty(a), frame.get(a)?),
            &Op::Binary(op, a, b) => {
                let (x, y) = (frame.get(a)?, frame.get(b)?);
                let found = evaluate::binary(op, function.ty(a), x, y);
                self.defined(found, mask).ok_or_else(undefined)?
            }
            &Op::Compare(op, a, b) => {
                let (x, y) = (frame.get(a)?, frame.get(b)?);
                evaluate::compare(op, function.ty(a), x, y).into()
            }
            &Op::Select(condition, a, b) => match frame.get(condition)? {
                0 => frame.get(b)?,
                _ => frame.get(a)?,
            },
            &Op::Fma(a, b, c) => {
                let [x, y, z] = [frame.get(a)?, frame.get(b)?, frame.get(c)?];
                glsl::fma(function.ty(a), x, y, z)
            }
            &Op::Convert(op, a) => {
                let from = function.ty(a);
                let to = ty.ok_or_else(undefined)?;
                let found = evaluate::convert(op, from, to, frame.get(a)?);
                self.defined(found, mask).ok_or_else(undefined)?
            }
            &Op::MulExtended { signed, a, b } => {
                let (x, y) = (frame.get(a)?, frame.get(b)?);
                let halves = mul_extended(signed, function.ty(a), x, y);
                return frame.set_all(&data.results, &halves);
            }
            Op::DotProduct {
                signed,
                format,
                operands,
            } => dot_product(*signed, *format, &frame.all(operands)?) as u64 & mask,
            Op::Glsl(number, args) => {
                let types: Vec<Type> = args.iter().map(|&arg| function.ty(arg)).collect();
                let args = frame.all(args)?;
                let to = ty.ok_or_else(undefined)?;
                glsl::glsl(*number, to, &args, &types)
                    .ok_or_else(|| Trap::Unsupported(data.op.to_string()))?
            }
            &Op::PtrAdd(pointer, offset) => {
                let by = evaluate::signed(function.ty(offset), frame.get(offset)?);
                frame.get(pointer)?.wrapping_add_signed(by)
            }
            &Op::VariableAddress(id) => self.variable(frame, id),
            &Op::GlobalAddress(id) => self.global(id),
            Op::Load(..) | Op::Store(..) | Op::Copy { .. } | Op::Atomic { .. } => {
                return self.access(frame, inst);
            }
            Op::ControlBarrier { .. } | Op::MemoryBarrier { .. } => {
                self.events.push(Event::Barrier);
                return Ok(());
            }
            Op::Group(group, args) => {
                // Alone in the group: nearly every collective gives back what it is given.
                self.events.push(Event::Group);
                let args = frame.all(args)?;
                let values: Vec<u64> = match group.op {
                    GroupOp::Elect | GroupOp::AllEqual => vec![1],
                    GroupOp::Ballot => vec![args[0], 0, 0, 0],
                    _ => args[..data.results.len()].to_vec(),
                };
                return frame.set_all(&data.results, &values);
            }
            Op::WorkItem(query) => self.work_item.get(query).copied().unwrap_or(0),
            Op::Implicit(implicit) => self.implicit.get(implicit).copied().unwrap_or(0),
            Op::BuiltIn(input) => self.input(*input).into(),
            Op::SpecConst { id, default } => self
                .spec_constants
                .get(id)
                .copied()
                .unwrap_or(*default)
                .into(),
            Op::Call(callee, args) => {
                let args = frame.all(args)?;
                let values = self.run(*callee, &args)?;
                return frame.set_all(&data.results, &values);
            }
            Op::OpenClStd(..)
            | Op::Printf { .. }
            | Op::Image(..)
            | Op::Pipe(..)
            | Op::SampleTexture(_) => {
                return Err(Trap::Unsupported(data.op.to_string()));
            }
        };
        frame.set_all(&data.results, &[value])
    }

    /// Executes an instruction that reads or writes memory.
    fn access(&mut self, frame: &mut Frame, inst: Inst) -> Result<(), Trap> {
        let function = frame.function;
        let data = function.inst(inst);
        match &data.op {
            Op::Load(place, access) => {
                Self::check_alignment(frame, *place, access.align_bytes)?;
                let types: Vec<Type> = data.results.iter().map(|&r| function.ty(r)).collect();
                let values = self.load(frame, *place, &types)?;
                frame.set_all(&data.results, &values)
            }
            Op::Store(place, values, access) => {
                Self::check_alignment(frame, *place, access.align_bytes)?;
                let types: Vec<Type> = values.iter().map(|&v| function.ty(v)).collect();
                let values = frame.all(values)?;
                if let Some(first) = Self::address(frame, *place)? {
                    let size: u32 = types.iter().map(|ty| ty.size_bytes()).sum();
                    self.stored.push(first..first + u64::from(size));
                }
                self.store(frame, *place, &types, &values)
            }
            &Op::Copy {
                to,
                from,
                size_bytes,
                ..
            } => {
                let (to, from) = (frame.get(to)?, frame.get(from)?);
                let size = frame.get(size_bytes)?;
                let bytes = self.slice(from, size)?.to_vec();
                self.slice(to, size)?.copy_from_slice(&bytes);
                let bytes = bytes.iter().map(|&byte| byte.into()).collect();
                self.events.push(Event::Write(Location::Address(to), bytes));
                Ok(())
            }
            Op::Atomic {
                op, place, values, ..
            } => {
                let typed = values.first().or(data.results.first());
                let ty = match (op, typed) {
                    (AtomicOp::FlagClear | AtomicOp::FlagTestAndSet, _) => Type::I32,
                    (_, Some(&value)) => function.ty(value),
                    (_, None) => return Err(Trap::Undefined(data.op.to_string())),
                };
                let values = frame.all(values)?;
                let old = self.atomic(frame, *op, *place, ty, &values)?;
                match data.results.first() {
                    None => Ok(()),
                    Some(_) => frame.set_all(&data.results, &[old]),
                }
            }
            _ => Err(Trap::Unsupported(data.op.to_string())),
        }
    }

    /// A result, or what stands for one that the operation leaves undefined; `None` if that is a trap.
    fn defined(&self, found: Option<u64>, mask: u64) -> Option<u64> {
        found.or(self.is_lenient.then_some(self.undefined & mask))
    }

    /// The address of a private variable, which has memory from its first use on.
    fn variable(&mut self, frame: &mut Frame, id: VariableId) -> u64 {
        if let Some(&address) = frame.variables.get(&id.0) {
            return address;
        }
        let size = frame.function.variables[id.index()].size_bytes as usize;
        let address = self.allocate(&vec![self.undefined as u8; size]);
        frame.variables.insert(id.0, address);
        address
    }

    /// What a work-item sees of an input: alone, it is the first of its only group.
    fn input(&self, input: BuiltIn) -> u32 {
        let alone = match input {
            BuiltIn::NumWorkgroups(_) | BuiltIn::SubgroupSize | BuiltIn::NumSubgroups => 1,
            BuiltIn::LocalInvocationId(_)
            | BuiltIn::WorkgroupId(_)
            | BuiltIn::SubgroupId
            | BuiltIn::SubgroupLocalInvocationId => 0,
        };
        self.inputs.get(&input).copied().unwrap_or(alone)
    }

    fn global(&mut self, id: GlobalId) -> u64 {
        if let Some(&address) = self.globals.get(&id) {
            return address;
        }
        let module = self.module;
        let global = module.global(id);
        let bytes = match &global.initializer {
            Some(bytes) => bytes.to_vec(),
            None => vec![0; global.size_bytes as usize],
        };
        let address = self.allocate(&bytes);
        self.globals.insert(id, address);
        for relocation in global.relocations.iter() {
            let target = self.global(relocation.target);
            let target = target.wrapping_add_signed(relocation.addend);
            let at = (address + relocation.offset_bytes) as usize;
            self.memory[at..at + 8].copy_from_slice(&target.to_le_bytes());
        }
        address
    }

    fn slice(&mut self, address: u64, size: u64) -> Result<&mut [u8], Trap> {
        let start = usize::try_from(address).ok();
        let end = address
            .checked_add(size)
            .and_then(|end| usize::try_from(end).ok());
        match (start, end) {
            (Some(start), Some(end)) if start >= FIRST_ADDRESS && end <= self.memory.len() => {
                self.touched.push(address..address + size);
                Ok(&mut self.memory[start..end])
            }
            _ => Err(Trap::OutOfBounds(format!("{size} bytes at {address:#x}"))),
        }
    }

    fn check_alignment(frame: &Frame, place: Place, align_bytes: u32) -> Result<(), Trap> {
        match Self::address(frame, place)? {
            Some(address) if address % u64::from(align_bytes) != 0 => Err(Trap::Misaligned(
                format!("{address:#x} for {align_bytes} bytes"),
            )),
            _ => Ok(()),
        }
    }

    /// The address that a place names, or `None` where it names none.
    fn address(frame: &Frame, place: Place) -> Result<Option<u64>, Trap> {
        Ok(match place {
            Place::Pointer(value) | Place::Address(value) => Some(frame.get(value)?),
            Place::AddressPair { lo, hi } => Some(frame.get(lo)? | frame.get(hi)? << 32),
            Place::Indexed {
                base,
                index,
                stride_bytes,
            } => {
                let index = i64::from(frame.get(index)? as i32);
                let offset = index.wrapping_mul(stride_bytes.into());
                Some(frame.get(base)?.wrapping_add_signed(offset))
            }
            Place::Element { .. } | Place::Argument { .. } | Place::Uniform { .. } => None,
        })
    }

    fn element(&mut self, frame: &Frame, array: ArrayId, index: Value) -> Result<u32, Trap> {
        let data = self.module.array(array);
        let extra: u32 = data
            .length
            .spec_ids
            .iter()
            .map(|id| self.spec_constants.get(id).copied().unwrap_or(1))
            .sum();
        let length = (data.length.elements + extra) as usize;
        let fill = self.undefined & data.element.mask();
        self.arrays
            .entry(array)
            .or_insert_with(|| vec![fill; length]);
        Ok(frame.get(index)? as u32)
    }

    fn load(&mut self, frame: &Frame, place: Place, types: &[Type]) -> Result<Vec<u64>, Trap> {
        if let Some(mut address) = Self::address(frame, place)? {
            let mut values = Vec::new();
            for ty in types {
                let bytes = self.slice(address, ty.size_bytes().into())?;
                values.push(from_bytes(bytes) & ty.mask());
                address += u64::from(ty.size_bytes());
            }
            return Ok(values);
        }
        match place {
            Place::Element { array, index } => {
                let first = self.element(frame, array, index)? as usize;
                let elements = self.arrays[&array].get(first..first + types.len());
                elements
                    .map(<[u64]>::to_vec)
                    .ok_or_else(|| Trap::OutOfBounds(format!("{array}[{first}]")))
            }
            Place::Argument { offset_bytes } => {
                let start = offset_bytes as usize;
                // Words, or one 64-bit number.
                let size = types.first().map_or(4, |ty| ty.size_bytes() as usize);
                let bytes = self.arguments.get(start..start + size * types.len());
                let bytes =
                    bytes.ok_or_else(|| Trap::OutOfBounds(format!("argument {offset_bytes}")))?;
                Ok(bytes.chunks_exact(size).map(from_bytes).collect())
            }
            Place::Uniform { index } => {
                let index = frame.get(index)? as usize;
                let size = types.first().map_or(4, |ty| ty.size_bytes() as usize);
                let bytes = self.uniforms.get(index * size..(index + 1) * size);
                let bytes = bytes.ok_or_else(|| Trap::OutOfBounds(format!("uniform {index}")))?;
                Ok(vec![from_bytes(bytes)])
            }
            _ => Err(Trap::Unsupported(place.to_string())),
        }
    }

    fn store(
        &mut self,
        frame: &Frame,
        place: Place,
        types: &[Type],
        values: &[u64],
    ) -> Result<(), Trap> {
        if let Some(first) = Self::address(frame, place)? {
            let mut address = first;
            for (ty, value) in types.iter().zip(values) {
                let size = ty.size_bytes();
                let bytes = self.slice(address, size.into())?;
                bytes.copy_from_slice(&value.to_le_bytes()[..size as usize]);
                address += u64::from(size);
            }
            let location = Location::Address(first);
            self.events.push(Event::Write(location, values.to_vec()));
            return Ok(());
        }
        let Place::Element { array, index } = place else {
            return Err(Trap::Unsupported(place.to_string()));
        };
        let index = self.element(frame, array, index)?;
        let first = index as usize;
        let elements = self.arrays.get_mut(&array);
        let elements = elements.and_then(|all| all.get_mut(first..first + values.len()));
        elements
            .ok_or_else(|| Trap::OutOfBounds(format!("{array}[{first}]")))?
            .copy_from_slice(values);
        let location = Location::Element(array, index);
        self.events.push(Event::Write(location, values.to_vec()));
        Ok(())
    }

    fn atomic(
        &mut self,
        frame: &Frame,
        op: AtomicOp,
        place: Place,
        ty: Type,
        values: &[u64],
    ) -> Result<u64, Trap> {
        use crate::compiler::ir::Binary;
        let old = self.load(frame, place, &[ty])?[0];
        let undefined = || Trap::Undefined(format!("{op:?}"));
        let arithmetic = match op {
            AtomicOp::Add => Some(Binary::Add),
            AtomicOp::Sub => Some(Binary::Sub),
            AtomicOp::UMin => Some(Binary::UMin),
            AtomicOp::UMax => Some(Binary::UMax),
            AtomicOp::SMin => Some(Binary::SMin),
            AtomicOp::SMax => Some(Binary::SMax),
            AtomicOp::And => Some(Binary::And),
            AtomicOp::Or => Some(Binary::Or),
            AtomicOp::Xor => Some(Binary::Xor),
            AtomicOp::FAdd => Some(Binary::FAdd),
            AtomicOp::FMin => Some(Binary::FMin),
            AtomicOp::FMax => Some(Binary::FMax),
            _ => None,
        };
        let operand = values.first().copied().ok_or_else(undefined);
        let new = match (arithmetic, op) {
            (Some(binary), _) => {
                evaluate::binary(binary, ty, old, operand?).ok_or_else(undefined)?
            }
            (_, AtomicOp::Load) => return Ok(old),
            (_, AtomicOp::CompareExchange) => match values.get(1) {
                Some(&comparator) if comparator == old => operand?,
                _ => return Ok(old),
            },
            (_, AtomicOp::FlagTestAndSet) => 1,
            (_, AtomicOp::FlagClear) => 0,
            _ => operand?,
        };
        self.store(frame, place, &[ty], &[new])?;
        Ok(match op {
            AtomicOp::FlagTestAndSet => (old != 0).into(),
            _ => old,
        })
    }
}

/// The lower and the upper half of a product.
fn mul_extended(signed: bool, ty: Type, x: u64, y: u64) -> [u64; 2] {
    let product = if signed {
        let x = i128::from(evaluate::signed(ty, x));
        (x * i128::from(evaluate::signed(ty, y))) as u128
    } else {
        u128::from(x) * u128::from(y)
    };
    [product, product >> ty.bits()].map(|half| half as u64 & ty.mask())
}

/// The dot product of two vectors of bytes, one behind the other in `values`.
fn dot_product(signed: [bool; 2], format: DotFormat, values: &[u64]) -> i64 {
    let bytes: Vec<u8> = match format {
        DotFormat::Packed4x8 => values
            .iter()
            .flat_map(|&word| (word as u32).to_le_bytes())
            .collect(),
        DotFormat::Components => values.iter().map(|&byte| byte as u8).collect(),
    };
    let value = |signed: bool, byte: u8| {
        if signed {
            i64::from(byte as i8)
        } else {
            i64::from(byte)
        }
    };
    let (x, y) = bytes.split_at(bytes.len() / 2);
    let products = x.iter().zip(y);
    products
        .map(|(&x, &y)| value(signed[0], x) * value(signed[1], y))
        .sum()
}

/// A number of up to eight bytes, the lowest first.
fn from_bytes(bytes: &[u8]) -> u64 {
    let all = bytes.iter().rev();
    all.fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// A call under way.
struct Frame<'a> {
    function: &'a Function,
    values: Vec<Option<u64>>,
    /// Addresses of variables by number.
    variables: HashMap<u32, u64>,
}

impl Frame<'_> {
    fn get(&self, value: Value) -> Result<u64, Trap> {
        let found = self.values.get(value.index()).copied().flatten();
        found.ok_or_else(|| Trap::Undefined(format!("{value} is used before its definition")))
    }

    fn all(&self, values: &[Value]) -> Result<Vec<u64>, Trap> {
        values.iter().map(|&value| self.get(value)).collect()
    }

    fn set(&mut self, value: Value, bits: u64) {
        self.values[value.index()] = Some(bits);
    }

    fn set_all(&mut self, values: &[Value], bits: &[u64]) -> Result<(), Trap> {
        if values.len() != bits.len() {
            let (left, right) = (values.len(), bits.len());
            return Err(Trap::Undefined(format!(
                "{right} values for {left} results"
            )));
        }
        for (&value, &bits) in values.iter().zip(bits) {
            self.set(value, bits);
        }
        Ok(())
    }

    /// Assigns the parameters of the edge's target, all at once.
    fn take(&mut self, edge: &Edge) -> Result<(), Trap> {
        let bits = self.all(&edge.args)?;
        let params = &self.function.block(edge.block).params;
        self.set_all(params, &bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Access, Binary, Builder, Compare};
    use smallvec::smallvec;

    #[test]
    fn a_loop_sums_memory() {
        let mut f = Function::new("sum");
        let entry = f.entry();
        let pointer = f.add_param(entry, Type::I64);
        let count = f.add_param(entry, Type::I32);
        let header = f.add_block();
        let body = f.add_block();
        let exit = f.add_block();
        let [index, sum] = [0; 2].map(|_| f.add_param(header, Type::I32));
        let mut b = Builder::new(&mut f, entry);
        let zero = b.i32(0);
        b.jump(Edge::new(header, [zero, zero]));
        b.switch_to(header);
        let more = b.compare(Compare::ULess, index, count);
        b.branch(more, body, exit);
        b.switch_to(body);
        let wide = b.resize_int(index, Type::I64, false);
        let offset = b.binary_const(Binary::Shl, wide, 2);
        let address = b.binary(Binary::Add, pointer, offset);
        let access = Access::aligned(4);
        let element = b.load1(Place::Address(address), Type::I32, access);
        let next_sum = b.binary(Binary::Add, sum, element);
        let next = b.binary_const(Binary::Add, index, 1);
        b.jump(Edge::new(header, [next, next_sum]));
        b.switch_to(exit);
        b.store1(Place::Address(pointer), sum, access);
        b.terminate(Terminator::Return(smallvec![sum]));

        let mut module = Module::default();
        let id = module.add_function(f);
        let mut interpreter = Interpreter::new(&module);
        let address = interpreter.allocate(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(interpreter.run(id, &[address, 3]), Ok(vec![6]));
        assert_eq!(interpreter.bytes(address, 4), [6, 0, 0, 0]);
        let write = Event::Write(Location::Address(address), vec![6]);
        assert_eq!(interpreter.events, [write]);
        interpreter.steps = 100;
        assert!(matches!(
            interpreter.run(id, &[address, 4]),
            Err(Trap::OutOfBounds(_))
        ));
        interpreter.steps = 10;
        assert_eq!(interpreter.run(id, &[address, 3]), Err(Trap::Steps));
    }
}
