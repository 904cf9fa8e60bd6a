//! Types of the source module: their OpenCL memory layout, and the scalars that values of them become.

use super::decode::{Id, Instruction};
use super::decorations::Decorations;
use super::slot::{Layout, Slot};
use super::{image_types, narrow_integers};
use crate::compiler::CompileError;
use crate::compiler::ir::{AddressSpace, Type};
use crate::compiler::program::{AccessQualifier, ImageType};
use rspirv::spirv::{Decoration, Op, StorageClass};
use std::collections::HashMap;
use std::rc::Rc;

/// A value of more scalars than this is refused: larger aggregates are copied in memory, not held in values.
pub(super) const MAX_SCALARS: usize = 1 << 14;

/// The bound for all types together.
const MAX_LISTED_SLOTS: usize = 1 << 21;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Space(AddressSpace),
    /// Built-in inputs: their variables are not memory.
    Input,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Void,
    Scalar(Type),
    /// An integer of a width of its own, and the integer that holds it.
    Integer(u32, Type),
    Event,
    /// `reserve_id_t`
    ReserveId,
    /// A pipe's device address.
    Pipe(AccessQualifier),
    Image(ImageType),
    Sampler,
    /// An image and a sampler.
    SampledImage(ImageType),
    Vector {
        element: Id,
        count: u32,
    },
    Array {
        element: Id,
        count: u64,
    },
    Struct {
        members: Vec<Id>,
        offsets: Vec<u64>,
        /// `CPacked`: neither holes nor alignment.
        packed: bool,
    },
    /// The pointee is only missing in pointers to what is declared later.
    Pointer {
        storage: Storage,
        pointee: Id,
    },
    Function {
        result: Id,
        parameters: Vec<Id>,
    },
    /// Known by name only: the instruction that declared it.
    Opaque(String),
}

/// A type of the source module.
#[derive(Clone, Debug)]
pub(super) struct TypeData {
    pub kind: Kind,
    /// Absent for what memory can't hold.
    pub layout: Option<Layout>,
    /// Absent for what values can't hold, or that is too large for one.
    pub slots: Option<Rc<[Slot]>>,
}

/// Every type of the module.
#[derive(Default)]
pub(super) struct Types {
    by_id: HashMap<Id, Rc<TypeData>>,
    /// Pointers are 32 bits wide in memory: they can't be loaded or stored.
    pub physical32: bool,
    /// Scalars listed for all types so far.
    listed_slots: usize,
    has_other_widths: bool,
}

impl Types {
    /// Whether there are integers of other widths than 8, 16, 32 and 64 bits.
    pub fn has_other_widths(&self) -> bool {
        self.has_other_widths
    }

    pub fn get(&self, id: Id) -> Result<&Rc<TypeData>, CompileError> {
        self.by_id
            .get(&id)
            .ok_or_else(|| CompileError::invalid(format!("{id} is not a type")))
    }

    /// The scalars of a value of a type.
    pub fn slots(&self, id: Id) -> Result<&Rc<[Slot]>, CompileError> {
        let data = self.get(id)?;
        data.slots.as_ref().ok_or_else(|| {
            let is_laid_out = data.layout.is_some();
            match &data.kind {
                Kind::Opaque(name) => {
                    CompileError::unsupported(format!("values of type {name} are not supported"))
                }
                Kind::Array { .. } | Kind::Struct { .. } if is_laid_out => {
                    let most = format!("a value of type {id} has more than {MAX_SCALARS} scalars");
                    CompileError::unsupported(most)
                }
                _ => CompileError::invalid(format!("there are no values of type {id}")),
            }
        })
    }

    /// Whether constants of the types are interchangeable: the same, but for what pointers point to, which
    /// means nothing here and which clang 22 confuses.
    pub fn alike(&self, a: Id, b: Id) -> bool {
        let same_slots = || match (self.slots(a), self.slots(b)) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        };
        a == b || self.same_size(a, b) && same_slots()
    }

    /// Whether the types are one, or pointers into one storage class: clang 22 confuses what pointers point to.
    pub fn interchangeable(&self, a: Id, b: Id) -> bool {
        let storage = |id| self.pointee(id).ok().map(|(storage, _)| storage);
        a == b || storage(a).is_some() && storage(a) == storage(b)
    }

    /// Whether values of the types lie alike in memory.
    pub fn same_size(&self, a: Id, b: Id) -> bool {
        match (self.layout(a), self.layout(b)) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        }
    }

    pub fn layout(&self, id: Id) -> Result<Layout, CompileError> {
        let data = self.get(id)?;
        data.layout
            .ok_or_else(|| CompileError::invalid(format!("type {id} has no size in memory")))
    }

    pub fn is_void(&self, id: Id) -> bool {
        matches!(self.by_id.get(&id).map(|data| &data.kind), Some(Kind::Void))
    }

    /// Number of components of a vector, 1 for everything else.
    pub fn lanes(&self, id: Id) -> Result<u32, CompileError> {
        Ok(match self.get(id)?.kind {
            Kind::Vector { count, .. } => count,
            _ => 1,
        })
    }

    /// The type of a scalar or of the components of a vector.
    pub fn scalar(&self, id: Id) -> Result<Type, CompileError> {
        let data = self.get(id)?;
        match (&data.kind, data.slots.as_deref()) {
            (
                Kind::Scalar(_) | Kind::Integer(..) | Kind::Vector { .. } | Kind::Pointer { .. },
                Some([first, ..]),
            ) => Ok(first.ty),
            _ => Err(CompileError::invalid(format!(
                "type {id} is no scalar or vector"
            ))),
        }
    }

    /// What a pointer type points to.
    pub fn pointee(&self, id: Id) -> Result<(Storage, Id), CompileError> {
        match self.get(id)?.kind {
            Kind::Pointer { storage, pointee } => Ok((storage, pointee)),
            _ => Err(CompileError::invalid(format!(
                "type {id} is not a pointer type"
            ))),
        }
    }

    /// Declares the type that an instruction defines; false if it defines none. `more` are members beyond those of the
    /// instruction, `length` reads the constant that holds an array's length.
    pub fn declare(
        &mut self,
        inst: &Instruction<'_>,
        more: &[Id],
        decorations: &Decorations<'_>,
        length: impl Fn(Id) -> Option<u64>,
    ) -> Result<bool, CompileError> {
        let kind = match inst.op {
            Op::TypeVoid => Kind::Void,
            Op::TypeBool => Kind::Scalar(Type::Bool),
            Op::TypeInt => self.int(inst)?,
            Op::TypeFloat => Kind::Scalar(
                Type::float(inst.word(0)?)
                    .filter(|_| inst.operands.len() == 1)
                    .ok_or_else(|| inst.invalid("floats have 16, 32 or 64 bits"))?,
            ),
            Op::TypeVector => {
                let (element, count) = (inst.id(0)?, inst.word(1)?);
                let element_kind = &self.get(element)?.kind;
                if !matches!(
                    element_kind,
                    Kind::Scalar(_) | Kind::Integer(..) | Kind::Pointer { .. }
                ) {
                    return Err(inst.invalid("the components of a vector are scalars"));
                }
                // clang-22 makes vectors of one component where its optimizer does.
                if !(1..=16).contains(&count) {
                    return Err(inst.invalid(format!("vectors of {count} components do not exist")));
                }
                Kind::Vector { element, count }
            }
            Op::TypeArray => {
                let count = length(inst.id(1)?)
                    .ok_or_else(|| inst.invalid("the length of an array is a constant"))?;
                self.check_is_data(inst, inst.id(0)?)?;
                Kind::Array {
                    element: inst.id(0)?,
                    count,
                }
            }
            Op::TypeStruct => self.structure(inst, more, decorations)?,
            Op::TypePointer => {
                let storage = map_storage(inst.word(0)?)
                    .ok_or_else(|| inst.unsupported("the storage class is not supported"))?;
                Kind::Pointer {
                    storage,
                    pointee: inst.id(1)?,
                }
            }
            Op::TypeFunction => Kind::Function {
                result: inst.id(0)?,
                parameters: inst.ids_from(1).collect(),
            },
            Op::TypeEvent => Kind::Event,
            Op::TypeImage => Kind::Image(image_types::image_type(inst)?),
            Op::TypeSampler => Kind::Sampler,
            Op::TypeSampledImage => match self.get(inst.id(0)?)?.kind {
                Kind::Image(image) => Kind::SampledImage(image),
                _ => return Err(inst.invalid("what is sampled is an image")),
            },
            Op::TypeReserveId => Kind::ReserveId,
            Op::TypePipe => Kind::Pipe(match inst.word(0)? {
                0 => AccessQualifier::ReadOnly,
                1 => AccessQualifier::WriteOnly,
                _ => return Err(inst.invalid("a pipe is read or written")),
            }),
            Op::TypeForwardPointer => return Ok(true),
            Op::TypeOpaque
            | Op::TypeDeviceEvent
            | Op::TypeQueue
            | Op::TypePipeStorage
            | Op::TypeNamedBarrier => Kind::Opaque(format!("Op{:?}", inst.op)),
            _ => return Ok(false),
        };
        let layout = self.lay_out(&kind).map_err(|error| inst.locate(error))?;
        let slots = match self.listed_slots {
            0..MAX_LISTED_SLOTS => self.flatten(&kind).map_err(|error| inst.locate(error))?,
            _ => return Err(inst.unsupported("the module's types have too many members")),
        };
        self.listed_slots += slots.as_ref().map_or(0, |slots| slots.len());
        let data = TypeData {
            kind,
            layout,
            slots,
        };
        if self.by_id.insert(inst.result()?, Rc::new(data)).is_some() {
            return Err(inst.invalid("the id is defined twice"));
        }
        Ok(true)
    }

    fn int(&mut self, inst: &Instruction<'_>) -> Result<Kind, CompileError> {
        let bits = inst.word(0)?;
        if let Some(ty) = Type::int(bits) {
            return Ok(Kind::Scalar(ty));
        }
        let container = narrow_integers::container(bits)
            .ok_or_else(|| inst.invalid("integers have at least one and at most 64 bits"))?;
        self.has_other_widths = true;
        Ok(Kind::Integer(bits, container))
    }

    fn structure(
        &self,
        inst: &Instruction<'_>,
        more: &[Id],
        decorations: &Decorations<'_>,
    ) -> Result<Kind, CompileError> {
        let id = inst.result()?;
        let packed = decorations.has(id, Decoration::CPacked);
        let members: Vec<Id> = inst.ids_from(0).chain(more.iter().copied()).collect();
        let mut offsets = Vec::with_capacity(members.len());
        let mut end = 0u64;
        for (index, &member) in members.iter().enumerate() {
            let layout = match self.get_or_forward_pointer(member) {
                Some(layout) => layout,
                None => self.get(member).map_err(|error| inst.locate(error))?.layout,
            };
            self.check_is_data(inst, member)?;
            // A structure of what memory can't hold has no layout itself; offsets do not matter then.
            let Some(layout) = layout else {
                offsets.push(0);
                continue;
            };
            let align = if packed { 1 } else { layout.align_bytes };
            let offset = match decorations.member_offset(id, index as u32) {
                Some(offset) => offset.into(),
                None => end.next_multiple_of(align.into()),
            };
            offsets.push(offset);
            end = offset
                .checked_add(layout.size_bytes)
                .filter(|&end| end < MAX_TYPE_BYTES)
                .ok_or_else(|| inst.unsupported("the structure is too large"))?;
        }
        Ok(Kind::Struct {
            members,
            offsets,
            packed,
        })
    }

    /// OpenCL C, "Restrictions", b: images, samplers and pipes can't be in arrays and structures, where nobody
    /// could set them.
    fn check_is_data(&self, inst: &Instruction<'_>, part: Id) -> Result<(), CompileError> {
        match self.by_id.get(&part).map(|data| &data.kind) {
            Some(Kind::Image(_) | Kind::Sampler | Kind::SampledImage(_) | Kind::Pipe(_)) => {
                Err(inst.invalid("an array or structure holds an image, a sampler or a pipe"))
            }
            _ => Ok(()),
        }
    }

    /// A member not declared yet can only be a pointer (`OpTypeForwardPointer`).
    fn get_or_forward_pointer(&self, member: Id) -> Option<Option<Layout>> {
        (!self.by_id.contains_key(&member)).then_some(Some(self.pointer_layout()))
    }

    fn pointer_layout(&self) -> Layout {
        let bytes = if self.physical32 { 4 } else { 8 };
        Layout {
            size_bytes: bytes.into(),
            align_bytes: bytes,
        }
    }

    fn lay_out(&self, kind: &Kind) -> Result<Option<Layout>, CompileError> {
        let natural = |bytes: u32| {
            Some(Layout {
                size_bytes: bytes.into(),
                align_bytes: bytes,
            })
        };
        Ok(match kind {
            Kind::Scalar(ty) | Kind::Integer(_, ty) => natural(ty.size_bytes()),
            Kind::Event | Kind::ReserveId | Kind::Pipe(_) => natural(8),
            Kind::Sampler => natural(4),
            Kind::Image(_) => Some(image_types::LAYOUT),
            Kind::Pointer {
                storage: Storage::Input,
                ..
            } => None,
            Kind::Pointer { .. } => Some(self.pointer_layout()),
            Kind::Vector { element, count } => {
                // OpenCL C section 6.4.5: a 3-component vector has the size and alignment of 4.
                let element = self.layout(*element)?.align_bytes;
                natural(element * count.next_power_of_two())
            }
            Kind::Array { element, count } => match self.get(*element)?.layout {
                Some(layout) => Some(Layout {
                    size_bytes: layout
                        .size_bytes
                        .checked_mul(*count)
                        .filter(|&size| size < MAX_TYPE_BYTES)
                        .ok_or_else(|| CompileError::unsupported("the array is too large"))?,
                    align_bytes: layout.align_bytes,
                }),
                None => None,
            },
            Kind::Struct {
                members,
                offsets,
                packed,
            } => {
                let mut all = Layout {
                    size_bytes: 0,
                    align_bytes: 1,
                };
                for (&member, &offset) in members.iter().zip(offsets) {
                    let layout = match self.by_id.get(&member) {
                        Some(data) => data.layout,
                        None => Some(self.pointer_layout()),
                    };
                    let Some(layout) = layout else {
                        return Ok(None);
                    };
                    all.size_bytes = all.size_bytes.max(offset + layout.size_bytes);
                    // A member not at a multiple of its alignment: the structure is packed.
                    if !packed && offset % u64::from(layout.align_bytes) == 0 {
                        all.align_bytes = all.align_bytes.max(layout.align_bytes);
                    }
                }
                all.size_bytes = all.size_bytes.next_multiple_of(all.align_bytes.into());
                Some(all)
            }
            Kind::Void | Kind::Function { .. } | Kind::Opaque(_) | Kind::SampledImage(_) => None,
        })
    }

    fn flatten(&self, kind: &Kind) -> Result<Option<Rc<[Slot]>>, CompileError> {
        let one = |ty| Some(Rc::from([Slot::new(ty, 0)]));
        let repeat = |element: Id, count: u64| -> Result<_, CompileError> {
            let data = self.get(element)?;
            let (Some(slots), Some(layout)) = (&data.slots, data.layout) else {
                return Ok(None);
            };
            let total = (slots.len() as u64).checked_mul(count);
            if total.is_none_or(|total| total > MAX_SCALARS as u64) {
                return Ok(None);
            }
            // In a vector of 3 the components lie at multiples of their own size, too.
            let count = if slots.is_empty() { 0 } else { count };
            Ok(Some(
                (0..count)
                    .flat_map(|index| {
                        let start = index * layout.size_bytes;
                        slots.iter().map(move |slot| Slot {
                            offset_bytes: start + slot.offset_bytes,
                            ..*slot
                        })
                    })
                    .collect(),
            ))
        };
        Ok(match kind {
            Kind::Scalar(ty) => one(*ty),
            Kind::Integer(bits, ty) => Some(Rc::from([Slot {
                bits: *bits,
                ..Slot::new(*ty, 0)
            }])),
            Kind::Event | Kind::ReserveId => one(Type::I64),
            Kind::Pipe(_) => one(Type::Ptr(AddressSpace::Global)),
            Kind::Sampler => one(Type::I32),
            Kind::Image(_) => Some(image_types::slots(false)),
            Kind::SampledImage(_) => Some(image_types::slots(true)),
            Kind::Pointer {
                storage: Storage::Space(space),
                ..
            } => one(Type::Ptr(*space)),
            Kind::Vector { element, count } => repeat(*element, (*count).into())?,
            Kind::Array { element, count } => repeat(*element, *count)?,
            Kind::Struct {
                members, offsets, ..
            } => {
                let mut all = Vec::new();
                for (&member, &offset) in members.iter().zip(offsets) {
                    // Nothing is known of a pointer declared later, not even its space: such structures
                    // are reached through memory only.
                    let Some(slots) = self.by_id.get(&member).and_then(|data| data.slots.as_ref())
                    else {
                        return Ok(None);
                    };
                    if all.len() + slots.len() > MAX_SCALARS {
                        return Ok(None);
                    }
                    all.extend(slots.iter().map(|slot| Slot {
                        offset_bytes: offset + slot.offset_bytes,
                        ..*slot
                    }));
                }
                Some(all.into())
            }
            Kind::Void | Kind::Function { .. } | Kind::Opaque(_) | Kind::Pointer { .. } => None,
        })
    }

    /// The type of part `index` of a composite, and which of the composite's scalars it takes.
    pub fn part(
        &self,
        composite: Id,
        index: u32,
    ) -> Result<(Id, std::ops::Range<usize>), CompileError> {
        let none = || CompileError::invalid(format!("type {composite} has no part {index}"));
        let data = self.get(composite)?;
        let (part, first) = match &data.kind {
            Kind::Vector { element, count } if index < *count => (*element, index as usize),
            Kind::Array { element, count } if u64::from(index) < *count => {
                let slots = self.slots(*element)?.len();
                (
                    *element,
                    slots.checked_mul(index as usize).ok_or_else(none)?,
                )
            }
            Kind::Struct { members, .. } => {
                let index = index as usize;
                let &part = members.get(index).ok_or_else(none)?;
                let mut first = 0;
                for &member in members.iter().take(index) {
                    first += self.slots(member)?.len();
                }
                (part, first)
            }
            _ => return Err(none()),
        };
        Ok((part, first..first + self.slots(part)?.len()))
    }

    /// What arrays, of arrays perhaps, are made of; another type itself.
    pub fn innermost(&self, mut ty: Id) -> Result<Id, CompileError> {
        while let Kind::Array { element, .. } = &self.get(ty)?.kind {
            ty = *element;
        }
        Ok(ty)
    }

    /// The types of a composite's parts: one for each constituent of `OpCompositeConstruct`.
    pub fn part_types(&self, composite: Id) -> Result<Parts, CompileError> {
        Ok(match &self.get(composite)?.kind {
            Kind::Vector { element, count } => Parts::Same(*element, (*count).into()),
            Kind::Array { element, count } => Parts::Same(*element, *count),
            Kind::Struct { members, .. } => Parts::Each(members.clone()),
            _ => {
                let error = format!("type {composite} is not composite");
                return Err(CompileError::invalid(error));
            }
        })
    }
}

/// The types of the parts of a composite.
pub(super) enum Parts {
    Same(Id, u64),
    Each(Vec<Id>),
}

impl Parts {
    pub fn count(&self) -> u64 {
        match self {
            Self::Same(_, count) => *count,
            Self::Each(members) => members.len() as u64,
        }
    }

    pub fn ty(&self, index: usize) -> Option<Id> {
        match self {
            Self::Same(element, count) => ((index as u64) < *count).then_some(*element),
            Self::Each(members) => members.get(index).copied(),
        }
    }
}

/// Types of this size or more do not fit any device.
const MAX_TYPE_BYTES: u64 = 1 << 40;

fn map_storage(class: u32) -> Option<Storage> {
    Some(match StorageClass::from_u32(class)? {
        StorageClass::UniformConstant => Storage::Space(AddressSpace::Constant),
        StorageClass::Workgroup => Storage::Space(AddressSpace::Local),
        StorageClass::CrossWorkgroup
        | StorageClass::DeviceOnlyALTERA
        | StorageClass::HostOnlyALTERA => Storage::Space(AddressSpace::Global),
        StorageClass::Function => Storage::Space(AddressSpace::Private),
        StorageClass::Generic => Storage::Space(AddressSpace::Generic),
        StorageClass::Input => Storage::Input,
        _ => return None,
    })
}
