//! Which local and private pointers may point into the same memory, and how each such class is accessed.

use crate::compiler::CompileError;
use crate::compiler::analysis::{AccessWidths, aligned};
use crate::compiler::ir::{
    Access, AddressSpace, AtomicOp, Convert, FuncId, Function, GlobalId, Module, Op, Place, Type,
    Value, VariableId,
};
use std::collections::HashMap;

/// A set of memory that pointers may reach by arithmetic, selection and comparison: one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class(u32);

/// A variable that lies in a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Member {
    Private(FuncId, VariableId),
    Local(GlobalId),
}

/// How the memory of a class is used.
#[derive(Clone, Debug)]
pub struct Facts {
    pub space: AddressSpace,
    pub members: Vec<Member>,
    /// The largest number of bytes that every access is made of, at multiples of it. 8 without accesses.
    pub unit_bytes: u32,
    /// Size of the widest scalar accessed.
    pub widest_bytes: u32,
    /// The largest number of bytes that every access to scalars of at least 4 bytes is made of. 8 without any.
    pub word_unit_bytes: u32,
    /// How many scalars of at least 4 bytes are accessed, and how many narrower ones.
    pub words: u32,
    pub narrow: u32,
    pub narrow_stores: u32,
    /// All accesses.
    pub widths: AccessWidths,
    /// The type of every access, if they agree.
    pub common_type: Option<Type>,
    /// The type of the widest atomic accesses, of at least the 32 bits that Vulkan has atomics on.
    pub atomic: Option<Type>,
    /// Whether null or an integer may be among the pointers: offset 0 must then be no valid address.
    pub has_null: bool,
    accessed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    Atomic,
}

impl Facts {
    fn new(space: AddressSpace) -> Self {
        Self {
            space,
            members: Vec::new(),
            unit_bytes: 8,
            widest_bytes: 0,
            word_unit_bytes: 8,
            words: 0,
            narrow: 0,
            narrow_stores: 0,
            widths: AccessWidths::default(),
            common_type: None,
            atomic: None,
            has_null: false,
            accessed: false,
        }
    }

    /// Notes an access to consecutive scalars.
    fn accesses(&mut self, types: &[Type], access: Access, kind: Kind) {
        for (ty, align) in aligned(types.iter().copied(), access) {
            self.access(ty, align, kind == Kind::Store);
            if kind != Kind::Atomic || self.space != AddressSpace::Local {
                continue;
            }
            self.atomic = match (ty.size_bytes(), self.atomic) {
                (8, _) | (_, Some(Type::I64)) => Some(Type::I64),
                _ => Some(Type::I32),
            };
        }
    }

    fn access(&mut self, ty: Type, align_bytes: u32, is_store: bool) {
        let ty = match ty {
            Type::Bool => Type::I8,
            Type::Ptr(_) => Type::I64,
            other => other,
        };
        let size = ty.size_bytes();
        self.widths.add_scalar(ty, align_bytes, is_store);
        self.unit_bytes = self.unit_bytes.min(size).min(align_bytes.max(1));
        self.widest_bytes = self.widest_bytes.max(size);
        if size >= 4 {
            self.words += 1;
            self.word_unit_bytes = self.word_unit_bytes.min(size).min(align_bytes.max(1));
        } else {
            self.narrow += 1;
            self.narrow_stores += u32::from(is_store);
        }
        self.common_type = match self.common_type {
            _ if !self.accessed => Some(ty),
            Some(common) if common == ty => Some(ty),
            _ => None,
        };
        self.accessed = true;
    }
}

/// The classes of a module: a union-find forest over pointer values and variables.
pub struct Classes {
    parents: Vec<u32>,
    /// Node of each function's first value.
    first_value: Vec<u32>,
    members: HashMap<Member, u32>,
    escaped_private: u32,
    escaped_local: u32,
    pub facts: HashMap<Class, Facts>,
}

impl Classes {
    /// Finds the classes of all functions.
    pub fn of(module: &Module) -> Result<Self, CompileError> {
        let mut classes = Self {
            parents: Vec::new(),
            first_value: Vec::new(),
            members: HashMap::new(),
            escaped_private: 0,
            escaped_local: 1,
            facts: HashMap::new(),
        };
        let mut count = 2;
        for function in &module.functions {
            classes.first_value.push(count);
            count += function.value_count() as u32;
        }
        classes.parents = (0..count).collect();
        for id in module.function_ids() {
            let function = module.function(id);
            classes
                .unite_function(module, id, function)
                .map_err(|error| error.in_function(&function.name))?;
        }
        classes.collect_facts(module);
        Ok(classes)
    }

    /// The class of a local or private pointer.
    pub fn class(&mut self, function: FuncId, pointer: Value) -> Class {
        let node = self.node(function, pointer);
        Class(self.find(node))
    }

    /// The classes of the private and the local pointers that are kept in memory, or meet generic ones.
    pub fn escaped_classes(&mut self) -> [Class; 2] {
        [self.escaped_private, self.escaped_local].map(|node| Class(self.find(node)))
    }

    fn node(&self, function: FuncId, value: Value) -> u32 {
        self.first_value[function.index()] + value.0
    }

    fn find(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let grandparent = self.parents[self.parents[node as usize] as usize];
            self.parents[node as usize] = grandparent;
            node = grandparent;
        }
        node
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    fn escaped(&self, space: AddressSpace) -> u32 {
        match space {
            AddressSpace::Local => self.escaped_local,
            _ => self.escaped_private,
        }
    }

    fn member(&mut self, member: Member) -> u32 {
        let next = self.parents.len() as u32;
        let node = *self.members.entry(member).or_insert(next);
        if node == next {
            self.parents.push(next);
        }
        node
    }

    fn unite_function(
        &mut self,
        module: &Module,
        id: FuncId,
        function: &Function,
    ) -> Result<(), CompileError> {
        for &block in function.layout() {
            let data = function.block(block);
            for &inst in &data.insts {
                self.unite_inst(module, id, function, inst)?;
            }
            for edge in data.terminator.edges() {
                let params = &function.block(edge.block).params;
                for (&arg, &param) in edge.args.iter().zip(params) {
                    if offset_space(function, param).is_some() {
                        let (arg, param) = (self.node(id, arg), self.node(id, param));
                        self.unite(arg, param);
                    }
                }
            }
        }
        Ok(())
    }

    fn unite_inst(
        &mut self,
        module: &Module,
        id: FuncId,
        function: &Function,
        inst: crate::compiler::ir::Inst,
    ) -> Result<(), CompileError> {
        let data = function.inst(inst);
        match &data.op {
            Op::PtrAdd(base, _) => {
                if offset_space(function, *base).is_some() {
                    let (a, b) = (self.node(id, data.results[0]), self.node(id, *base));
                    self.unite(a, b);
                }
            }
            Op::Select(_, a, b) => {
                if offset_space(function, *a).is_some() {
                    let result = self.node(id, data.results[0]);
                    for value in [*a, *b] {
                        let node = self.node(id, value);
                        self.unite(result, node);
                    }
                }
            }
            Op::Compare(_, a, b) => {
                if offset_space(function, *a).is_some() {
                    let (a, b) = (self.node(id, *a), self.node(id, *b));
                    self.unite(a, b);
                }
            }
            Op::VariableAddress(variable) => {
                let member = self.member(Member::Private(id, *variable));
                let node = self.node(id, data.results[0]);
                self.unite(member, node);
            }
            Op::GlobalAddress(global) => {
                if module.global(*global).space == AddressSpace::Local {
                    let member = self.member(Member::Local(*global));
                    let node = self.node(id, data.results[0]);
                    self.unite(member, node);
                }
            }
            Op::Call(..) => {
                let hidden = data
                    .op
                    .operands()
                    .into_iter()
                    .chain(data.results.iter().copied());
                for value in hidden {
                    if let Some(space) = offset_space(function, value) {
                        return Err(CompileError::internal(format!(
                            "a call passes a pointer to {space} memory and was not inlined"
                        )));
                    }
                }
            }
            Op::Copy { .. } => {
                return Err(CompileError::internal("a copy of memory was not lowered"));
            }
            op => {
                // Converted to or from an integer or a generic pointer, or kept in memory.
                let place = match op {
                    Op::Load(place, _) | Op::Store(place, ..) | Op::Atomic { place, .. } => {
                        Some(*place)
                    }
                    _ => None,
                };
                for value in op.operands() {
                    if place == Some(Place::Pointer(value)) {
                        continue;
                    }
                    self.escape(id, function, value);
                }
                if !matches!(op, Op::Const(0) | Op::Undef) {
                    for &value in &data.results {
                        self.escape(id, function, value);
                    }
                }
                // The pointer of a store may be the value stored.
                if let (Some(Place::Pointer(pointer)), Op::Store(_, values, _)) = (place, op)
                    && values.contains(&pointer)
                {
                    self.escape(id, function, pointer);
                }
            }
        }
        Ok(())
    }

    fn escape(&mut self, id: FuncId, function: &Function, value: Value) {
        if let Some(space) = offset_space(function, value) {
            let (node, escaped) = (self.node(id, value), self.escaped(space));
            self.unite(node, escaped);
        }
    }

    fn collect_facts(&mut self, module: &Module) {
        let mut members: Vec<(Member, u32)> = self.members.iter().map(|(&m, &n)| (m, n)).collect();
        members.sort();
        for (member, node) in members {
            let space = match member {
                Member::Private(..) => AddressSpace::Private,
                Member::Local(_) => AddressSpace::Local,
            };
            self.facts_of(node, space).members.push(member);
        }
        for space in [AddressSpace::Private, AddressSpace::Local] {
            let node = self.escaped(space);
            self.facts_of(node, space).has_null = true;
        }
        for id in module.function_ids() {
            let function = module.function(id);
            for &block in function.layout() {
                for &inst in &function.block(block).insts {
                    self.inst_facts(id, function, inst);
                }
            }
        }
    }

    fn facts_of(&mut self, node: u32, space: AddressSpace) -> &mut Facts {
        let class = Class(self.find(node));
        self.facts.entry(class).or_insert_with(|| Facts::new(space))
    }

    fn inst_facts(&mut self, id: FuncId, function: &Function, inst: crate::compiler::ir::Inst) {
        let data = function.inst(inst);
        let (place, types, access): (_, Vec<Type>, _) = match &data.op {
            Op::Const(_) => {
                if let Some(space) = data
                    .results
                    .first()
                    .and_then(|&v| offset_space(function, v))
                {
                    let node = self.node(id, data.results[0]);
                    self.facts_of(node, space).has_null = true;
                }
                return;
            }
            Op::Load(place, access) => (
                *place,
                data.results.iter().map(|&v| function.ty(v)).collect(),
                *access,
            ),
            Op::Store(place, values, access) => (
                *place,
                values.iter().map(|&v| function.ty(v)).collect(),
                *access,
            ),
            Op::Atomic {
                op, place, values, ..
            } => {
                let ty = atomic_type(function, *op, values, data.results.first().copied());
                (*place, vec![ty], Access::aligned(ty.size_bytes()))
            }
            _ => return,
        };
        let Place::Pointer(pointer) = place else {
            return;
        };
        let kind = match data.op {
            Op::Atomic { .. } => Kind::Atomic,
            Op::Store(..) => Kind::Store,
            _ => Kind::Load,
        };
        match function.space(pointer) {
            Some(space @ (AddressSpace::Private | AddressSpace::Local)) => {
                let node = self.node(id, pointer);
                self.facts_of(node, space).accesses(&types, access, kind);
            }
            Some(AddressSpace::Generic) => {
                for space in [AddressSpace::Private, AddressSpace::Local] {
                    let node = self.escaped(space);
                    self.facts_of(node, space).accesses(&types, access, kind);
                }
            }
            _ => {}
        }
    }
}

/// The type of memory that an atomic operation needs: an integer.
pub fn atomic_type(
    function: &Function,
    op: AtomicOp,
    values: &[Value],
    result: Option<Value>,
) -> Type {
    let ty = match op {
        AtomicOp::FlagTestAndSet | AtomicOp::FlagClear => Type::I32,
        _ => match (values.first(), result) {
            (Some(&value), _) | (None, Some(value)) => function.ty(value),
            (None, None) => Type::I32,
        },
    };
    crate::compiler::passes::helpers::scalar_bits::memory_int(ty)
}

/// The address space of a pointer that becomes an offset.
pub fn offset_space(function: &Function, value: Value) -> Option<AddressSpace> {
    function
        .space(value)
        .filter(|space| matches!(space, AddressSpace::Private | AddressSpace::Local))
}

/// Whether the conversion leaves or enters named address spaces.
pub fn is_address_space_cast(op: Convert) -> bool {
    matches!(
        op,
        Convert::AddressSpaceCast | Convert::AddressSpaceCastExplicit
    )
}
