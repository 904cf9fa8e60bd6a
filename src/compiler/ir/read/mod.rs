//! Reads the text form of the IR, for tests: what `print` writes, but for images, pipes and `printf`, of which it leaves
//! something out.
//!
//! Values and blocks get numbers in the order in which they are defined, whatever they are called in the text: printed
//! again, two texts that differ in numbers alone are the same.

mod cursor;
mod names;

use super::{
    Access, Array, ArrayId, ArrayLength, ArrayStorage, Block, DotFormat, Edge, FuncId, Function,
    Global, GlobalId, Group, Inst, InstFlags, Kernel, Merge, Module, Op, OpenClStd, Place,
    PrivateVariable, Scope, Semantics, Terminator, Type, Value, Values, VariableId,
};
use crate::compiler::program::Implicit;
use cursor::Cursor;
use names::{
    ATOMICS, BINARY, BUILT_IN, BUILT_INS, COMPARE, IMPLICIT, IMPLICITS, SCOPES, UNARY, WORK_ITEM,
    WORK_ITEMS, convert, decimal, dimensioned, group_op, named, snake, space, ty,
};
use std::collections::HashMap;
use std::sync::Arc;

type Result<T> = std::result::Result<T, String>;

/// The module that a text is of.
///
/// # Errors
/// What can't be read, and in which line.
pub fn module(text: &str) -> Result<Module> {
    let mut module = Module::default();
    let mut body: Option<Vec<Line<'_>>> = None;
    for (index, text) in text.lines().enumerate() {
        let number = index + 1;
        let line = Line { number, text };
        let at = |reason: String| format!("line {number}: {reason}: {text}");
        match &mut body {
            Some(lines) if text == "}" => {
                function_body(&mut module, lines)?;
                body = None;
            }
            Some(lines) => lines.push(line),
            None if text.is_empty() || text.starts_with(';') => {}
            None if text.starts_with("fn") => {
                let function = function_head(&mut Cursor(text), module.functions.len());
                module.functions.push(function.map_err(at)?);
                body = Some(Vec::new());
            }
            None => declaration(&mut module, &mut Cursor(text)).map_err(at)?,
        }
    }
    match body {
        Some(_) => Err("the last function has no end".to_owned()),
        None => Ok(module),
    }
}

/// The implicit argument that a text names, as `global_base(0)`.
pub fn implicit(text: &str) -> Result<Implicit> {
    dimensioned(&mut Cursor(text), &IMPLICIT, &IMPLICITS)
}

struct Line<'a> {
    number: usize,
    text: &'a str,
}

/// A variable of module scope, an array, or a kernel.
fn declaration(module: &mut Module, c: &mut Cursor<'_>) -> Result<()> {
    if c.eats("kernel ") {
        let name = c.word()?.to_owned();
        c.needs(" = fn")?;
        let function = FuncId(c.number()? as u32);
        module.kernels.push(Kernel::new(name, function));
    } else if c.eats("@g") {
        c.is_next(module.globals.len())?;
        c.needs(" = ")?;
        let space = space(c.word()?)?;
        c.needs(" ")?;
        let name = c.quoted()?;
        let size_bytes = c.named(" size ")?;
        let align_bytes = c.named(" align ")? as u32;
        let mut initializer = None;
        if c.eats(" bytes") {
            let mut bytes = Vec::new();
            while c.eats(" ") {
                let byte = u8::from_str_radix(c.word()?, 16);
                bytes.push(byte.map_err(|error| error.to_string())?);
            }
            initializer = Some(Arc::new(bytes));
        }
        module.globals.push(Global {
            name,
            space,
            size_bytes,
            align_bytes,
            initializer,
            relocations: Arc::default(),
            spec_id: None,
            export: None,
            import: None,
        });
    } else if c.eats("@a") {
        c.is_next(module.arrays.len())?;
        c.needs(" = ")?;
        let storage = named(c.word()?, &[ArrayStorage::Workgroup, ArrayStorage::Private])?;
        c.needs(" ")?;
        let name = c.quoted()?;
        c.needs(" ")?;
        let element = ty(c.word()?)?;
        let elements = c.named(" x ")? as u32;
        let mut spec_ids = Vec::new();
        while c.eats(" + spec ") {
            spec_ids.push(c.number()? as u32);
        }
        module.arrays.push(Array {
            name,
            storage,
            element,
            length: ArrayLength { elements, spec_ids },
        });
    } else {
        return Err("neither a variable nor an array, a kernel or a function".to_owned());
    }
    c.is_at_end()
}

/// `fn0: function "name" -> i32 i64 {`
fn function_head(c: &mut Cursor<'_>, count: usize) -> Result<Function> {
    c.needs("fn")?;
    c.is_next(count)?;
    c.needs(": function ")?;
    let mut function = Function::new(c.quoted()?);
    c.needs(" ->")?;
    while !c.eats(" {") {
        c.needs(" ")?;
        function.return_types.push(ty(c.word()?)?);
    }
    c.is_at_end()?;
    Ok(function)
}

/// The body of the last function: first all that is defined, then what it is defined as, since definitions may stand behind
/// uses.
fn function_body(module: &mut Module, lines: &[Line<'_>]) -> Result<()> {
    let Some(function) = module.functions.last_mut() else {
        return Err("a body without a function".to_owned());
    };
    let mut reader = Reader {
        function,
        values: HashMap::new(),
        blocks: HashMap::new(),
    };
    let mut insts = Vec::new();
    let mut block = None;
    for line in lines {
        let at = |reason: String| format!("line {}: {reason}: {}", line.number, line.text);
        let mut c = Cursor(line.text);
        if line.text.is_empty() || line.text.starts_with(';') {
        } else if c.eats("  var") {
            reader.variable(&mut c).map_err(at)?;
        } else if c.eats("  ") {
            let block = block.ok_or_else(|| at("before the first block".to_owned()))?;
            insts.push((line, block, reader.results(&mut c, block).map_err(at)?, c));
        } else {
            block = Some(reader.block(&mut c).map_err(at)?);
        }
    }
    for line in lines.iter().filter(|line| line.text.starts_with('b')) {
        let at = |reason: String| format!("line {}: {reason}: {}", line.number, line.text);
        reader.marks(&mut Cursor(line.text)).map_err(at)?;
    }
    for (line, block, inst, mut c) in insts {
        let at = |reason: String| format!("line {}: {reason}: {}", line.number, line.text);
        match inst {
            Some(inst) => {
                let op = reader.op(&mut c).map_err(at)?;
                let data = reader.function.inst_mut(inst);
                data.op = op;
                data.flags = flags(&mut c);
            }
            None => {
                let terminator = reader.terminator(&mut c).map_err(at)?;
                reader.function.block_mut(block).terminator = terminator;
            }
        }
        c.is_at_end().map_err(at)?;
    }
    Ok(())
}

/// A function being read, and what its values and blocks are called in the text.
struct Reader<'a> {
    function: &'a mut Function,
    values: HashMap<u64, Value>,
    blocks: HashMap<u64, Block>,
}

impl Reader<'_> {
    /// `0 = private "name" size 4 align 4`
    fn variable(&mut self, c: &mut Cursor<'_>) -> Result<()> {
        c.is_next(self.function.variables.len())?;
        c.needs(" = private ")?;
        let name = c.quoted()?;
        let size_bytes = c.named(" size ")?;
        let align_bytes = c.named(" align ")? as u32;
        self.function.add_variable(PrivateVariable {
            name,
            size_bytes,
            align_bytes,
        });
        c.is_at_end()
    }

    /// `b1(%2: i32):`, without what it is the header of.
    fn block(&mut self, c: &mut Cursor<'_>) -> Result<Block> {
        c.needs("b")?;
        let name = c.number()?;
        let block = if self.blocks.is_empty() {
            self.function.entry()
        } else {
            self.function.add_block()
        };
        if self.blocks.insert(name, block).is_some() {
            return Err(format!("b{name} is there twice"));
        }
        c.needs("(")?;
        while c.0.starts_with('%') {
            let (name, ty) = typed(c)?;
            let value = self.function.add_param(block, ty);
            self.define(name, value)?;
        }
        c.needs("):")?;
        Ok(block)
    }

    /// What a block is the header of.
    fn marks(&mut self, c: &mut Cursor<'_>) -> Result<()> {
        c.needs("b")?;
        let name = c.number()?;
        let block = self.blocks[&name];
        c.0 = c.0.split_once("):").map_or("", |(_, rest)| rest);
        let merge = if c.eats(" selection merge ") {
            let merge = self.target(c)?;
            Some(Merge::Selection { merge })
        } else if c.eats(" loop merge ") {
            let merge = self.target(c)?;
            c.needs(" continue ")?;
            let continues = self.target(c)?;
            Some(Merge::Loop { merge, continues })
        } else {
            None
        };
        let data = self.function.block_mut(block);
        data.merge = merge;
        data.keeps_loop = c.eats(" dont_unroll");
        data.keeps_selection = c.eats(" dont_flatten");
        c.is_at_end()
    }

    /// `%1: i32, %2: i32 = `, which makes an instruction without an operation yet; nothing for a terminator.
    fn results(&mut self, c: &mut Cursor<'_>, block: Block) -> Result<Option<Inst>> {
        let mut results = Vec::new();
        while c.0.starts_with('%') {
            results.push(typed(c)?);
        }
        if !results.is_empty() {
            c.needs(" = ")?;
        }
        let terminators = ["jump ", "branch ", "switch ", "return", "unreachable"];
        if terminators.iter().any(|word| c.0.starts_with(word)) {
            return Ok(None);
        }
        let types = results.iter().map(|&(_, ty)| ty);
        let inst = (self.function).make_inst(Op::Undef, types, InstFlags::default());
        self.function.block_mut(block).insts.push(inst);
        let made = self.function.inst(inst).results.clone();
        for ((name, _), value) in results.into_iter().zip(made) {
            self.define(name, value)?;
        }
        Ok(Some(inst))
    }

    fn define(&mut self, name: u64, value: Value) -> Result<()> {
        match self.values.insert(name, value) {
            None => Ok(()),
            Some(_) => Err(format!("%{name} is defined twice")),
        }
    }

    fn value(&self, c: &mut Cursor<'_>) -> Result<Value> {
        c.needs("%")?;
        let name = c.number()?;
        let value = self.values.get(&name).copied();
        value.ok_or_else(|| format!("%{name} is not defined"))
    }

    /// Values separated by commas, as many as there are.
    fn list(&self, c: &mut Cursor<'_>) -> Result<Values> {
        let mut values = Values::new();
        while c.0.starts_with('%') {
            values.push(self.value(c)?);
            if !c.0.starts_with(", %") {
                break;
            }
            c.needs(", ")?;
        }
        Ok(values)
    }

    fn all<const N: usize>(&self, c: &mut Cursor<'_>) -> Result<[Value; N]> {
        let values = self.list(c)?;
        let found = values.len();
        let values = <[Value; N]>::try_from(values.as_slice());
        values.map_err(|_| format!("{N} operands are needed, {found} are there"))
    }

    fn target(&self, c: &mut Cursor<'_>) -> Result<Block> {
        c.needs("b")?;
        let name = c.number()?;
        let block = self.blocks.get(&name).copied();
        block.ok_or_else(|| format!("there is no b{name}"))
    }

    fn edge(&self, c: &mut Cursor<'_>) -> Result<Edge> {
        let block = self.target(c)?;
        c.needs("(")?;
        let args = self.list(c)?;
        c.needs(")")?;
        Ok(Edge { block, args })
    }

    fn terminator(&self, c: &mut Cursor<'_>) -> Result<Terminator> {
        Ok(match c.word()? {
            "jump" => {
                c.needs(" ")?;
                Terminator::Jump(self.edge(c)?)
            }
            "branch" => {
                c.needs(" ")?;
                let condition = self.value(c)?;
                c.needs(", ")?;
                let then = self.edge(c)?;
                c.needs(", ")?;
                let otherwise = self.edge(c)?;
                Terminator::Branch {
                    condition,
                    then,
                    otherwise,
                }
            }
            "switch" => {
                c.needs(" ")?;
                let value = self.value(c)?;
                c.needs(", ")?;
                let mut cases = Vec::new();
                while !c.eats("default ") {
                    let case = c.number()?;
                    c.needs(" ")?;
                    cases.push((case, self.edge(c)?));
                    c.needs(", ")?;
                }
                let default = self.edge(c)?;
                Terminator::Switch {
                    value,
                    cases,
                    default,
                }
            }
            "return" => {
                c.eats(" ");
                Terminator::Return(self.list(c)?)
            }
            _ => Terminator::Unreachable,
        })
    }

    fn op(&self, c: &mut Cursor<'_>) -> Result<Op> {
        let name = c.word()?;
        c.eats(" ");
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        Ok(match first {
            "const" => Op::Const(c.number()?),
            "undef" => Op::Undef,
            "select" => {
                let [condition, a, b] = self.all(c)?;
                Op::Select(condition, a, b)
            }
            "fma" => {
                let [x, y, z] = self.all(c)?;
                Op::Fma(x, y, z)
            }
            "smul_extended" | "umul_extended" => {
                let [a, b] = self.all(c)?;
                let signed = first.starts_with('s');
                Op::MulExtended { signed, a, b }
            }
            "ss_dot" | "su_dot" | "us_dot" | "uu_dot" => {
                let signed = [0, 1].map(|at| first.as_bytes()[at] == b's');
                let format = snake(rest, &[DotFormat::Packed4x8, DotFormat::Components])?;
                Op::DotProduct {
                    signed,
                    format,
                    operands: self.list(c)?,
                }
            }
            "glsl" => Op::Glsl(decimal(rest)?, self.list(c)?),
            "opencl" => Op::OpenClStd(OpenClStd(decimal(rest)?), self.list(c)?),
            "ptr_add" => {
                let [pointer, offset] = self.all(c)?;
                Op::PtrAdd(pointer, offset)
            }
            "address" if c.eats("@g") => Op::GlobalAddress(GlobalId(c.number()? as u32)),
            "address" => {
                c.needs("var")?;
                Op::VariableAddress(VariableId(c.number()? as u32))
            }
            "work_item" => Op::WorkItem(dimensioned(c, &WORK_ITEM, &WORK_ITEMS)?),
            "implicit" => Op::Implicit(dimensioned(c, &IMPLICIT, &IMPLICITS)?),
            "builtin" => Op::BuiltIn(dimensioned(c, &BUILT_IN, &BUILT_INS)?),
            "spec_const" => {
                let id = c.number()? as u32;
                let default = c.named(" default ")? as u32;
                Op::SpecConst { id, default }
            }
            "call" => {
                c.needs("fn")?;
                let callee = FuncId(c.number()? as u32);
                c.needs("(")?;
                let args = self.list(c)?;
                c.needs(")")?;
                Op::Call(callee, args)
            }
            "sample_texture" => Op::SampleTexture(self.list(c)?),
            _ => match self.memory_op(first, c)? {
                Some(op) => op,
                None => self.arithmetic(first, rest, c)?,
            },
        })
    }

    /// Accesses of memory, barriers and collectives.
    fn memory_op(&self, name: &str, c: &mut Cursor<'_>) -> Result<Option<Op>> {
        Ok(Some(match name {
            "load" => {
                let place = self.place(c)?;
                Op::Load(place, access(c)?)
            }
            "store" => {
                let place = self.place(c)?;
                let access = access(c)?;
                c.needs(", ")?;
                Op::Store(place, self.list(c)?, access)
            }
            "copy" => {
                let to = self.value(c)?;
                let to_access = access(c)?;
                c.needs(", ")?;
                let from = self.value(c)?;
                let from_access = access(c)?;
                c.needs(", ")?;
                Op::Copy {
                    to,
                    from,
                    size_bytes: self.value(c)?,
                    to_access,
                    from_access,
                }
            }
            "control_barrier" => {
                let execution = scope(c)?;
                let memory = scope(c)?;
                Op::ControlBarrier {
                    execution,
                    memory,
                    semantics: Semantics(c.number()? as u32),
                }
            }
            "memory_barrier" => Op::MemoryBarrier {
                memory: scope(c)?,
                semantics: Semantics(c.number()? as u32),
            },
            _ => {
                if let Some(name) = name.strip_prefix("atomic_") {
                    let op = snake(name, &ATOMICS)?;
                    let scope = scope(c)?;
                    let semantics = Semantics(c.number()? as u32);
                    c.needs(" ")?;
                    let place = self.place(c)?;
                    c.needs(", ")?;
                    let values = self.list(c)?;
                    Op::Atomic {
                        op,
                        place,
                        values,
                        scope,
                        semantics,
                    }
                } else if let Some(name) = name.strip_prefix("group_") {
                    let op = group_op(name, c)?;
                    let scope = scope(c)?;
                    Op::Group(Group { op, scope }, self.list(c)?)
                } else {
                    return Ok(None);
                }
            }
        }))
    }

    fn arithmetic(&self, name: &str, rest: &str, c: &mut Cursor<'_>) -> Result<Op> {
        if let Ok(op) = snake(name, &UNARY) {
            return Ok(Op::Unary(op, self.value(c)?));
        }
        if let Ok(op) = snake(name, &BINARY) {
            let [a, b] = self.all(c)?;
            return Ok(Op::Binary(op, a, b));
        }
        if let Ok(op) = snake(name, &COMPARE) {
            let [a, b] = self.all(c)?;
            return Ok(Op::Compare(op, a, b));
        }
        Ok(Op::Convert(convert(name, rest)?, self.value(c)?))
    }

    fn place(&self, c: &mut Cursor<'_>) -> Result<Place> {
        let place = if c.eats("[") {
            Place::Pointer(self.value(c)?)
        } else if c.eats("address [") {
            let first = self.value(c)?;
            if c.eats(", ") {
                let hi = self.value(c)?;
                Place::AddressPair { lo: first, hi }
            } else if c.eats(" + ") {
                let index = self.value(c)?;
                Place::Indexed {
                    base: first,
                    index,
                    stride_bytes: c.named(" * ")? as u32,
                }
            } else {
                Place::Address(first)
            }
        } else if c.eats("@a") {
            let array = ArrayId(c.number()? as u32);
            c.needs("[")?;
            let index = self.value(c)?;
            Place::Element { array, index }
        } else if c.eats("argument[") {
            let offset_bytes = c.number()? as u32;
            Place::Argument { offset_bytes }
        } else {
            c.needs("uniform[")?;
            let index = self.value(c)?;
            Place::Uniform { index }
        };
        c.needs("]")?;
        Ok(place)
    }
}

/// `%1: i32`, and the comma behind it.
fn typed(c: &mut Cursor<'_>) -> Result<(u64, Type)> {
    c.needs("%")?;
    let name = c.number()?;
    c.needs(": ")?;
    let ty = ty(c.word()?)?;
    c.eats(", ");
    Ok((name, ty))
}

fn access(c: &mut Cursor<'_>) -> Result<Access> {
    Ok(Access {
        align_bytes: c.named(" align ")? as u32,
        volatile: c.eats(" volatile"),
        read_only: c.eats(" read_only"),
    })
}

fn flags(c: &mut Cursor<'_>) -> InstFlags {
    InstFlags {
        no_contraction: c.eats(" !no_contraction"),
        fast_math: c.eats(" !fast_math"),
        no_signed_wrap: c.eats(" !nsw"),
        no_unsigned_wrap: c.eats(" !nuw"),
    }
}

fn scope(c: &mut Cursor<'_>) -> Result<Scope> {
    let scope = named(c.word()?, &SCOPES)?;
    c.eats(" ");
    Ok(scope)
}

#[cfg(test)]
mod tests {
    use super::module;
    use crate::compiler::testing::opencl_c;
    use crate::compiler::{Capabilities, Library, Options, compile_observed};

    /// Whatever a kernel is between two passes, its text says all of it.
    #[test]
    fn what_is_printed_is_read() {
        let source = "
            kernel void test(global int *out, global const float *in, int n, local short *scratch) {
                local int shared[64];
                int id = get_global_id(0), sum = 0, own[8];
                for (int i = 0; i < n; i++) {
                    own[i & 7] = (int)(in[i] * 2.5f) + convert_int_sat_rtp(in[i + 1]);
                    if (own[i & 7] > 9 && i % 3) sum += own[(i + sum) & 7];
                }
                shared[get_local_id(0)] = sum;
                scratch[get_local_id(0)] = (short)sum;
                barrier(CLK_LOCAL_MEM_FENCE);
                switch (n & 3) {
                    case 0: sum += shared[get_local_id(0) ^ 1]; break;
                    case 1: sum -= work_group_reduce_add(sum); break;
                    default: sum = atomic_add(out + n, scratch[0]);
                }
                out[id] = sum + mul_hi(sum, n);
            }";
        let words = opencl_c(source);
        let library = Library::embedded().unwrap();
        for device in [
            Capabilities::full(),
            Capabilities::minimal(),
            Capabilities::lavapipe(),
        ] {
            let mut seen = 0;
            let options = Options::default();
            compile_observed(
                &[&words],
                &library,
                &device,
                &options,
                &mut |pass, before| {
                    let text = before.to_string();
                    let read =
                        module(&text).unwrap_or_else(|error| panic!("after {pass}: {error}"));
                    let text = read.to_string();
                    let again = module(&text).unwrap().to_string();
                    assert_eq!(text, again, "after {pass}");
                    assert_eq!(text.lines().count(), before.to_string().lines().count());
                    seen += 1;
                },
            )
            .unwrap();
            assert!(seen > 40);
        }
    }

    #[test]
    fn what_cant_be_read_is_named() {
        let error = |text: &str| module(text).unwrap_err();
        let body =
            |line: &str| format!("fn0: function \"f\" -> i32 {{\nb0(%0: i32):\n  {line}\n}}");
        assert!(module(&body("return %0")).is_ok());
        let odd = error(&body("return %1"));
        assert!(odd.starts_with("line 3: %1 is not defined"), "{odd}");
        let odd = error(&body("%1: i32 = increase %0"));
        assert!(odd.contains("what is increase?"), "{odd}");
        let odd = error(&body("jump b1()"));
        assert!(odd.contains("there is no b1"), "{odd}");
        let odd = error("fn0: function \"f\" -> {\nb0():");
        assert!(odd.contains("has no end"), "{odd}");
    }
}
