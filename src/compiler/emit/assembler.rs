//! Puts SPIR-V words together: sections in the order of the specification (section 2.4), ids, and types
//! and constants declared once each.

use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
    FunctionControl, MemoryModel, Op, StorageClass,
};
use std::collections::{BTreeSet, HashMap};

/// A result id.
pub type Id = u32;

/// Appends one instruction: opcode and word count, then its operands.
fn push_inst(section: &mut Vec<u32>, op: Op, operands: &[u32]) {
    section.push(((operands.len() as u32 + 1) << 16) | op as u32);
    section.extend_from_slice(operands);
}

/// A literal string: UTF-8, zero-terminated, little-endian, padded to words.
fn push_string(words: &mut Vec<u32>, text: &str) {
    let mut bytes = text.as_bytes().to_vec();
    bytes.retain(|&byte| byte != 0);
    bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    words.extend(
        bytes
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])),
    );
}

/// A module being written.
pub struct Assembler {
    version: (u8, u8),
    next_id: Id,
    capabilities: BTreeSet<u32>,
    extensions: BTreeSet<&'static str>,
    glsl: Option<Id>,
    execution_modes: Vec<u32>,
    names: Vec<u32>,
    decorations: Vec<u32>,
    /// Types, constants and module-scope variables.
    globals: Vec<u32>,
    functions: Vec<u32>,
    /// Types and constants by opcode and operands (the result id left out).
    declared: HashMap<(u32, Vec<u32>), Id>,
    /// Module-scope variables, for the entry point's interface, with whether they are inputs.
    variables: Vec<(Id, bool)>,
}

impl Assembler {
    pub fn new(version: (u8, u8)) -> Self {
        Self {
            version,
            next_id: 1,
            capabilities: BTreeSet::new(),
            extensions: BTreeSet::new(),
            glsl: None,
            execution_modes: Vec::new(),
            names: Vec::new(),
            decorations: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            declared: HashMap::new(),
            variables: Vec::new(),
        }
    }

    pub fn new_id(&mut self) -> Id {
        self.next_id += 1;
        self.next_id - 1
    }

    pub fn capability(&mut self, capability: Capability) {
        self.capabilities.insert(capability as u32);
    }

    /// Declares an extension, unless the module's version has it in its core from `core_since` on.
    pub fn extension(&mut self, name: &'static str, core_since: Option<(u8, u8)>) {
        if core_since.is_none_or(|since| self.version < since) {
            self.extensions.insert(name);
        }
    }

    pub fn name(&mut self, id: Id, name: &str) {
        let mut operands = vec![id];
        push_string(&mut operands, name);
        if operands.len() < 0xFFFF {
            push_inst(&mut self.names, Op::Name, &operands);
        }
    }

    pub fn decorate(&mut self, id: Id, decoration: Decoration, operands: &[u32]) {
        let words = [&[id, decoration as u32], operands].concat();
        push_inst(&mut self.decorations, Op::Decorate, &words);
    }

    pub fn decorate_builtin(&mut self, id: Id, builtin: BuiltIn) {
        self.decorate(id, Decoration::BuiltIn, &[builtin as u32]);
    }

    pub fn decorate_member(
        &mut self,
        id: Id,
        member: u32,
        decoration: Decoration,
        operands: &[u32],
    ) {
        let words = [&[id, member, decoration as u32], operands].concat();
        push_inst(&mut self.decorations, Op::MemberDecorate, &words);
    }

    pub fn execution_mode(&mut self, function: Id, mode: ExecutionMode, operands: &[u32]) {
        let words = [&[function, mode as u32], operands].concat();
        push_inst(&mut self.execution_modes, Op::ExecutionMode, &words);
    }

    /// The id of a type that has no result type: declared at its first use.
    pub fn declare_type(&mut self, op: Op, operands: &[u32]) -> Id {
        let key = (op as u32, operands.to_vec());
        if let Some(&id) = self.declared.get(&key) {
            return id;
        }
        let id = self.new_type(op, operands);
        self.declared.insert(key, id);
        id
    }

    /// A type of its own, equal to no other: for aggregates with layout decorations.
    pub fn new_type(&mut self, op: Op, operands: &[u32]) -> Id {
        let id = self.new_id();
        let words = [&[id], operands].concat();
        push_inst(&mut self.globals, op, &words);
        id
    }

    /// The id of a constant (or `OpUndef`) of module scope: declared at its first use.
    pub fn declare_constant(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let key = (op as u32, [&[ty], operands].concat());
        if let Some(&id) = self.declared.get(&key) {
            return id;
        }
        let id = self.new_constant(op, ty, operands);
        self.declared.insert(key, id);
        id
    }

    /// A constant of its own: specialization constants.
    pub fn new_constant(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.new_id();
        let words = [&[ty, id], operands].concat();
        push_inst(&mut self.globals, op, &words);
        id
    }

    /// A module-scope variable and its type, a pointer to `pointee`.
    pub fn variable(&mut self, storage: StorageClass, pointee: Id) -> Id {
        let ty = self.declare_type(Op::TypePointer, &[storage as u32, pointee]);
        let id = self.new_id();
        push_inst(&mut self.globals, Op::Variable, &[ty, id, storage as u32]);
        self.variables.push((id, storage == StorageClass::Input));
        id
    }

    /// The id of `GLSL.std.450`.
    pub fn glsl(&mut self) -> Id {
        match self.glsl {
            Some(id) => id,
            None => {
                let id = self.new_id();
                self.glsl = Some(id);
                id
            }
        }
    }

    /// An instruction without result, in a function's body.
    pub fn inst(&mut self, op: Op, operands: &[u32]) {
        push_inst(&mut self.functions, op, operands);
    }

    /// An instruction with a result, in a function's body.
    pub fn result(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.new_id();
        self.result_as(id, op, ty, operands);
        id
    }

    /// An instruction with a result whose id is given, in a function's body.
    pub fn result_as(&mut self, id: Id, op: Op, ty: Id, operands: &[u32]) {
        let words = [&[ty, id], operands].concat();
        push_inst(&mut self.functions, op, &words);
    }

    pub fn begin_function(&mut self, id: Id, return_type: Id, function_type: Id) {
        let control = FunctionControl::NONE.bits();
        self.inst(Op::Function, &[return_type, id, control, function_type]);
    }

    /// The finished module: a compute shader with the entry point `main`.
    pub fn finish(
        self,
        entry: Id,
        addressing: AddressingModel,
        memory_model: MemoryModel,
    ) -> Vec<u32> {
        let version = (u32::from(self.version.0) << 16) | (u32::from(self.version.1) << 8);
        let mut words = vec![rspirv::spirv::MAGIC_NUMBER, version, 0, self.next_id, 0];
        for &capability in &self.capabilities {
            push_inst(&mut words, Op::Capability, &[capability]);
        }
        for extension in &self.extensions {
            let mut operands = Vec::new();
            push_string(&mut operands, extension);
            push_inst(&mut words, Op::Extension, &operands);
        }
        if let Some(glsl) = self.glsl {
            let mut operands = vec![glsl];
            push_string(&mut operands, "GLSL.std.450");
            push_inst(&mut words, Op::ExtInstImport, &operands);
        }
        let models = [addressing as u32, memory_model as u32];
        push_inst(&mut words, Op::MemoryModel, &models);
        let mut operands = vec![ExecutionModel::GLCompute as u32, entry];
        push_string(&mut operands, "main");
        // From version 1.4 on the interface lists all module-scope variables, before only inputs.
        let all = self.version >= (1, 4);
        operands.extend(
            self.variables
                .iter()
                .filter(|(_, input)| all || *input)
                .map(|(id, _)| id),
        );
        push_inst(&mut words, Op::EntryPoint, &operands);
        for section in [
            self.execution_modes,
            self.names,
            self.decorations,
            self.globals,
            self.functions,
        ] {
            words.extend(section);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_with_a_zero_and_fill_words() {
        let mut words = Vec::new();
        push_string(&mut words, "abcd");
        assert_eq!(words, [0x6463_6261, 0]);
        words.clear();
        push_string(&mut words, "abc");
        assert_eq!(words, [0x0063_6261]);
    }

    #[test]
    fn equal_types_are_declared_once() {
        let mut asm = Assembler::new((1, 5));
        let a = asm.declare_type(Op::TypeInt, &[32, 0]);
        let b = asm.declare_type(Op::TypeInt, &[32, 0]);
        let c = asm.declare_type(Op::TypeInt, &[64, 0]);
        assert_eq!(a, b);
        assert_ne!(a, c);
    }
}
