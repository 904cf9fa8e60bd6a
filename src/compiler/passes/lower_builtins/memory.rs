//! Vector loads and stores (OpenCL C section 6.15.8), shuffles, and `prefetch`.

use super::lower::{Lower, Lowered, Std};
use crate::compiler::ir::{Access, Binary, Compare, Convert, Place, Rounding, Type, Value, Values};

impl Lower<'_, '_> {
    /// Lowers an instruction on memory or on whole vectors; `None` if it is none.
    ///
    /// Stores with a rounding mode have its number (SPIR-V `FP Rounding Mode`) as their last argument.
    pub fn memory(&mut self, op: Std, args: &[Value], types: &[Type]) -> Lowered {
        use Std::*;
        Ok(match (op, args) {
            (prefetch, _) => Some(Values::new()),
            (vloadn, &[offset, pointer]) => Some(self.vload(offset, pointer, types)),
            (vload_half | vload_halfn, &[offset, pointer]) => {
                Some(self.vload_half(offset, pointer, types, types.len(), 2))
            }
            (vloada_halfn, &[offset, pointer]) => {
                let stride = types.len().next_power_of_two();
                Some(self.vload_half(offset, pointer, types, stride, 2 * stride as u32))
            }
            (vstoren | vstore_half | vstore_halfn | vstorea_halfn, _) => {
                self.vstore(op, args, None)
            }
            (vstore_half_r | vstore_halfn_r | vstorea_halfn_r, [args @ .., mode]) => {
                let mode = match self.b.function.constant(*mode) {
                    Some(0) => Rounding::Rte,
                    Some(1) => Rounding::Rtz,
                    Some(2) => Rounding::Rtp,
                    Some(3) => Rounding::Rtn,
                    _ => return Ok(None),
                };
                self.vstore(op, args, Some(mode))
            }
            (shuffle | shuffle2, _) => self.shuffle(args, types),
            _ => None,
        })
    }

    /// `pointer` plus `offset` times `stride_bytes`.
    fn element(&mut self, pointer: Value, offset: Value, stride_bytes: usize) -> Place {
        let bytes = self.binary_const(Binary::Mul, offset, stride_bytes as u64);
        Place::Pointer(self.b.ptr_add(pointer, bytes))
    }

    fn vload(&mut self, offset: Value, pointer: Value, types: &[Type]) -> Values {
        let Some(&ty) = types.first() else {
            return Values::new();
        };
        let size = ty.size_bytes();
        let place = self.element(pointer, offset, size as usize * types.len());
        self.b.load(place, ty, types.len(), Access::aligned(size))
    }

    fn vload_half(
        &mut self,
        offset: Value,
        pointer: Value,
        types: &[Type],
        stride: usize,
        align_bytes: u32,
    ) -> Values {
        let place = self.element(pointer, offset, 2 * stride);
        let access = Access::aligned(align_bytes);
        let halves = self.b.load(place, Type::I16, types.len(), access);
        halves
            .iter()
            .zip(types)
            .map(|(bits, ty)| {
                let half = self.b.bitcast(*bits, Type::F16);
                self.float_to(half, *ty)
            })
            .collect()
    }

    fn vstore(&mut self, op: Std, args: &[Value], rounding: Option<Rounding>) -> Option<Values> {
        use Std::*;
        let [lanes @ .., offset, pointer] = args else {
            return None;
        };
        let count = lanes.len();
        let size = self.b.ty(*lanes.first()?).size_bytes();
        if op == vstoren {
            let place = self.element(*pointer, *offset, size as usize * count);
            let lanes = Values::from_slice(lanes);
            self.b.store(place, lanes, Access::aligned(size));
            return Some(Values::new());
        }
        let aligned = matches!(op, vstorea_halfn | vstorea_halfn_r);
        let stride = if aligned {
            count.next_power_of_two()
        } else {
            count
        };
        let align_bytes = if aligned { 2 * stride as u32 } else { 2 };
        let halves = lanes
            .iter()
            .map(|lane| {
                let convert = Convert::FloatToFloat(rounding);
                let half = self.b.convert(convert, *lane, Type::F16);
                self.b.bitcast(half, Type::I16)
            })
            .collect();
        let place = self.element(*pointer, *offset, 2 * stride);
        self.b.store(place, halves, Access::aligned(align_bytes));
        Some(Values::new())
    }

    /// Operands: the components of one vector, or of two equally long ones, then the mask, as many as there
    /// are results. Only the bits of a mask element that can name a component count.
    fn shuffle(&mut self, args: &[Value], types: &[Type]) -> Option<Values> {
        let (components, mask) = args.split_at_checked(args.len().checked_sub(types.len())?)?;
        // Three components are numbered like four.
        let (&last, size) = (components.last()?, components.len().next_power_of_two());
        let mut results = Values::new();
        for &lane in mask {
            let index = self.binary_const(Binary::And, lane, size as u64 - 1);
            let mut value = last;
            for (number, &component) in components.iter().enumerate().rev().skip(1) {
                let chosen = self.compare_const(Compare::Equal, index, number as u64);
                value = self.select(chosen, component, value);
            }
            results.push(value);
        }
        Some(results)
    }
}
