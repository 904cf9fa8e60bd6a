//! Loads and stores of scalars as elements of typed arrays.
//!
//! - A scalar as wide as an element is the element, but for a bitcast.
//! - A wider one is several elements, joined by shifts.
//! - A narrower one, or one that lies across elements, is taken out of them in parts; a store changes only
//!   its bits. Work-items may store to the same element of a workgroup array at once: there the bits are
//!   changed by atomic operations, so that no neighbour is lost.

use super::layout::Layout;
use super::offsets::Offsets;
use crate::compiler::ir::{
    Access, ArrayStorage, AtomicOp, Binary, Builder, Op, Place, Scope, Semantics, Type, Value,
    Values,
};
use crate::compiler::passes::helpers::scalar_bits;
use smallvec::smallvec;

/// Scalars in memory at a pointer into a class.
pub struct Elements<'a> {
    pub layout: &'a Layout,
    pub offsets: &'a mut Offsets,
    pub pointer: Value,
    pub access: Access,
}

impl Elements<'_> {
    /// Loads consecutive scalars, each at the next multiple of its size.
    pub fn load(&mut self, b: &mut Builder<'_>, types: &[Type]) -> Values {
        if self.layout.is_empty() {
            return types.iter().map(|&ty| b.undef(ty)).collect();
        }
        let (offsets, _) = scalar_bits::offsets_of(types.iter().copied());
        if types.iter().all(|&ty| ty == types[0]) && self.is_whole(0, types[0]) {
            let index = self.index(b, 0);
            let count = types.len() * self.pieces(types[0]);
            let elements = self.load_elements(b, index, count, self.align_at(0));
            let pieces = elements.chunks(self.pieces(types[0]));
            return pieces
                .map(|pieces| self.assemble(b, pieces, types[0]))
                .collect();
        }
        let places = offsets.into_iter().zip(types);
        places
            .map(|(offset, &ty)| {
                if self.is_whole(offset, ty) {
                    let index = self.index(b, offset);
                    let align = self.align_at(offset);
                    let elements = self.load_elements(b, index, self.pieces(ty), align);
                    return self.assemble(b, &elements, ty);
                }
                let part = self.part_type(offset, ty);
                let parts: Vec<(u32, Value)> = (0..ty.size_bytes() / part.size_bytes())
                    .map(|part_index| part_index * part.size_bytes())
                    .map(|within| (within, self.load_part(b, offset + within, part)))
                    .collect();
                let int = scalar_bits::join(b, &parts, scalar_bits::memory_int(ty));
                scalar_bits::from_int(b, int, ty)
            })
            .collect()
    }

    /// Stores consecutive scalars, each at the next multiple of its size.
    pub fn store(&mut self, b: &mut Builder<'_>, values: &[Value]) {
        if self.layout.is_empty() {
            return;
        }
        let types: Vec<Type> = values.iter().map(|&v| b.ty(v)).collect();
        let (offsets, _) = scalar_bits::offsets_of(types.iter().copied());
        if types.iter().all(|&ty| ty == types[0]) && self.is_whole(0, types[0]) {
            let index = self.index(b, 0);
            let elements = values
                .iter()
                .flat_map(|&value| self.take_apart(b, value))
                .collect();
            self.store_elements(b, index, elements, self.align_at(0));
            return;
        }
        for ((offset, &value), ty) in offsets.into_iter().zip(values).zip(types) {
            if self.is_whole(offset, ty) {
                let index = self.index(b, offset);
                let elements = self.take_apart(b, value);
                self.store_elements(b, index, elements, self.align_at(offset));
                continue;
            }
            let part = self.part_type(offset, ty);
            let int = scalar_bits::to_int(b, value);
            for part_index in 0..ty.size_bytes() / part.size_bytes() {
                let within = part_index * part.size_bytes();
                let bits = scalar_bits::extract(b, int, within, part);
                self.store_part(b, offset + within, bits);
            }
        }
    }

    /// The element at a pointer, for an atomic operation on a scalar of the element's size.
    pub fn place(&mut self, b: &mut Builder<'_>) -> Place {
        let index = self.index(b, 0);
        Place::Element {
            array: self.layout.array,
            index,
        }
    }

    /// The element around a pointer, and the position in it in bits, for an atomic operation on less.
    pub fn part(&mut self, b: &mut Builder<'_>) -> (Place, Value) {
        let (index, bit) = self.within(b, 0);
        let array = self.layout.array;
        (Place::Element { array, index }, bit)
    }

    /// Whether a scalar `offset` bytes behind the pointer is made of whole elements.
    fn is_whole(&self, offset: u32, ty: Type) -> bool {
        let stride = self.layout.stride_bytes;
        self.align_at(offset) >= stride && ty.size_bytes() >= stride
    }

    fn align_at(&self, offset: u32) -> u32 {
        match offset {
            0 => self.access.align_bytes,
            _ => self.access.align_bytes.min(1 << offset.trailing_zeros()),
        }
    }

    /// Elements in a scalar that is made of whole ones.
    fn pieces(&self, ty: Type) -> usize {
        (ty.size_bytes() / self.layout.stride_bytes) as usize
    }

    /// The integer type of the parts of a scalar that lie within one element each.
    fn part_type(&self, offset: u32, ty: Type) -> Type {
        match self.align_at(offset).min(ty.size_bytes()) {
            1 => Type::I8,
            2 => Type::I16,
            4 => Type::I32,
            _ => Type::I64,
        }
    }

    fn index(&mut self, b: &mut Builder<'_>, offset: u32) -> Value {
        let stride = self.layout.stride_bytes;
        let index = self.offsets.index(b, self.pointer, stride);
        match offset / stride {
            0 => index,
            by => {
                let by = b.i32(by);
                b.op1(Op::Binary(Binary::Add, index, by), Type::I32)
            }
        }
    }

    /// An access to elements of which the first stands for memory aligned to `align_bytes`.
    fn element_access(&self, align_bytes: u32) -> Access {
        let elements = (align_bytes / self.layout.stride_bytes).max(1);
        Access {
            align_bytes: elements.saturating_mul(self.layout.element.size_bytes()),
            ..self.access
        }
    }

    fn load_elements(
        &self,
        b: &mut Builder<'_>,
        index: Value,
        count: usize,
        align_bytes: u32,
    ) -> Values {
        let place = Place::Element {
            array: self.layout.array,
            index,
        };
        let access = self.element_access(align_bytes);
        b.load(place, self.layout.element, count, access)
    }

    fn store_elements(
        &self,
        b: &mut Builder<'_>,
        index: Value,
        elements: Values,
        align_bytes: u32,
    ) {
        let place = Place::Element {
            array: self.layout.array,
            index,
        };
        b.store(place, elements, self.element_access(align_bytes));
    }

    fn assemble(&self, b: &mut Builder<'_>, elements: &[Value], ty: Type) -> Value {
        if self.layout.element == ty && self.layout.stride_bytes == ty.size_bytes() {
            return elements[0];
        }
        let stride = self.layout.stride_bytes;
        let piece = int_of(stride);
        let pieces: Vec<(u32, Value)> = (0..)
            .zip(elements)
            .map(|(position, &element)| {
                let int = scalar_bits::to_int(b, element);
                (position * stride, b.resize_int(int, piece, false))
            })
            .collect();
        let int = match pieces.as_slice() {
            [(_, only)] => *only,
            pieces => scalar_bits::join(b, pieces, scalar_bits::memory_int(ty)),
        };
        scalar_bits::from_int(b, int, ty)
    }

    fn take_apart(&self, b: &mut Builder<'_>, value: Value) -> Values {
        let ty = b.ty(value);
        let (element, stride) = (self.layout.element, self.layout.stride_bytes);
        if element == ty && stride == ty.size_bytes() {
            return smallvec![value];
        }
        let int = scalar_bits::to_int(b, value);
        (0..ty.size_bytes() / stride)
            .map(|position| {
                let piece = scalar_bits::extract(b, int, position * stride, int_of(stride));
                let piece = b.resize_int(piece, scalar_bits::memory_int(element), false);
                scalar_bits::from_int(b, piece, element)
            })
            .collect()
    }

    /// Index of the element around a byte, and the position of the byte in it in bits.
    fn within(&mut self, b: &mut Builder<'_>, offset: u32) -> (Value, Value) {
        let stride = self.layout.stride_bytes;
        let mut byte = self.offsets.index(b, self.pointer, 1);
        if offset > 0 {
            let by = b.i32(offset);
            byte = b.op1(Op::Binary(Binary::Add, byte, by), Type::I32);
        }
        let [shift, mask, three] = [stride.trailing_zeros(), stride - 1, 3].map(|n| b.i32(n));
        let index = b.op1(Op::Binary(Binary::LShr, byte, shift), Type::I32);
        let byte = b.op1(Op::Binary(Binary::And, byte, mask), Type::I32);
        let bit = b.binary(Binary::Shl, byte, three);
        (index, bit)
    }

    fn load_part(&mut self, b: &mut Builder<'_>, offset: u32, part: Type) -> Value {
        let (index, bit) = self.within(b, offset);
        let element = self.load_elements(b, index, 1, 1)[0];
        let int = scalar_bits::to_int(b, element);
        let shifted = b.binary(Binary::LShr, int, bit);
        b.resize_int(shifted, part, false)
    }

    fn store_part(&mut self, b: &mut Builder<'_>, offset: u32, bits: Value) {
        let (index, bit) = self.within(b, offset);
        let element = self.layout.element;
        let int = scalar_bits::memory_int(element);
        let mask = b.constant(int, b.ty(bits).mask());
        let mask = b.binary(Binary::Shl, mask, bit);
        let keep = b.unary(crate::compiler::ir::Unary::Not, mask);
        let bits = b.resize_int(bits, int, false);
        let bits = b.binary(Binary::Shl, bits, bit);
        match self.layout.storage {
            ArrayStorage::Private => {
                let old = self.load_elements(b, index, 1, 1)[0];
                let old = scalar_bits::to_int(b, old);
                let kept = b.binary(Binary::And, old, keep);
                let new = b.binary(Binary::Or, kept, bits);
                let new = scalar_bits::from_int(b, new, element);
                self.store_elements(b, index, smallvec![new], 1);
            }
            ArrayStorage::Workgroup => {
                // In this order nothing changes where the value is there already: see `legalize::memory`.
                let keep = b.binary(Binary::Or, keep, bits);
                for (op, value) in [(AtomicOp::Or, bits), (AtomicOp::And, keep)] {
                    let array = self.layout.array;
                    let place = Place::Element { array, index };
                    let atomic = Op::Atomic {
                        op,
                        place,
                        values: smallvec![value],
                        scope: Scope::Workgroup,
                        semantics: Semantics(0),
                    };
                    b.op1(atomic, int);
                }
            }
        }
    }
}

fn int_of(bytes: u32) -> Type {
    match bytes {
        1 => Type::I8,
        2 => Type::I16,
        4 => Type::I32,
        _ => Type::I64,
    }
}
