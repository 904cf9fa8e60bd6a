//! Specialization constants given their values in the SPIR-V itself, and what then is constant folded.
//!
//! Vulkan drivers do this when they make a pipeline, SwiftShader excepted: it carries every branch and every
//! choice of a format into its machine code, of which image accesses have many.
//!
//! Knows the modules that `emit` makes: one entry point, 32-bit specialization constants. Folds 32-bit integers,
//! booleans and choices; parameters that are the same constant in every call count as that; branches and switches
//! on constants go, with the blocks that nothing leads to any more. What does not fit is left as it is: the result
//! means the same.

mod blocks;
mod fold;

use rspirv::spirv::{Decoration, Op};
use std::collections::{HashMap, HashSet};

/// Words before the first instruction; the fourth is the bound of ids.
const HEADER: usize = 5;
const BOUND: usize = 3;

/// One instruction: its opcode, and the words after the first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Inst {
    op: Op,
    words: Vec<u32>,
}

/// The module with the constants of these `SpecId`s fixed to these values.
pub fn specialize(words: &[u32], constants: &[(u32, u32)]) -> Vec<u32> {
    match Module::parse(words) {
        Some(mut module) if !constants.is_empty() => {
            module.fix(constants);
            module.fold();
            module.write()
        }
        _ => words.to_vec(),
    }
}

struct Module {
    header: [u32; HEADER],
    /// Up to the first function.
    globals: Vec<Inst>,
    functions: Vec<Vec<Inst>>,
    /// 32-bit and boolean constants by id.
    constants: HashMap<u32, u32>,
    /// Ids that stand for others.
    aliases: HashMap<u32, u32>,
    /// Types of 32-bit integers, and `OpTypeBool`.
    integers: HashSet<u32>,
    boolean: Option<u32>,
    /// Ids of constants by type and value.
    known: HashMap<(u32, u32), u32>,
}

impl Module {
    fn parse(words: &[u32]) -> Option<Self> {
        let header = words.get(..HEADER)?.try_into().ok()?;
        let mut rest = words.get(HEADER..)?;
        let mut module = Self {
            header,
            globals: Vec::new(),
            functions: Vec::new(),
            constants: HashMap::new(),
            aliases: HashMap::new(),
            integers: HashSet::new(),
            boolean: None,
            known: HashMap::new(),
        };
        while let Some(&first) = rest.first() {
            let (inst, after) = rest.split_at_checked((first >> 16).max(1) as usize)?;
            rest = after;
            let op = Op::from_u32(first & 0xffff)?;
            let inst = Inst {
                op,
                words: inst[1..].to_vec(),
            };
            if op == Op::Function {
                module.functions.push(Vec::new());
            }
            match module.functions.last_mut() {
                Some(function) => function.push(inst),
                None => module.globals.push(inst),
            }
        }
        Some(module)
    }

    /// Makes specialization constants plain ones.
    fn fix(&mut self, constants: &[(u32, u32)]) {
        let mut values: HashMap<u32, u32> = HashMap::new();
        self.globals.retain(|inst| {
            let &[target, decoration, spec_id] = inst.words.as_slice() else {
                return true;
            };
            let is_spec_id = inst.op == Op::Decorate && decoration == Decoration::SpecId as u32;
            let given = constants.iter().find(|(id, _)| *id == spec_id);
            match (is_spec_id, given) {
                (true, Some((_, value))) => {
                    values.insert(target, *value);
                    false
                }
                _ => true,
            }
        });
        for inst in &mut self.globals {
            match (inst.op, inst.words.as_mut_slice()) {
                (Op::SpecConstant, [_, id, value]) => {
                    if let Some(given) = values.get(id) {
                        inst.op = Op::Constant;
                        *value = *given;
                    }
                }
                (Op::TypeInt, &mut [id, 32, _]) => {
                    self.integers.insert(id);
                }
                (Op::TypeBool, &mut [id]) => self.boolean = Some(id),
                _ => {}
            }
            let constant = match (inst.op, inst.words.as_slice()) {
                (Op::Constant, &[ty, id, value]) if self.integers.contains(&ty) => (ty, id, value),
                (Op::ConstantTrue, &[ty, id]) => (ty, id, 1),
                (Op::ConstantFalse, &[ty, id]) => (ty, id, 0),
                _ => continue,
            };
            let (ty, id, value) = constant;
            self.constants.insert(id, value);
            self.known.entry((ty, value)).or_insert(id);
        }
    }

    /// The id of a constant; declared if it is not yet.
    fn constant(&mut self, ty: u32, value: u32) -> u32 {
        if let Some(&id) = self.known.get(&(ty, value)) {
            return id;
        }
        let id = self.header[BOUND];
        self.header[BOUND] += 1;
        let (op, words) = match (Some(ty) == self.boolean, value) {
            (true, 0) => (Op::ConstantFalse, vec![ty, id]),
            (true, _) => (Op::ConstantTrue, vec![ty, id]),
            (false, value) => (Op::Constant, vec![ty, id, value]),
        };
        self.globals.push(Inst { op, words });
        self.constants.insert(id, value);
        self.known.insert((ty, value), id);
        id
    }

    /// What an id stands for.
    fn resolve(&self, id: u32) -> u32 {
        let mut id = id;
        while let Some(&other) = self.aliases.get(&id) {
            id = other;
        }
        id
    }

    fn value(&self, id: u32) -> Option<u32> {
        self.constants.get(&self.resolve(id)).copied()
    }

    fn fold(&mut self) {
        loop {
            let before = self.aliases.len();
            for index in 0..self.functions.len() {
                let mut function = std::mem::take(&mut self.functions[index]);
                for inst in &mut function {
                    fold::fold(self, inst);
                }
                self.functions[index] = blocks::prune(self, function);
            }
            self.keep_reachable();
            self.bind_parameters();
            if self.aliases.len() == before {
                break;
            }
        }
        for index in 0..self.functions.len() {
            let function = std::mem::take(&mut self.functions[index]);
            self.functions[index] = fold::drop_unused(self, function);
        }
        self.drop_names();
    }

    /// Parameters that are the same constant in every call.
    fn bind_parameters(&mut self) {
        let mut arguments: HashMap<u32, Vec<Option<u32>>> = HashMap::new();
        for inst in self.functions.iter().flatten() {
            if inst.op != Op::FunctionCall {
                continue;
            }
            let Some((&callee, given)) = inst.words.get(2..).and_then(<[u32]>::split_first) else {
                continue;
            };
            let given = given.iter().map(|&id| {
                let id = self.resolve(id);
                self.constants.contains_key(&id).then_some(id)
            });
            match arguments.get_mut(&callee) {
                Some(seen) => {
                    for (seen, given) in seen.iter_mut().zip(given) {
                        if *seen != given {
                            *seen = None;
                        }
                    }
                }
                None => {
                    arguments.insert(callee, given.collect());
                }
            }
        }
        for function in &self.functions {
            let Some(given) = function
                .first()
                .and_then(|inst| arguments.get(inst.words.get(1)?))
            else {
                continue;
            };
            let parameters = function
                .iter()
                .filter(|inst| inst.op == Op::FunctionParameter);
            for (parameter, given) in parameters.zip(given) {
                if let (Some(&id), Some(constant)) = (parameter.words.get(1), given) {
                    self.aliases.insert(id, *constant);
                }
            }
        }
    }

    /// Functions that calls lead to from the entry point.
    fn keep_reachable(&mut self) {
        let entry = self.globals.iter().find(|inst| inst.op == Op::EntryPoint);
        let mut reached: Vec<u32> = entry
            .and_then(|inst| inst.words.get(1))
            .copied()
            .into_iter()
            .collect();
        let mut next = 0;
        while let Some(&id) = reached.get(next) {
            next += 1;
            let function = self.functions.iter().find(|function| name(function) == id);
            for inst in function.into_iter().flatten() {
                if let (Op::FunctionCall, Some(callee)) = (inst.op, inst.words.get(2))
                    && !reached.contains(callee)
                {
                    reached.push(*callee);
                }
            }
        }
        self.functions
            .retain(|function| reached.contains(&name(function)));
    }

    /// Names and decorations of what is gone.
    fn drop_names(&mut self) {
        let functions = self.functions.iter().flatten();
        let defined: HashSet<u32> = self
            .globals
            .iter()
            .chain(functions)
            .filter_map(Inst::result)
            .collect();
        self.globals.retain(|inst| {
            let is_about = matches!(
                inst.op,
                Op::Name | Op::MemberName | Op::Decorate | Op::MemberDecorate
            );
            let target = inst.words.first();
            !is_about || target.is_some_and(|target| defined.contains(target))
        });
    }

    fn write(&self) -> Vec<u32> {
        let mut words = self.header.to_vec();
        for inst in self.globals.iter().chain(self.functions.iter().flatten()) {
            words.push((inst.words.len() as u32 + 1) << 16 | inst.op as u32);
            words.extend_from_slice(&inst.words);
        }
        words
    }
}

/// The id of a function.
fn name(function: &[Inst]) -> u32 {
    let id = function.first().and_then(|inst| inst.words.get(1));
    id.copied().unwrap_or_default()
}

impl Inst {
    /// The id that it defines.
    fn result(&self) -> Option<u32> {
        let place = match self.op {
            Op::Label
            | Op::ExtInstImport
            | Op::String
            | Op::TypeVoid
            | Op::TypeBool
            | Op::TypeInt
            | Op::TypeFloat
            | Op::TypeVector
            | Op::TypeImage
            | Op::TypeSampler
            | Op::TypeSampledImage
            | Op::TypeArray
            | Op::TypeRuntimeArray
            | Op::TypeStruct
            | Op::TypePointer
            | Op::TypeFunction => 0,
            op if !has_result(op) => return None,
            _ => 1,
        };
        self.words.get(place).copied()
    }
}

/// Whether an instruction that is no type has a type and an id.
fn has_result(op: Op) -> bool {
    !matches!(
        op,
        Op::Nop
            | Op::Store
            | Op::CopyMemory
            | Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Unreachable
            | Op::SelectionMerge
            | Op::LoopMerge
            | Op::ControlBarrier
            | Op::MemoryBarrier
            | Op::AtomicStore
            | Op::FunctionEnd
            | Op::Name
            | Op::MemberName
            | Op::Decorate
            | Op::MemberDecorate
            | Op::Capability
            | Op::Extension
            | Op::MemoryModel
            | Op::EntryPoint
            | Op::ExecutionMode
            | Op::Source
            | Op::Line
            | Op::NoLine
            | Op::TypeForwardPointer
            | Op::AssumeTrueKHR
    )
}

#[cfg(test)]
mod tests;
