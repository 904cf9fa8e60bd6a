//! Appends instructions to a block.

use super::{
    Access, Binary, Block, Compare, Convert, Edge, Function, Inst, InstFlags, Op, Place,
    Terminator, Type, Unary, Value, Values,
};
use smallvec::smallvec;

/// A position at the end of a block of a function.
pub struct Builder<'a> {
    pub function: &'a mut Function,
    block: Block,
    /// Flags given to what is built next.
    pub flags: InstFlags,
}

impl<'a> Builder<'a> {
    pub fn new(function: &'a mut Function, block: Block) -> Self {
        Self {
            function,
            block,
            flags: InstFlags::default(),
        }
    }

    /// The block that instructions are appended to.
    pub fn block(&self) -> Block {
        self.block
    }

    /// Goes on at the end of another block.
    pub fn switch_to(&mut self, block: Block) {
        self.block = block;
    }

    pub fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// Appends an existing instruction.
    pub fn push(&mut self, inst: Inst) {
        self.function.block_mut(self.block).insts.push(inst);
    }

    /// Appends an operation with any number of results.
    pub fn op(&mut self, op: Op, result_types: impl IntoIterator<Item = Type>) -> Values {
        let inst = self.function.make_inst(op, result_types, self.flags);
        self.push(inst);
        self.function.inst(inst).results.clone()
    }

    /// Appends an operation with one result.
    pub fn op1(&mut self, op: Op, ty: Type) -> Value {
        self.op(op, [ty])[0]
    }

    /// Appends an operation without results.
    pub fn op0(&mut self, op: Op) {
        self.op(op, []);
    }

    /// A constant; bits beyond the type's width are dropped.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.op1(Op::Const(bits & ty.mask()), ty)
    }

    pub fn i32(&mut self, value: u32) -> Value {
        self.constant(Type::I32, value.into())
    }

    pub fn i64(&mut self, value: u64) -> Value {
        self.constant(Type::I64, value)
    }

    pub fn bool(&mut self, value: bool) -> Value {
        self.constant(Type::Bool, value.into())
    }

    pub fn f32(&mut self, value: f32) -> Value {
        self.constant(Type::F32, value.to_bits().into())
    }

    pub fn undef(&mut self, ty: Type) -> Value {
        self.op1(Op::Undef, ty)
    }

    pub fn unary(&mut self, op: Unary, a: Value) -> Value {
        use Unary::*;
        let ty = match op {
            IsNan | IsInf | IsFinite | IsNormal | SignBitSet => Type::Bool,
            Negate | Not | FNegate | BitCount | BitReverse => self.ty(a),
        };
        self.op1(Op::Unary(op, a), ty)
    }

    pub fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.op1(Op::Binary(op, a, b), ty)
    }

    /// A binary operation whose second operand is a constant of the first's type.
    pub fn binary_const(&mut self, op: Binary, a: Value, bits: u64) -> Value {
        let ty = self.ty(a);
        let b = self.constant(ty, bits);
        self.binary(op, a, b)
    }

    pub fn compare(&mut self, op: Compare, a: Value, b: Value) -> Value {
        self.op1(Op::Compare(op, a, b), Type::Bool)
    }

    pub fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.op1(Op::Select(condition, a, b), ty)
    }

    pub fn convert(&mut self, op: Convert, a: Value, ty: Type) -> Value {
        self.op1(Op::Convert(op, a), ty)
    }

    /// Same bits in another type of the same width; nothing when the types are equal.
    pub fn bitcast(&mut self, a: Value, ty: Type) -> Value {
        if self.ty(a) == ty {
            return a;
        }
        self.convert(Convert::Bitcast, a, ty)
    }

    /// An integer of another width: truncated, or extended with zeros or the sign.
    pub fn resize_int(&mut self, a: Value, ty: Type, signed: bool) -> Value {
        let op = match self.ty(a).bits().cmp(&ty.bits()) {
            std::cmp::Ordering::Equal => return a,
            std::cmp::Ordering::Greater => Convert::Truncate,
            std::cmp::Ordering::Less if signed => Convert::SignExtend,
            std::cmp::Ordering::Less => Convert::ZeroExtend,
        };
        self.convert(op, a, ty)
    }

    pub fn ptr_add(&mut self, pointer: Value, offset_bytes: Value) -> Value {
        let ty = self.ty(pointer);
        self.op1(Op::PtrAdd(pointer, offset_bytes), ty)
    }

    /// A pointer moved by a constant number of bytes; nothing for zero.
    pub fn ptr_add_const(&mut self, pointer: Value, offset_bytes: i64) -> Value {
        if offset_bytes == 0 {
            return pointer;
        }
        let offset = self.i64(offset_bytes as u64);
        self.ptr_add(pointer, offset)
    }

    pub fn load(&mut self, place: Place, ty: Type, count: usize, access: Access) -> Values {
        self.op(Op::Load(place, access), std::iter::repeat_n(ty, count))
    }

    pub fn load1(&mut self, place: Place, ty: Type, access: Access) -> Value {
        self.op1(Op::Load(place, access), ty)
    }

    pub fn store(&mut self, place: Place, values: Values, access: Access) {
        self.op0(Op::Store(place, values, access));
    }

    pub fn store1(&mut self, place: Place, value: Value, access: Access) {
        self.store(place, smallvec![value], access);
    }

    /// Ends the current block; whatever ended it before is replaced.
    pub fn terminate(&mut self, terminator: Terminator) {
        self.function.block_mut(self.block).terminator = terminator;
    }

    pub fn jump(&mut self, edge: impl Into<Edge>) {
        self.terminate(Terminator::Jump(edge.into()));
    }

    pub fn branch(&mut self, condition: Value, then: impl Into<Edge>, otherwise: impl Into<Edge>) {
        self.terminate(Terminator::Branch {
            condition,
            then: then.into(),
            otherwise: otherwise.into(),
        });
    }

    /// Builds what is done only where the condition holds, and goes on after it.
    pub fn only(&mut self, condition: Value, build: impl FnOnce(&mut Self)) {
        let [then, after] = [(); 2].map(|()| self.function.add_block());
        self.branch(condition, then, after);
        self.switch_to(then);
        build(self);
        self.jump(after);
        self.switch_to(after);
    }
}
