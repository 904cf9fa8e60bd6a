//! Constants and specialization constants, with the values that the application gave them.

use super::decode::{Id, Instruction};
use super::types::{Kind, Types};
use super::{image_types, narrow_integers};
use crate::compiler::ir::{GlobalId, Relocation, Type};
use crate::compiler::{CompileError, Options};
use rspirv::spirv::Op;
use std::collections::HashMap;

/// One scalar of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Bits(u64),
    Undef,
    /// The address of a module-scope variable, or an integer made of it: as many of its low bits as the
    /// type has.
    Address {
        global: GlobalId,
        addend: i64,
    },
}

#[derive(Clone, Debug)]
pub(super) enum Data {
    Scalar(Scalar),
    Null,
    Undef,
    Composite(Vec<Id>),
    /// All scalars of a computed value.
    Flat(Vec<Scalar>),
}

#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub ty: Id,
    pub data: Data,
}

/// Every constant of the module, with the addresses of variables among them.
#[derive(Default)]
pub(super) struct Constants {
    by_id: HashMap<Id, Constant>,
    /// Scalars held by computed constants.
    flat_scalars: usize,
}

/// The bound for all computed constants together.
const MAX_FLAT_SCALARS: usize = 1 << 22;

/// What a variable holds at first: its bytes, and the addresses in them.
pub(super) type Initializer = (Vec<u8>, Vec<Relocation>);

/// Initializers are refused beyond this size.
pub(super) const MAX_INITIALIZER_BYTES: u64 = 1 << 27;

/// The addresses in them, too, each of which takes more than its bytes.
const MOST_ADDRESSES: usize = 1 << 21;

/// Whether an instruction only goes on with the parts of the one before it (SPV_INTEL_long_composites).
pub(super) fn continues(op: Op) -> bool {
    matches!(
        op,
        Op::TypeStructContinuedINTEL
            | Op::ConstantCompositeContinuedINTEL
            | Op::SpecConstantCompositeContinuedINTEL
    )
}

/// The parts of the first instruction that those after it go on with.
pub(super) fn continued(instructions: &[Instruction<'_>]) -> Result<Vec<Id>, CompileError> {
    let Some((first, rest)) = instructions.split_first() else {
        return Ok(Vec::new());
    };
    let mut ids = Vec::new();
    for inst in rest.iter().take_while(|inst| continues(inst.op)) {
        let fits = match first.op {
            Op::TypeStruct => inst.op == Op::TypeStructContinuedINTEL,
            Op::ConstantComposite => inst.op == Op::ConstantCompositeContinuedINTEL,
            Op::SpecConstantComposite => inst.op == Op::SpecConstantCompositeContinuedINTEL,
            _ => false,
        };
        if !fits {
            return Err(inst.invalid("there is nothing before that it goes on with"));
        }
        ids.extend(inst.ids_from(0));
    }
    Ok(ids)
}

impl Constants {
    pub fn get(&self, id: Id) -> Option<&Constant> {
        self.by_id.get(&id)
    }

    pub fn insert(&mut self, id: Id, constant: Constant) -> Result<(), CompileError> {
        if let Data::Flat(scalars) = &constant.data {
            self.flat_scalars += scalars.len();
            if self.flat_scalars > MAX_FLAT_SCALARS {
                return Err(CompileError::unsupported(
                    "the module's constants are too large",
                ));
            }
        }
        match self.by_id.insert(id, constant) {
            None => Ok(()),
            Some(_) => Err(CompileError::invalid("the id is defined twice")),
        }
    }

    /// The bits of a scalar integer constant.
    pub fn integer(&self, id: Id) -> Option<u64> {
        match self.by_id.get(&id)?.data {
            Data::Scalar(Scalar::Bits(bits)) => Some(bits),
            Data::Null => Some(0),
            _ => None,
        }
    }

    /// Declares the constant that an instruction defines; false if it defines none.
    /// `OpSpecConstantOp` is left to [`super::spec_ops`].
    ///
    /// `more` are parts beyond those of the instruction: [`continued`].
    pub fn declare(
        &mut self,
        inst: &Instruction<'_>,
        more: &[Id],
        types: &Types,
        spec_id: Option<u32>,
        options: &Options,
    ) -> Result<bool, CompileError> {
        let given = || options.specialization.get(&spec_id?).map(Vec::as_slice);
        let boolean = |default| {
            let value = given().map_or(default, |bytes| bytes.iter().any(|&byte| byte != 0));
            Data::Scalar(Scalar::Bits(value.into()))
        };
        let data = match inst.op {
            Op::ConstantTrue => Data::Scalar(Scalar::Bits(1)),
            Op::ConstantFalse => Data::Scalar(Scalar::Bits(0)),
            Op::SpecConstantTrue => boolean(true),
            Op::SpecConstantFalse => boolean(false),
            Op::Constant | Op::SpecConstant => {
                let (ty, width) = match types.get(inst.result_type()?)?.kind {
                    Kind::Scalar(ty) if ty != Type::Bool => (ty, ty.bits()),
                    Kind::Integer(bits, ty) => (ty, bits),
                    _ => return Err(inst.invalid("the type is not a number")),
                };
                let low = u64::from(inst.word(0)?);
                let mut bits = match ty.bits() {
                    64 => low | u64::from(inst.word(1)?) << 32,
                    _ => low,
                };
                if let Some(bytes) = given().filter(|_| inst.op == Op::SpecConstant) {
                    let mut value = [0; 8];
                    for (to, from) in value.iter_mut().zip(bytes) {
                        *to = *from;
                    }
                    bits = u64::from_le_bytes(value);
                }
                Data::Scalar(Scalar::Bits(bits & narrow_integers::mask(width)))
            }
            Op::ConstantSampler => Data::Scalar(Scalar::Bits(image_types::literal_sampler(inst)?)),
            Op::ConstantNull => Data::Null,
            Op::Undef => Data::Undef,
            Op::ConstantComposite | Op::SpecConstantComposite => {
                Data::Composite(self.composite(inst, more, types)?)
            }
            _ => return Ok(false),
        };
        let ty = inst.result_type()?;
        let wants_bool = matches!(
            inst.op,
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse
        );
        if wants_bool && !matches!(types.get(ty)?.kind, Kind::Scalar(Type::Bool)) {
            return Err(inst.invalid("the type is not a boolean"));
        }
        types.get(ty).map_err(|error| inst.locate(error))?;
        self.insert(inst.result()?, Constant { ty, data })
            .map_err(|error| inst.locate(error))?;
        Ok(true)
    }

    fn composite(
        &self,
        inst: &Instruction<'_>,
        more: &[Id],
        types: &Types,
    ) -> Result<Vec<Id>, CompileError> {
        let parts = types
            .part_types(inst.result_type()?)
            .map_err(|error| inst.locate(error))?;
        let ids: Vec<Id> = inst.ids_from(0).chain(more.iter().copied()).collect();
        if ids.len() as u64 != parts.count() {
            return Err(inst.invalid("the number of parts does not match the type"));
        }
        for (index, id) in ids.iter().enumerate() {
            let constant = self
                .get(*id)
                .ok_or_else(|| inst.invalid(format!("{id} is not a constant declared before")))?;
            let same = parts.ty(index).is_some_and(|ty| {
                // clang 22 gives pointers a null of an integer type, which is as null as any.
                let is_null = matches!(constant.data, Data::Null);
                types.alike(ty, constant.ty) || is_null && types.same_size(ty, constant.ty)
            });
            if !same {
                return Err(inst.invalid(format!("{id} has another type than the part it becomes")));
            }
        }
        Ok(ids)
    }

    /// All scalars of a constant, as many as its type has slots.
    pub fn flatten(&self, id: Id, types: &Types) -> Result<Vec<Scalar>, CompileError> {
        let mut all = Vec::new();
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            let constant = self
                .get(id)
                .ok_or_else(|| CompileError::invalid(format!("{id} is not a constant")))?;
            let count = types.slots(constant.ty)?.len();
            if count == 0 {
                continue;
            }
            match &constant.data {
                Data::Scalar(scalar) => all.push(*scalar),
                Data::Null => all.resize(all.len() + count, Scalar::Bits(0)),
                Data::Undef => all.resize(all.len() + count, Scalar::Undef),
                Data::Flat(scalars) => all.extend_from_slice(scalars),
                Data::Composite(parts) => work.extend(parts.iter().rev()),
            }
        }
        Ok(all)
    }

    /// The bytes in memory of a constant and the addresses in them; `None` for all zeros.
    pub fn bytes(&self, id: Id, types: &Types) -> Result<Option<Initializer>, CompileError> {
        let unknown = |id| CompileError::invalid(format!("{id} is not a constant"));
        let constant = self.get(id).ok_or_else(|| unknown(id))?;
        if matches!(constant.data, Data::Null | Data::Undef) {
            return Ok(None);
        }
        let size = types.layout(constant.ty)?.size_bytes;
        if size > MAX_INITIALIZER_BYTES {
            return Err(CompileError::unsupported("the initializer is too large"));
        }
        let mut memory = Memory {
            bytes: zeros(size as usize)?,
            relocations: Vec::new(),
        };
        let mut work = vec![(id, 0u64)];
        while let Some((id, start)) = work.pop() {
            let constant = self.get(id).ok_or_else(|| unknown(id))?;
            let layout = types.layout(constant.ty)?;
            if layout.size_bytes == 0 {
                continue;
            }
            match &constant.data {
                Data::Null | Data::Undef => {}
                Data::Scalar(scalar) => {
                    let ty = types.slots(constant.ty)?.first().map(|slot| slot.ty);
                    memory.write(start, ty, *scalar)?;
                }
                Data::Flat(scalars) => {
                    for (slot, scalar) in types.slots(constant.ty)?.iter().zip(scalars) {
                        memory.write(start + slot.offset_bytes, Some(slot.ty), *scalar)?;
                    }
                }
                Data::Composite(parts) => match &types.get(constant.ty)?.kind {
                    Kind::Struct { offsets, .. } => {
                        let parts = parts.iter().zip(offsets);
                        work.extend(parts.map(|(&part, offset)| (part, start + offset)));
                    }
                    Kind::Vector { element, .. } | Kind::Array { element, .. } => {
                        let stride = types.layout(*element)?.size_bytes;
                        let parts = parts.iter().enumerate();
                        work.extend(parts.map(|(i, &part)| (part, start + i as u64 * stride)));
                    }
                    _ => return Err(unknown(id)),
                },
            }
        }
        memory
            .relocations
            .sort_unstable_by_key(|relocation| relocation.offset_bytes);
        Ok(Some((memory.bytes, memory.relocations)))
    }
}

/// So many bytes, if the host has them.
pub(super) fn zeros(size: usize) -> Result<Vec<u8>, CompileError> {
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(size)
        .map_err(|_| CompileError::unsupported("the host has no memory for the initializer"))?;
    bytes.resize(size, 0);
    Ok(bytes)
}

struct Memory {
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
}

impl Memory {
    fn write(&mut self, at: u64, ty: Option<Type>, scalar: Scalar) -> Result<(), CompileError> {
        let Some(ty) = ty else { return Ok(()) };
        let outside = || CompileError::invalid("the initializer does not fit its type");
        match scalar {
            Scalar::Undef => {}
            Scalar::Bits(bits) => {
                let from = bits.to_le_bytes();
                let size = ty.size_bytes() as usize;
                let at = usize::try_from(at).map_err(|_| outside())?;
                let to = self
                    .bytes
                    .get_mut(at..)
                    .and_then(|rest| rest.get_mut(..size));
                let from = from.get(..size).ok_or_else(outside)?;
                to.ok_or_else(outside)?.copy_from_slice(from);
            }
            Scalar::Address { global, addend } => {
                if self.relocations.len() >= MOST_ADDRESSES {
                    return Err(CompileError::unsupported(
                        "the initializer holds too many addresses",
                    ));
                }
                if ty.bits() != 64 {
                    return Err(CompileError::invalid(
                        "an address is narrowed in an initializer",
                    ));
                }
                self.relocations.push(Relocation {
                    offset_bytes: at,
                    target: global,
                    addend,
                });
            }
        }
        Ok(())
    }
}
