//! Which functions' bodies a kernel holds once, so that it does not grow with every path down its call tree.
//!
//! Where a function calls another twice, which calls a third twice, inlining makes four copies of the third: copies
//! multiply. Drivers inline what is left as functions in the same way, so that calls cost as much as copies do. A kernel
//! that would get larger than its device bears ([`Limits`]) is given bodies that all calls share ([`super::share`]), the
//! largest first: those near the kernel, which are called least.

use crate::compiler::analysis::callees;
use crate::compiler::ir::{AddressSpace, FuncId, Function, Module, Op, Place};
use crate::compiler::{Capabilities, CompileError, Sharing};

/// How large a kernel may get by inlining, in instructions.
#[derive(Clone, Copy)]
struct Limits {
    /// A kernel of at most so many is inlined whole: code in one piece runs faster than shared bodies.
    whole: u64,
    /// What a larger one is brought down to by sharing bodies, where that is possible.
    aim: u64,
    /// Instructions that each scalar counts that is loaded from memory or stored there, beside the instruction that does so.
    scalar: u64,
}

/// What drivers of GPUs compile in seconds.
const USUAL: Limits = Limits {
    whole: 1 << 15,
    aim: 4000,
    scalar: 0,
};

/// What those of processors do, and some of Mesa's: SwiftShader's time grows with the paths through a loop.
const SLOW: Limits = Limits {
    whole: 5000,
    aim: 1000,
    scalar: 0,
};

/// What those do that make a loop of each access to memory, as llvmpipe: their time grows with the square of the scalars.
const SERIAL: Limits = Limits { scalar: 8, ..SLOW };

impl Limits {
    fn of(capabilities: &Capabilities) -> Self {
        let is_slow = capabilities.compiles_slowly || capabilities.shares_bodies;
        match (is_slow, capabilities.serial_memory) {
            (true, true) => SERIAL,
            (true, false) => SLOW,
            (false, _) => USUAL,
        }
    }
}

/// A kernel that stays larger than so many instructions is refused.
const LARGEST: u64 = 1 << 19;

/// One with more makes do with shared bodies, whatever is handed on to them.
const LARGE: u64 = 1 << 18;

/// What a kernel with shared bodies may count at most, scalars in memory included, where they are shared in another way, to be
/// compiled in that way, too.
const MOST_TRIED: u64 = 80_000;

/// Instructions that a body has at least to be shared where only large ones are: what each call hands on is to be little beside
/// them, which counts when the kernel runs, too. `sin` of doubles has 1,350.
const LARGE_BODY: u64 = 2000;

/// Which part of the kernel's instructions such a body spares at least.
const LARGE_PART: u64 = 16;

/// Words of a copy that count: longer ones are loops.
const LONGEST_COPY: u64 = 16;

/// What a call of a shared body counts: the number of its return address, the jump, the case of the switch.
const CALL: u64 = 8;

/// What a body must have to be shared.
#[derive(Clone, Copy)]
struct Worth {
    /// At least so many instructions, with what is inlined into it.
    body: u64,
    /// It spares the kernel more than so many.
    spared: u64,
}

/// The call tree of a module, and which functions are shared.
#[derive(Clone)]
pub struct Budget {
    /// Instructions of each function itself.
    own: Vec<u64>,
    /// What they count with the scalars that they load and store.
    weighed: Vec<u64>,
    /// For each function those that it calls, and how often.
    calls: Vec<Vec<(FuncId, u64)>>,
    /// Whether a function, or one that it calls, depends on which work-items execute it together. Such code must not
    /// get into a loop, as calls of a shared body make.
    convergent: Vec<bool>,
    /// Whether calls of a function may go to one body.
    sharable: Vec<bool>,
    shared: Vec<bool>,
    /// Whether calls of shared bodies are left in a function.
    open: Vec<bool>,
}

impl Budget {
    /// Decides for the functions of a module, of which `order` has those in use, callees first, as far as `sharing` lets it.
    ///
    /// # Errors
    /// A kernel has more than [`LARGEST`] instructions whatever is shared.
    pub fn new(
        module: &Module,
        order: &[FuncId],
        capabilities: &Capabilities,
        sharing: Sharing,
    ) -> Result<Self, CompileError> {
        let limits = Limits::of(capabilities);
        let mut budget = Self::measure(module, order, limits);
        let whole = budget.size(module, order, &budget.weighed).total;
        let worth = match sharing {
            Sharing::All => Some(Worth {
                body: 0,
                spared: CALL,
            }),
            Sharing::Large => Some(Worth {
                body: LARGE_BODY,
                spared: whole / LARGE_PART,
            }),
            Sharing::Nothing => None,
        };
        if let Some(worth) = worth.filter(|_| whole > limits.whole) {
            budget.share(module, order, whole, limits.aim, worth);
        }
        budget.settle(module, order)?;
        Ok(budget)
    }

    /// A budget in which nothing is shared.
    fn measure(module: &Module, order: &[FuncId], limits: Limits) -> Self {
        let count = module.functions.len();
        let mut budget = Self {
            own: vec![0; count],
            weighed: vec![0; count],
            calls: vec![Vec::new(); count],
            convergent: vec![false; count],
            sharable: vec![false; count],
            shared: vec![false; count],
            open: vec![false; count],
        };
        for &id in order {
            budget.add(module, id, limits);
        }
        budget
    }

    /// By function: whether it depends on which work-items execute it together; nothing where the kernels are small enough to
    /// be inlined whole.
    pub fn convergent_if_large(
        module: &Module,
        order: &[FuncId],
        capabilities: &Capabilities,
    ) -> Option<Vec<bool>> {
        let limits = Limits::of(capabilities);
        let budget = Self::measure(module, order, limits);
        let whole = budget.size(module, order, &budget.weighed).total;
        (whole > limits.whole).then_some(budget.convergent)
    }

    /// Whether the kernel is small enough to be tried beside another budget.
    pub fn is_small(&self, module: &Module, order: &[FuncId]) -> bool {
        self.size(module, order, &self.weighed).total <= MOST_TRIED
    }

    /// Whether the kernel has very many instructions.
    pub fn is_large(&self, module: &Module, order: &[FuncId]) -> bool {
        self.size(module, order, &self.own).total > LARGE
    }

    /// Whether the same bodies are shared as by another budget.
    pub fn shares_as(&self, other: &Self) -> bool {
        self.shared == other.shared
    }

    fn settle(&mut self, module: &Module, order: &[FuncId]) -> Result<(), CompileError> {
        self.find_open(order);
        match self.size(module, order, &self.own).total {
            size @ ..=LARGEST => {
                log::debug!("inlined: {size} instructions");
                Ok(())
            }
            size => Err(CompileError::unsupported(format!(
                "the kernel is too large: with its functions it has {size} instructions, of which {LARGEST} are supported"
            ))),
        }
    }

    /// Whether there are shared bodies.
    pub fn shares(&self) -> bool {
        self.shared.contains(&true)
    }

    /// Whether all calls of a function go to one body.
    pub fn is_shared(&self, function: FuncId) -> bool {
        self.shared[function.index()]
    }

    /// Whether calls of shared bodies are left in a function once it is done.
    pub fn is_open(&self, function: FuncId) -> bool {
        self.open[function.index()]
    }

    /// Whether a call is where shared bodies are put: what is around it can't be in a loop with them.
    pub fn ends_sharing(&self, caller: FuncId, callee: FuncId) -> bool {
        let is_convergent = |id: FuncId| self.convergent[id.index()];
        is_convergent(caller) && !is_convergent(callee)
    }

    fn add(&mut self, module: &Module, id: FuncId, limits: Limits) {
        let (index, function) = (id.index(), module.function(id));
        let mut called: Vec<FuncId> = callees(function).collect();
        called.sort();
        for &callee in &called {
            match self.calls[index].last_mut() {
                Some((last, count)) if *last == callee => *count += 1,
                _ => self.calls[index].push((callee, 1)),
            }
        }
        self.own[index] = size_of(function);
        self.weighed[index] = self.own[index] + limits.scalar * scalars_of(function);
        let of_callees = |facts: &[bool]| called.iter().any(|callee| facts[callee.index()]);
        self.convergent[index] = has_op(function, is_convergent) || of_callees(&self.convergent);
        // Which image is sampled must be the same for all work-items: calls with different ones can't meet.
        let samples = has_op(function, |op| matches!(op, Op::SampleTexture(_)));
        let may_be = |callee: &FuncId| self.sharable[callee.index()];
        self.sharable[index] = !self.convergent[index] && !samples && called.iter().all(may_be);
    }

    /// Shares the largest bodies that are worth it, until the kernel has at most `aim` instructions; none, where that does not
    /// halve it.
    fn share(&mut self, module: &Module, order: &[FuncId], whole: u64, aim: u64, worth: Worth) {
        let mut total = whole;
        let mut pending: Vec<FuncId> = order.to_vec();
        pending.retain(|id| self.sharable[id.index()]);
        while total > aim {
            let bodies = self.size(module, order, &self.weighed).bodies;
            let by_size = |id: &FuncId| bodies[id.index()];
            pending.sort_by_key(|id| (by_size(id), id.index()));
            let is_worth_it = |next: &FuncId| bodies[next.index()] >= worth.body;
            let Some(next) = pending.pop().filter(is_worth_it) else {
                break;
            };
            self.shared[next.index()] = true;
            let size = self.size(module, order, &self.weighed).total;
            if size.saturating_add(worth.spared) < total {
                total = size;
            } else {
                self.shared[next.index()] = false;
            }
        }
        if total > whole / 2 {
            self.shared.fill(false);
        }
    }

    fn find_open(&mut self, order: &[FuncId]) {
        for &id in order {
            let calls = &self.calls[id.index()];
            let is_left = |callee: FuncId| self.is_shared(callee) || self.is_open(callee);
            self.open[id.index()] =
                !self.convergent[id.index()] && calls.iter().any(|&(callee, _)| is_left(callee));
        }
    }

    /// Sizes of functions with what is inlined into them, of which `own` has what each counts itself.
    fn size(&self, module: &Module, order: &[FuncId], own: &[u64]) -> Sizes {
        let mut bodies = vec![0u64; self.own.len()];
        for &id in order {
            let calls = self.calls[id.index()].iter();
            let size = calls.fold(own[id.index()], |size, &(callee, count)| {
                let each = match (self.is_shared(callee), self.ends_sharing(id, callee)) {
                    (_, true) => self.with_shared(callee, &bodies),
                    (true, false) => CALL,
                    (false, false) => bodies[callee.index()],
                };
                size.saturating_add(each.saturating_mul(count))
            });
            bodies[id.index()] = size;
        }
        let kernels = module.kernels.iter().map(|kernel| kernel.function);
        let total = kernels.fold(0, |total: u64, id| {
            total.saturating_add(self.with_shared(id, &bodies))
        });
        Sizes { bodies, total }
    }

    /// The size of a function and of the shared bodies that it calls.
    fn with_shared(&self, root: FuncId, bodies: &[u64]) -> u64 {
        let mut size = bodies[root.index()];
        if self.convergent[root.index()] {
            return size;
        }
        let mut seen = vec![false; self.own.len()];
        let mut pending = vec![root];
        while let Some(id) = pending.pop() {
            for &(callee, _) in &self.calls[id.index()] {
                if std::mem::replace(&mut seen[callee.index()], true) {
                    continue;
                }
                pending.push(callee);
                if self.is_shared(callee) {
                    size = size.saturating_add(bodies[callee.index()]);
                }
            }
        }
        size
    }
}

struct Sizes {
    /// The size of each function with what is inlined into it.
    bodies: Vec<u64>,
    /// The size of the kernels, with the shared bodies that they call.
    total: u64,
}

/// Instructions of a function, without constants.
fn size_of(function: &Function) -> u64 {
    let insts = function
        .layout()
        .iter()
        .flat_map(|&block| &function.block(block).insts);
    let counted = insts.filter(|&&inst| !matches!(function.inst(inst).op, Op::Const(_)));
    counted.count() as u64
}

/// Scalars that a function loads and stores, other than in private memory; a copy is one of words.
fn scalars_of(function: &Function) -> u64 {
    let is_private = |pointer| function.space(pointer) == Some(AddressSpace::Private);
    let at = |place: &Place, scalars: usize| match *place {
        Place::Pointer(pointer) if is_private(pointer) => 0,
        _ => scalars as u64,
    };
    let blocks = function.layout().iter();
    let insts = blocks.flat_map(|&block| &function.block(block).insts);
    let scalars = insts.map(|&inst| {
        let data = function.inst(inst);
        match &data.op {
            Op::Load(place, _) => at(place, data.results.len()),
            Op::Store(place, values, _) => at(place, values.len()),
            Op::Atomic { place, .. } => at(place, 1),
            Op::Copy {
                to,
                from,
                size_bytes,
                ..
            } => {
                let sides = [to, from]
                    .iter()
                    .filter(|&&&side| !is_private(side))
                    .count();
                // One of a size that is not known is a loop.
                let words = function
                    .constant(*size_bytes)
                    .map_or(1, |size| size.div_ceil(4));
                sides as u64 * words.min(LONGEST_COPY)
            }
            _ => 0,
        }
    });
    scalars.sum()
}

fn has_op(function: &Function, is: impl Fn(&Op) -> bool) -> bool {
    let mut insts = function
        .layout()
        .iter()
        .flat_map(|&block| &function.block(block).insts);
    insts.any(|&inst| is(&function.inst(inst).op))
}

/// Whether an operation depends on which work-items execute it together, or becomes one that does.
pub fn is_convergent(op: &Op) -> bool {
    matches!(op, Op::ControlBarrier { .. } | Op::Group(..) | Op::Pipe(..))
}
