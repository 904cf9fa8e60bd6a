//! The text form of the IR, for people, tests and `pumice compile --emit ir`.

use super::{
    Access, Convert, Edge, Function, InstFlags, Merge, Module, Op, Place, Terminator, Value, Values,
};
use std::fmt::{self, Display, Formatter, Write};

/// Bytes of a variable's initializer that are printed.
const MOST_BYTES: usize = 64;

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, global) in self.globals.iter().enumerate() {
            write!(
                f,
                "@g{index} = {} \"{}\" size {}",
                global.space, global.name, global.size_bytes
            )?;
            write!(f, " align {}", global.align_bytes)?;
            match &global.initializer {
                Some(bytes) if bytes.len() <= MOST_BYTES => {
                    f.write_str(" bytes")?;
                    bytes.iter().try_for_each(|byte| write!(f, " {byte:02x}"))?;
                    writeln!(f)?;
                }
                Some(_) => writeln!(f, " bytes of its own")?,
                None => writeln!(f)?,
            }
        }
        for (index, array) in self.arrays.iter().enumerate() {
            write!(
                f,
                "@a{index} = {:?} \"{}\" {}",
                array.storage, array.name, array.element
            )?;
            write!(f, " x {}", array.length.elements)?;
            for id in &array.length.spec_ids {
                write!(f, " + spec {id}")?;
            }
            writeln!(f)?;
        }
        for kernel in &self.kernels {
            writeln!(f, "kernel {} = {}", kernel.name, kernel.function)?;
        }
        for (index, function) in self.functions.iter().enumerate() {
            writeln!(f, "\nfn{index}: {function}")?;
        }
        Ok(())
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "function \"{}\" ->", self.name)?;
        for ty in &self.return_types {
            write!(f, " {ty}")?;
        }
        writeln!(f, " {{")?;
        for (index, variable) in self.variables.iter().enumerate() {
            let (size, align) = (variable.size_bytes, variable.align_bytes);
            writeln!(
                f,
                "  var{index} = private \"{}\" size {size} align {align}",
                variable.name
            )?;
        }
        for &block in self.layout() {
            let data = self.block(block);
            write!(f, "{block}(")?;
            for (index, &param) in data.params.iter().enumerate() {
                let comma = if index > 0 { ", " } else { "" };
                write!(f, "{comma}{param}: {}", self.ty(param))?;
            }
            f.write_str("):")?;
            match data.merge {
                None => {}
                Some(Merge::Selection { merge }) => write!(f, " selection merge {merge}")?,
                Some(Merge::Loop { merge, continues }) => {
                    write!(f, " loop merge {merge} continue {continues}")?;
                }
            }
            if data.keeps_loop {
                f.write_str(" dont_unroll")?;
            }
            if data.keeps_selection {
                f.write_str(" dont_flatten")?;
            }
            writeln!(f)?;
            for &inst in &data.insts {
                let data = self.inst(inst);
                f.write_str("  ")?;
                for (index, &result) in data.results.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{result}: {}", self.ty(result))?;
                }
                if !data.results.is_empty() {
                    f.write_str(" = ")?;
                }
                writeln!(f, "{}{}", data.op, Flags(data.flags))?;
            }
            writeln!(f, "  {}", data.terminator)?;
        }
        f.write_char('}')
    }
}

struct Flags(InstFlags);

impl Display for Flags {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let flags = [
            (self.0.no_contraction, " !no_contraction"),
            (self.0.fast_math, " !fast_math"),
            (self.0.no_signed_wrap, " !nsw"),
            (self.0.no_unsigned_wrap, " !nuw"),
        ];
        flags
            .iter()
            .filter(|(set, _)| *set)
            .try_for_each(|(_, name)| f.write_str(name))
    }
}

struct List<'a>(&'a [Value]);

impl Display for List<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, value) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{value}")?;
        }
        Ok(())
    }
}

/// The name of a variant in snake case, with what it holds as Rust prints it: `global_id(0)`.
pub(super) struct Snake<T>(pub T);

impl<T: fmt::Debug> Display for Snake<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = format!("{:?}", self.0);
        let head = text
            .find(|c: char| !c.is_alphanumeric())
            .unwrap_or(text.len());
        for (index, c) in text[..head].chars().enumerate() {
            if c.is_uppercase() && index > 0 {
                f.write_char('_')?;
            }
            f.write_char(c.to_ascii_lowercase())?;
        }
        f.write_str(&text[head..])
    }
}

impl Display for Op {
    #[expect(clippy::too_many_lines, reason = "a table: the text of each operation")]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let list = |values: &Values| List(values).to_string();
        match self {
            Self::Const(bits) => write!(f, "const {bits:#x}"),
            Self::Undef => f.write_str("undef"),
            Self::Unary(op, a) => write!(f, "{} {a}", Snake(op)),
            Self::Binary(op, a, b) => write!(f, "{} {a}, {b}", Snake(op)),
            Self::Compare(op, a, b) => write!(f, "{} {a}, {b}", Snake(op)),
            Self::Select(c, a, b) => write!(f, "select {c}, {a}, {b}"),
            Self::Fma(a, b, c) => write!(f, "fma {a}, {b}, {c}"),
            Self::Convert(op, a) => write!(f, "{op} {a}"),
            Self::MulExtended { signed, a, b } => {
                write!(
                    f,
                    "{}mul_extended {a}, {b}",
                    if *signed { 's' } else { 'u' }
                )
            }
            Self::DotProduct {
                signed,
                format,
                operands,
            } => {
                let sign = |signed: bool| if signed { 's' } else { 'u' };
                let (a, b) = (sign(signed[0]), sign(signed[1]));
                write!(f, "{a}{b}_dot.{} {}", Snake(format), list(operands))
            }
            Self::OpenClStd(op, args) => write!(f, "opencl.{} {}", op.0, list(args)),
            Self::Glsl(op, args) => write!(f, "glsl.{op} {}", list(args)),
            Self::PtrAdd(pointer, offset) => write!(f, "ptr_add {pointer}, {offset}"),
            Self::VariableAddress(variable) => write!(f, "address {variable}"),
            Self::GlobalAddress(global) => write!(f, "address {global}"),
            Self::Load(place, access) => write!(f, "load {place}{access}"),
            Self::Store(place, values, access) => {
                write!(f, "store {place}{access}, {}", list(values))
            }
            Self::Copy {
                to,
                from,
                size_bytes,
                to_access,
                from_access,
            } => {
                write!(f, "copy {to}{to_access}, {from}{from_access}, {size_bytes}")
            }
            Self::Atomic {
                op,
                place,
                values,
                scope,
                semantics,
            } => {
                let (values, bits) = (list(values), semantics.0);
                write!(
                    f,
                    "atomic_{} {scope:?} {bits:#x} {place}, {values}",
                    Snake(op)
                )
            }
            Self::ControlBarrier {
                execution,
                memory,
                semantics,
            } => {
                write!(
                    f,
                    "control_barrier {execution:?} {memory:?} {:#x}",
                    semantics.0
                )
            }
            Self::MemoryBarrier { memory, semantics } => {
                write!(f, "memory_barrier {memory:?} {:#x}", semantics.0)
            }
            Self::Group(group, args) => {
                write!(
                    f,
                    "group_{} {:?} {}",
                    Snake(group.op),
                    group.scope,
                    list(args)
                )
            }
            Self::WorkItem(query) => write!(f, "work_item {}", Snake(query)),
            Self::Implicit(implicit) => write!(f, "implicit {}", Snake(implicit)),
            Self::BuiltIn(input) => write!(f, "builtin {}", Snake(input)),
            Self::SpecConst { id, default } => write!(f, "spec_const {id} default {default}"),
            Self::Call(function, args) => write!(f, "call {function}({})", list(args)),
            Self::Image(access, args) => write!(
                f,
                "image_{} {:?} {}({})",
                Snake(access.kind),
                access.dimension,
                access.texel,
                list(args)
            ),
            Self::Pipe(pipe, args) => write!(
                f,
                "pipe_{} {} {:?} {} align {} ({})",
                Snake(pipe.op),
                if pipe.writes { "write" } else { "read" },
                pipe.scope,
                pipe.packet_bytes,
                pipe.align_bytes,
                list(args)
            ),
            Self::SampleTexture(args) => write!(f, "sample_texture {}", list(args)),
            Self::Printf {
                format, arguments, ..
            } => {
                write!(f, "printf {format}({})", list(arguments))
            }
        }
    }
}

impl Display for Convert {
    /// The name, and behind points how it rounds and that it saturates: `float_to_signed.rtz.saturate`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (name, rounding, saturate) = match *self {
            Self::FloatToUnsigned { rounding, saturate } => {
                ("float_to_unsigned", rounding, saturate)
            }
            Self::FloatToSigned { rounding, saturate } => ("float_to_signed", rounding, saturate),
            Self::UnsignedToFloat(rounding) => ("unsigned_to_float", rounding, false),
            Self::SignedToFloat(rounding) => ("signed_to_float", rounding, false),
            Self::FloatToFloat(rounding) => ("float_to_float", rounding, false),
            other => return Snake(other).fmt(f),
        };
        f.write_str(name)?;
        if let Some(rounding) = rounding {
            write!(f, ".{}", Snake(rounding))?;
        }
        if saturate {
            f.write_str(".saturate")?;
        }
        Ok(())
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pointer(v) => write!(f, "[{v}]"),
            Self::Address(v) => write!(f, "address [{v}]"),
            Self::AddressPair { lo, hi } => write!(f, "address [{lo}, {hi}]"),
            Self::Indexed {
                base,
                index,
                stride_bytes,
            } => write!(f, "address [{base} + {index} * {stride_bytes}]"),
            Self::Element { array, index } => write!(f, "{array}[{index}]"),
            Self::Argument { offset_bytes } => write!(f, "argument[{offset_bytes}]"),
            Self::Uniform { index } => write!(f, "uniform[{index}]"),
        }
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, " align {}", self.align_bytes)?;
        if self.volatile {
            f.write_str(" volatile")?;
        }
        if self.read_only {
            f.write_str(" read_only")?;
        }
        Ok(())
    }
}

impl Display for Edge {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.block, List(&self.args))
    }
}

impl Display for Terminator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jump(edge) => write!(f, "jump {edge}"),
            Self::Branch {
                condition,
                then,
                otherwise,
            } => {
                write!(f, "branch {condition}, {then}, {otherwise}")
            }
            Self::Switch {
                value,
                cases,
                default,
            } => {
                write!(f, "switch {value}")?;
                for (case, edge) in cases {
                    write!(f, ", {case} {edge}")?;
                }
                write!(f, ", default {default}")
            }
            Self::Return(values) if values.is_empty() => f.write_str("return"),
            Self::Return(values) => write!(f, "return {}", List(values)),
            Self::Unreachable => f.write_str("unreachable"),
        }
    }
}
