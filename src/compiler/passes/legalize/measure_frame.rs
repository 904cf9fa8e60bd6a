//! Finds kernels that need more stack than the driver has.
//!
//! SwiftShader gives every private array, every access to memory by an address and every parameter of a block a place in one
//! frame of 1 MiB, and ends the process when they don't fit. How much each takes was measured on the versions of Chromium 147
//! and 153.
//!
//! **Needs** what the driver is given: pointers lowered, calls as they stay. Changes no code. Does nothing unless the driver has
//! such a limit ([`crate::compiler::Capabilities::frame`]).

use crate::compiler::ir::{ArrayId, ArrayStorage, FuncId, Inst, Module, Op, Place};
use crate::compiler::{CompileError, Context};
use crate::drivers::FrameLimit;
use std::collections::{BTreeSet, HashMap};

pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let Some(limit) = cx.capabilities.frame else {
        return Ok(());
    };
    for at in 0..module.kernels.len() {
        let mut frame = Frame {
            module,
            limit,
            bodies: HashMap::new(),
            arrays: BTreeSet::new(),
        };
        let bytes = frame
            .of_body(module.kernels[at].function)
            .saturating_add(frame.of_arrays());
        if bytes > limit.bytes {
            module.kernels[at].excess = Some(format!(
                "private arrays, accesses to memory and variables take {bytes} bytes of stack; the device's driver has {}",
                limit.bytes
            ));
        }
    }
    Ok(())
}

/// What a kernel takes of the driver's frame.
struct Frame<'a> {
    module: &'a Module,
    limit: FrameLimit,
    /// What the accesses of each function take, and of those that it calls: the driver copies bodies to their calls.
    bodies: HashMap<FuncId, u64>,
    arrays: BTreeSet<ArrayId>,
}

impl Frame<'_> {
    fn of_body(&mut self, id: FuncId) -> u64 {
        if let Some(&bytes) = self.bodies.get(&id) {
            return bytes;
        }
        // For one that calls itself, which OpenCL C forbids.
        self.bodies.insert(id, 0);
        let function = self.module.function(id);
        let mut bytes = 0_u64;
        for &block in function.layout() {
            let data = function.block(block);
            for &inst in &data.insts {
                bytes = bytes.saturating_add(self.of_instruction(id, inst));
            }
            let edges = data.terminator.edges();
            let args: usize = edges.iter().map(|edge| edge.args.len()).sum();
            let params = data.params.len() as u64 * self.limit.parameter_bytes;
            bytes = bytes.saturating_add(params + args as u64 * self.limit.argument_bytes);
        }
        self.bodies.insert(id, bytes);
        bytes
    }

    fn of_instruction(&mut self, id: FuncId, inst: Inst) -> u64 {
        let data = self.module.function(id).inst(inst);
        let (place, bytes) = match &data.op {
            Op::Load(place, _) => (place, self.limit.of_load(data.results.len())),
            Op::Store(place, values, _) => (place, self.limit.of_store(values.len())),
            Op::Atomic { place, .. } => (place, self.limit.of_load(1)),
            Op::Call(callee, _) => return self.of_body(*callee),
            _ => return 0,
        };
        if let Place::Element { array, .. } = place {
            self.arrays.insert(*array);
        }
        if place.is_device_address() { bytes } else { 0 }
    }

    fn of_arrays(&self) -> u64 {
        let arrays = self.arrays.iter().map(|&id| self.module.array(id));
        arrays
            .filter(|array| array.storage == ArrayStorage::Private)
            .map(|array| {
                let words = u64::from(array.element.size_bytes()).div_ceil(4);
                u64::from(array.length.elements)
                    .saturating_mul(words)
                    .saturating_mul(self.limit.array_word_bytes)
            })
            .fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use crate::compiler::{self, Capabilities, Library, Options, testing};

    /// What a kernel takes more of than SwiftShader has.
    fn excess(source: &str) -> Option<String> {
        let outcome = compiler::compile(
            &[&testing::opencl_c(source)],
            &Library::embedded().unwrap(),
            &Capabilities::minimal(),
            &Options::default(),
        );
        outcome.expect("it compiles").kernels[0].excess.clone()
    }

    /// So many loads that depend on each other.
    fn loads(count: usize, array_words: usize) -> String {
        let loads: String = (0..count)
            .map(|at| format!("s = s * 3 + a[(s + {at}) & 63];\n"))
            .collect();
        format!(
            "kernel void k(global uint *a) {{
                uint s = 0, l[{array_words}];
                for (uint i = 0; i < {array_words}; ++i) l[i] = a[i & 63];
                {loads} a[s & 63] = s + l[s % {array_words}];
            }}"
        )
    }

    /// Switches in a loop, of 64 ways, which each change another one of 32 variables.
    fn switches(count: usize) -> String {
        let each = |text: &dyn Fn(usize) -> String| (0..32).map(text).collect::<String>();
        let variables = each(&|v| format!("uint v{v} = a[g] * {} + n;", v + 3));
        let switches: String = (0..count)
            .map(|at| {
                let way = |case: usize| {
                    let (v, next) = ((at + case) % 32, (at + case + 1) % 32);
                    let factor = 2 * at + 3 + case;
                    format!("case {case}: v{v} = v{v} * {factor} + v{next}; break;\n")
                };
                let ways: String = (0..64).map(way).collect();
                format!("switch (v{} & 63) {{ {ways} }}\n", at % 32)
            })
            .collect();
        let all = each(&|v| format!("a[g + {v}] = v{v};"));
        format!(
            "kernel void k(global uint *a, uint n) {{
                uint g = get_global_id(0);
                {variables}
                for (uint i = 0; i < n; ++i) {{ {switches} }}
                {all}
            }}"
        )
    }

    #[test]
    fn variables_take_room_too() {
        assert_eq!(excess(&switches(7)), None);
        assert!(excess(&switches(14)).is_some());
    }

    #[test]
    fn only_what_does_not_fit_is_excess() {
        assert_eq!(excess(&loads(1_500, 16_000)), None);
        for (count, array_words) in [(4_200, 1), (2_500, 16_000), (10, 40_000)] {
            let excess = excess(&loads(count, array_words)).unwrap_or_default();
            assert!(
                excess.contains("bytes of stack"),
                "{count}, {array_words}: {excess}"
            );
        }
    }
}
