//! Which loops are unrolled, and how far.

use super::body::Body;

/// Up to where loops are unrolled.
struct Budget {
    /// Iterations of the loop.
    iterations: usize,
    /// Instructions, those of all iterations together, or of as many as become one.
    instructions: usize,
    /// Bytes loaded from device memory, by all iterations together.
    bytes: usize,
}

impl Budget {
    /// A budget without a limit to bytes.
    const fn of(iterations: usize, instructions: usize) -> Self {
        Self {
            iterations,
            instructions,
            bytes: usize::MAX,
        }
    }

    /// How many iterations of so many instructions it allows.
    fn most(&self, size: usize) -> usize {
        self.iterations.min(self.instructions / size.max(1))
    }
}

/// For loops over private memory, which becomes registers. `a[i] = a[i] * c + a[i - 1]` over 32 and 192 floats takes a tenth and a
/// sixth of the time on SwiftShader (147), a fourteenth and a fifth on lavapipe (22.3.6). With more instructions copies get
/// slower than loops: of 16 multiply-adds in each of 64 iterations, 1,600 instructions, SwiftShader loses a tenth, lavapipe
/// gains a sixth. NVIDIA's compiler (580) does it by itself up to 192 iterations: the same within 3 %, but for 32 iterations of
/// the shortest loop, where it takes 9 % longer.
const PRIVATE: Budget = Budget::of(192, 2048);

/// For loops that load from device memory, unless [`PRIVATE`] limits them: the loads of all iterations are in flight at once. One
/// load and 16 multiply-adds in each of 16 iterations take 20.0 µs in place of 26.9 on the H200, 3.6 ms in place of 4.2 on SwiftShader.
const LOADS: Budget = Budget::of(16, 320);

/// For loops that load from nearer memory, and where no loads are in flight together (`Capabilities::serial_memory`). More gains
/// nothing on lavapipe (22.3.6), and loses where LLVM 15 computes long chains for each work-item by itself: 32 iterations as those
/// above took seven times as long.
const NEAR_LOADS: Budget = Budget::of(8, 320);

/// For loops with barriers and no loop within. With more bytes, in a row for each work-item, NVIDIA's driver would load all
/// rows' first quarters, then all rows' second ones: at a third of the bandwidth, as what the cache held of the lines is gone
/// by then.
const EXCHANGES: Budget = Budget {
    iterations: 16,
    instructions: 1024,
    bytes: 64,
};

/// For loops that only compute, of which iterations become one: as many as the first of [`FACTORS`] that fits. clpeak's 128
/// iterations of 16 multiply-adds ran at 52.9 TFLOPS alone, at 63.0 by fours (H200).
const COMPUTES: Budget = Budget::of(4096, 160);
const FACTORS: [usize; 3] = [8, 4, 2];

/// Instructions of the iterations that become one, where the device counts iterations, and how many these may be.
pub const PARTIAL: usize = 512;
pub const MANY: [usize; 6] = [64, 32, 16, 8, 4, 2];

/// For a loop that is unrolled so that iterations of the one around it can become one. Left as they are, such loops take twice as
/// long on lavapipe (22.3.6), 8 times 8 steps of a hash as well as 4 times 16, and the shortest ten times; longer ones take the
/// same.
const WITHIN: Budget = Budget::of(16, 256);

/// Instructions, all iterations that become one together, of a loop that loads the same for all work-items. Products of a matrix by
/// eights took 5.8 ms on lavapipe (22.3.6) with 320 or more, 9.3 ms with less; with more than 640 nothing is gained.
const SHARES: usize = 640;

/// Whether a loop over private memory is unrolled as a whole: so many iterations of so many instructions.
pub fn is_for_registers(iterations: usize, size: usize) -> bool {
    iterations <= PRIVATE.most(size)
}

/// How a loop is unrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrolling {
    /// The whole loop, so many iterations.
    Full(usize),
    /// So many iterations become one, and the loop stays.
    Partial(usize),
}

/// How a loop is unrolled, if that is worth anything. `shared` is the size of an iteration of [`super::body::shared_loads`],
/// `is_within` whether there is a loop around it, `copies` how many there may be because the device makes too few iterations
/// (see [`super::Shape::copies`]), `count` the number of iterations if it is no more than that.
pub fn unrolling(
    body: &Body,
    serial_memory: bool,
    shared: Option<usize>,
    is_within: bool,
    copies: impl FnOnce() -> usize,
    count: impl Fn(usize) -> Option<usize>,
) -> Option<Unrolling> {
    if let Some(size) = shared
        && let Some(iterations) = count(COMPUTES.iterations)
    {
        if iterations <= FACTORS[0] && iterations * size <= SHARES {
            return Some(Unrolling::Full(iterations));
        }
        return factor(iterations, size, SHARES, &FACTORS).map(Unrolling::Partial);
    }
    if let Some(iterations) = most_iterations(body, serial_memory).and_then(&count) {
        return Some(Unrolling::Full(iterations));
    }
    if body.exchanges
        && let Some(iterations) = count(EXCHANGES.iterations)
        && iterations * body.size <= EXCHANGES.instructions
        && iterations * body.device_bytes <= EXCHANGES.bytes
    {
        return Some(Unrolling::Full(iterations));
    }
    let iterations = count(COMPUTES.iterations)?;
    let copies = copies();
    if is_within
        && iterations <= WITHIN.iterations.min(copies)
        && iterations * body.size <= WITHIN.instructions
    {
        return Some(Unrolling::Full(iterations));
    }
    if let Some(factor) = factor(
        iterations,
        body.size,
        PARTIAL.min(copies * body.size),
        &MANY,
    ) {
        return Some(Unrolling::Partial(factor));
    }
    let factor = factor(iterations, body.size, COMPUTES.instructions, &FACTORS);
    factor.filter(|_| body.computes).map(Unrolling::Partial)
}

/// How many iterations of `size` instructions become one of `most`, so that some of those are left.
fn factor(iterations: usize, size: usize, most: usize, factors: &[usize]) -> Option<usize> {
    let fits = |factor: &usize| {
        iterations.is_multiple_of(*factor) && iterations > *factor && size * factor <= most
    };
    factors.iter().copied().find(fits)
}

/// How many iterations a loop may have to be unrolled as a whole, if that is worth anything.
fn most_iterations(body: &Body, serial_memory: bool) -> Option<usize> {
    let budget = match (body.indexes_private, body.loads) {
        (true, _) => PRIVATE,
        (false, true) if body.device_bytes == 0 || serial_memory => NEAR_LOADS,
        (false, true) => LOADS,
        _ => return None,
    };
    let most = budget.most(body.size);
    (most > 0).then_some(most)
}
