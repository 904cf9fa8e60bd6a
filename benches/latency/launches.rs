//! What a launch costs the host, and how long it takes until it is done.

use crate::streams::LAUNCHES;
use crate::support::opencl::{buffer, kernel, launch, queue, set_buffer};
use crate::support::table::{Table, Unit};
use crate::support::{Result, median, time, time_handing_over};
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::memory::Buffer;
use std::ptr;
use std::time::Instant;

pub const EMPTY: &str = "kernel void empty(global int *p) { if (p == 0) return; }";
/// What it writes, the next one must find: each comes after a barrier.
pub const STORE: &str = "kernel void store(global int *p) { if (p[0] == 7) p[0] = 8; }";
pub const ITEMS: usize = 64;
/// Streams that are measured.
const STREAMS: usize = 20;

/// A row that plain Vulkan has a counterpart of.
pub const TO_START: &str = "latency: QUEUED to START, median";

pub fn measure(context: &Context, column: usize, table: &mut Table, rounds: usize) -> Result<()> {
    let empty = kernel(context, EMPTY, "empty", "")?;
    let argument = buffer::<u8>(context, 64)?;
    set_buffer(&empty, 0, &argument)?;
    let mut put = |name: &str, us: f64| table.put(column, name, Unit::MICROSECONDS, us);
    streams(context, &empty, &argument, &mut put)?;
    round_trips(context, &empty, &mut put, rounds)?;
    profiled(context, &empty, &mut put, rounds)
}

fn launch_with_event(queue: &CommandQueue, kernel: &Kernel) -> Result<Event> {
    // SAFETY: one dimension.
    let event = unsafe {
        queue.enqueue_nd_range_kernel(kernel.get(), 1, ptr::null(), &ITEMS, &ITEMS, &[])?
    };
    Ok(event)
}

/// Host microseconds of each launch of a stream.
fn stream(queue: &CommandQueue, mut each: impl FnMut() -> Result<()>) -> Result<f64> {
    let all = || (0..LAUNCHES).try_for_each(|_| each());
    let (host, _) = time_handing_over(STREAMS, all, || Ok(queue.finish()?))?;
    Ok(host * 1e6 / LAUNCHES as f64)
}

fn streams(
    context: &Context,
    empty: &Kernel,
    argument: &Buffer<u8>,
    put: &mut impl FnMut(&str, f64),
) -> Result<()> {
    let ordered = queue(context, 0)?;
    let with_event = || launch_with_event(&ordered, empty).map(drop);
    let host = stream(&ordered, with_event)?;
    put("enqueue with event, released at once", host);
    let host = stream(&ordered, || {
        set_buffer(empty, 0, argument)?;
        launch(&ordered, empty, ITEMS, ITEMS)
    })?;
    put("set an argument to what it is and enqueue", host);
    let other = buffer::<u8>(context, 64)?;
    let mut turns = [argument, &other].into_iter().cycle();
    let host = stream(&ordered, || {
        set_buffer(empty, 0, turns.next().unwrap_or(argument))?;
        launch(&ordered, empty, ITEMS, ITEMS)
    })?;
    put("set another argument and enqueue", host);
    // The other buffer's end is near.
    set_buffer(empty, 0, argument)?;
    let profiling = queue(context, CL_QUEUE_PROFILING_ENABLE)?;
    let host = stream(&profiling, || launch(&profiling, empty, ITEMS, ITEMS))?;
    put("enqueue in a stream of 1000, profiling", host);
    Ok(())
}

fn round_trips(
    context: &Context,
    empty: &Kernel,
    put: &mut impl FnMut(&str, f64),
    rounds: usize,
) -> Result<()> {
    let queue = queue(context, 0)?;
    let seconds = time(rounds, || Ok(launch_with_event(&queue, empty)?.wait()?))?;
    put("launch and wait for its event", seconds * 1e6);
    let seconds = time(rounds, || Ok(queue.finish()?))?;
    put("finish of an idle queue", seconds * 1e6);
    Ok(())
}

/// clpeak's kernel latency (1.1.2): the mean of QUEUED to START, each launch finished before the next.
fn profiled(
    context: &Context,
    empty: &Kernel,
    put: &mut impl FnMut(&str, f64),
    rounds: usize,
) -> Result<()> {
    const WARM_UP: usize = 10;
    let queue = queue(context, CL_QUEUE_PROFILING_ENABLE)?;
    let (mut to_start, mut submitted, mut ran) = (Vec::new(), Vec::new(), Vec::new());
    let start = Instant::now();
    for round in 0..rounds + WARM_UP {
        let event = launch_with_event(&queue, empty)?;
        queue.finish()?;
        let queued = event.profiling_command_queued()?;
        let submit = event.profiling_command_submit()?;
        let begin = event.profiling_command_start()?;
        let end = event.profiling_command_end()?;
        if round >= WARM_UP {
            let us = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e3;
            to_start.push(us(queued, begin));
            submitted.push(us(submit, begin));
            ran.push(us(begin, end));
        }
    }
    let each = start.elapsed().as_secs_f64() * 1e6 / (rounds + WARM_UP) as f64;
    let mean = to_start.iter().sum::<f64>() / to_start.len() as f64;
    put("latency: QUEUED to START, mean (clpeak)", mean);
    put(TO_START, median(to_start));
    put("latency: SUBMIT to START, median", median(submitted));
    put("START to END of the empty kernel, median", median(ran));
    put("launch, finish and four times read, profiling", each);
    Ok(())
}
