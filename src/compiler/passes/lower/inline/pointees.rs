//! What functions access through their pointer parameters, and where the pointers in a function's calls point to.

use crate::compiler::ir::{
    Access, AddressSpace, Block, Convert, FuncId, Function, Inst, Op, Place, Type, Value,
    VariableId,
};
use std::collections::HashMap;

/// What a pointer is an offset from, in one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A private variable.
    Variable(VariableId),
    /// A parameter by its position.
    Parameter(usize),
}

/// The bytes that accesses through a pointer touch, relative to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub start: i64,
    pub end: i64,
    /// The largest alignment that an access in it promises.
    pub align_bytes: u32,
}

impl Extent {
    fn moved(self, by: i64) -> Option<Self> {
        let (start, end) = (self.start.checked_add(by)?, self.end.checked_add(by)?);
        Some(Self { start, end, ..self })
    }

    fn with(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
            align_bytes: self.align_bytes.max(other.align_bytes),
        }
    }
}

/// What a function does with a pointer parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// `None`: nothing is accessed.
    pub extent: Option<Extent>,
    pub written: bool,
    /// More than accesses at constant offsets, so that `extent` does not tell all.
    pub other: bool,
}

impl Uses {
    fn note(&mut self, extent: Option<Extent>, written: bool) {
        let Some(extent) = extent else {
            self.lose();
            return;
        };
        self.extent = Some(self.extent.map_or(extent, |it| it.with(extent)));
        self.written |= written;
    }

    fn lose(&mut self) {
        self.other = true;
        self.written = true;
    }
}

/// What is known of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pointer {
    base: Base,
    /// The least and the largest offset that it may have.
    first: i64,
    last: i64,
}

impl Pointer {
    fn moved(self, by: i64) -> Option<Self> {
        let (first, last) = (self.first.checked_add(by)?, self.last.checked_add(by)?);
        Some(Self {
            first,
            last,
            ..self
        })
    }

    /// One of two, if both have the same base.
    fn or(self, other: Self) -> Option<Self> {
        (self.base == other.base).then(|| Self {
            base: self.base,
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        })
    }

    fn exact(self) -> Option<(Base, i64)> {
        (self.first == self.last).then_some((self.base, self.first))
    }
}

/// A pointer that a call passes.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    pub position: usize,
    /// `None`: not known.
    pub pointer: Option<(Base, i64)>,
}

/// A call, with the arguments that point to private or generic memory.
#[derive(Clone, Debug)]
pub struct Call {
    pub callee: FuncId,
    pub arguments: Vec<Argument>,
}

/// A function's parameters and calls.
#[derive(Clone, Debug, Default)]
pub struct Pointees {
    /// For each parameter what is done with it, if it points to private or generic memory.
    pub params: Vec<Option<Uses>>,
    pub calls: Vec<Call>,
    /// Whether pointers to private or generic memory are loaded or made of integers: they may point anywhere.
    pub has_unknown: bool,
}

impl Pointees {
    /// Goes through a function. `known` has the functions that it calls.
    pub fn of(function: &Function, known: &HashMap<FuncId, Self>) -> Self {
        let params = function.params().iter();
        let uses = params.map(|&param| is_followed(function.ty(param)).then(Uses::default));
        let params = function.params().iter().enumerate();
        let followed = params.filter(|(_, param)| is_followed(function.ty(**param)));
        let pointer = |(position, &param): (usize, &Value)| {
            let base = Base::Parameter(position);
            let (first, last) = (0, 0);
            (param, Pointer { base, first, last })
        };
        let mut finder = Finder {
            function,
            known,
            pointers: followed.map(pointer).collect(),
            found: Self {
                params: uses.collect(),
                ..Self::default()
            },
        };
        finder.run();
        finder.found
    }
}

fn is_followed(ty: Type) -> bool {
    matches!(ty, Type::Ptr(AddressSpace::Private | AddressSpace::Generic))
}

struct Finder<'a> {
    function: &'a Function,
    known: &'a HashMap<FuncId, Pointees>,
    pointers: HashMap<Value, Pointer>,
    found: Pointees,
}

impl Finder<'_> {
    fn run(&mut self) {
        let function = self.function;
        let predecessors = function.predecessors();
        for block in function.reverse_postorder() {
            for (position, &param) in function.block(block).params.iter().enumerate() {
                if is_followed(function.ty(param)) && block != function.entry() {
                    let from = &predecessors[block.index()];
                    self.join(block, position, param, from);
                }
            }
            for &inst in &function.block(block).insts {
                self.inst(inst);
            }
            let terminator = &function.block(block).terminator;
            terminator.read().iter().for_each(|&value| self.lose(value));
        }
        self.lose_what_is_joined_unknown();
    }

    /// A block parameter is what all its arguments are offsets from.
    fn join(&mut self, block: Block, position: usize, param: Value, from: &[Block]) {
        let edges = from
            .iter()
            .flat_map(|&from| self.function.block(from).terminator.edges());
        let args = edges
            .filter(|edge| edge.block == block)
            .map(|edge| edge.args[position]);
        let mut pointers = args.map(|arg| self.pointers.get(&arg).copied());
        let first = pointers.next().flatten();
        let all = pointers.fold(first, |all, pointer| all?.or(pointer?));
        self.pointers.extend(all.map(|pointer| (param, pointer)));
    }

    /// Gives up what went into block parameters of which no base is known, as those are of which an argument comes from
    /// behind them.
    fn lose_what_is_joined_unknown(&mut self) {
        let function = self.function;
        for &block in function.layout() {
            for edge in function.block(block).terminator.edges() {
                let params = &function.block(edge.block).params;
                for (arg, param) in edge.args.iter().zip(params) {
                    if !self.pointers.contains_key(param) {
                        self.lose(*arg);
                    }
                }
            }
        }
    }

    fn uses(&mut self, base: Base) -> Option<&mut Uses> {
        match base {
            Base::Parameter(position) => self.found.params[position].as_mut(),
            Base::Variable(_) => None,
        }
    }

    /// A use that is not followed.
    fn lose(&mut self, value: Value) {
        if let Some(&pointer) = self.pointers.get(&value)
            && let Some(uses) = self.uses(pointer.base)
        {
            uses.lose();
        }
    }

    fn inst(&mut self, inst: Inst) {
        let function = self.function;
        let data = function.inst(inst);
        match &data.op {
            Op::VariableAddress(variable) => {
                let base = Base::Variable(*variable);
                let (first, last) = (0, 0);
                let pointer = Pointer { base, first, last };
                self.pointers.insert(data.results[0], pointer);
            }
            Op::PtrAdd(base, by) => {
                let pointer = self.pointers.get(base);
                match pointer.and_then(|it| it.moved(function.signed_constant(*by)?)) {
                    Some(pointer) => {
                        self.pointers.insert(data.results[0], pointer);
                    }
                    None => self.lose(*base),
                }
            }
            Op::Select(_, a, b) if is_followed(function.ty(*a)) => {
                let [one, other] = [a, b].map(|value| self.pointers.get(value).copied());
                match one.zip(other).and_then(|(one, other)| one.or(other)) {
                    Some(pointer) => {
                        self.pointers.insert(data.results[0], pointer);
                    }
                    None => [a, b].into_iter().for_each(|&value| self.lose(value)),
                }
            }
            Op::Convert(Convert::AddressSpaceCast, from) if is_followed(function.ty(*from)) => {
                if let Some(&pointer) = self.pointers.get(from) {
                    self.pointers.insert(data.results[0], pointer);
                }
            }
            Op::Load(Place::Pointer(pointer), access) => {
                let mut results = data.results.iter();
                self.found.has_unknown |= results.any(|&it| is_followed(function.ty(it)));
                self.access(*pointer, &data.results, *access, false);
            }
            Op::Store(Place::Pointer(pointer), values, access) => {
                self.access(*pointer, values, *access, true);
                values.iter().for_each(|&value| self.lose(value));
            }
            Op::Copy {
                to,
                from,
                size_bytes,
                to_access,
                from_access,
            } => {
                let size = function.constant(*size_bytes);
                for (pointer, access, written) in
                    [(*to, *to_access, true), (*from, *from_access, false)]
                {
                    self.touch(pointer, size, access, written);
                }
            }
            Op::Call(callee, args) => self.call(*callee, args),
            Op::Convert(Convert::IntToPtr, _) => {
                let results = &data.results;
                self.found.has_unknown |= is_followed(function.ty(results[0]));
            }
            op => op.operands().iter().for_each(|&value| self.lose(value)),
        }
    }

    fn access(&mut self, pointer: Value, values: &[Value], access: Access, written: bool) {
        let mut size = 0u64;
        for &value in values {
            let bytes = u64::from(self.function.ty(value).size_bytes());
            size = size.next_multiple_of(bytes.max(1)) + bytes;
        }
        self.touch(pointer, Some(size), access, written);
    }

    fn touch(&mut self, pointer: Value, size: Option<u64>, access: Access, written: bool) {
        let Some(&Pointer { base, first, last }) = self.pointers.get(&pointer) else {
            return;
        };
        let size = size.and_then(|size| i64::try_from(size).ok());
        let end = size.and_then(|size| last.checked_add(size));
        let extent = end.filter(|_| !access.volatile).map(|end| Extent {
            start: first,
            end,
            align_bytes: access.align_bytes,
        });
        if let Some(uses) = self.uses(base) {
            uses.note(extent, written);
        }
    }

    fn call(&mut self, callee: FuncId, args: &[Value]) {
        let mut arguments = Vec::new();
        for (position, arg) in args.iter().enumerate() {
            if !is_followed(self.function.ty(*arg)) {
                continue;
            }
            let pointer = self.pointers.get(arg).copied();
            arguments.push(Argument {
                position,
                pointer: pointer.and_then(Pointer::exact),
            });
            if let Some(pointer) = pointer {
                self.pass(callee, position, pointer);
            }
        }
        self.found.calls.push(Call { callee, arguments });
    }

    /// What a called function does with a pointer is done here, too.
    fn pass(&mut self, callee: FuncId, position: usize, pointer: Pointer) {
        let params = self.known.get(&callee).map(|function| &function.params);
        let of_callee = params.and_then(|params| params.get(position).copied().flatten());
        let Some(uses) = self.uses(pointer.base) else {
            return;
        };
        match of_callee {
            Some(Uses {
                other: false,
                extent,
                written,
            }) => {
                if let Some(extent) = extent {
                    let one = extent.moved(pointer.first);
                    let last = extent.moved(pointer.last);
                    uses.note(one.zip(last).map(|(one, last)| one.with(last)), written);
                }
            }
            Some(Uses { other: true, .. }) | None => uses.lose(),
        }
    }
}
