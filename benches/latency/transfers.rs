//! What moving memory costs, pageable and pinned, for small and large sizes.

use crate::support::opencl::{Pinned, buffer, map_and_unmap, queue, read, write};
use crate::support::table::{Table, Unit};
use crate::support::{Result, time, time_handing_over};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::memory::{Buffer, CL_MAP_READ, CL_MAP_WRITE_INVALIDATE_REGION};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
pub const SIZES: [usize; 4] = [4 * KIB, MIB, 64 * MIB, 1024 * MIB];
/// Bytes that are moved in each row, about.
pub const ENOUGH: usize = 512 * MIB;

pub fn measure(
    device: &Device,
    context: &Context,
    column: usize,
    (pageable, pinned): (&mut Table, &mut Table),
    quick: bool,
) -> Result<()> {
    let most = device.max_mem_alloc_size()? as usize;
    let most = if quick { most.min(64 * MIB) } else { most };
    let queue = queue(context, 0)?;
    for bytes in SIZES.into_iter().filter(|&bytes| bytes <= most) {
        let (device, mut host) = (buffer::<u8>(context, bytes)?, vec![1; bytes]);
        let rounds = (ENOUGH / bytes).clamp(3, 300);
        let mut put = |what: &str, seconds| put(pageable, column, what, bytes, seconds);
        both_ways(&queue, &device, &mut host, rounds, &mut put)?;
        for (what, flags) in [
            ("map to read and unmap", CL_MAP_READ),
            ("map to overwrite and unmap", CL_MAP_WRITE_INVALIDATE_REGION),
        ] {
            let seconds = time(rounds, || {
                map_and_unmap(&queue, &device, bytes, flags)?;
                Ok(queue.finish()?)
            })?;
            put(what, seconds);
        }
        between_maps(&queue, &device, &host, rounds, &mut put)?;
    }
    for bytes in SIZES.into_iter().filter(|&bytes| bytes <= most) {
        let device = buffer::<u8>(context, bytes)?;
        let mut host = Pinned::new(context, bytes)?;
        host.bytes().fill(1);
        let rounds = (ENOUGH / bytes).clamp(3, 300);
        let mut put = |what: &str, seconds| put(pinned, column, what, bytes, seconds);
        both_ways(&queue, &device, host.bytes(), rounds, &mut put)?;
    }
    Ok(())
}

/// Puts the time of what moves little, and the rate of what moves much.
pub fn put(table: &mut Table, column: usize, what: &str, bytes: usize, seconds: f64) {
    if bytes < MIB {
        let name = format!("{what}, {} KiB", bytes / KIB);
        table.put(column, &name, Unit::MICROSECONDS, seconds * 1e6);
    } else {
        let name = format!("{what}, {} MiB", bytes / MIB);
        let rate = bytes as f64 / seconds / 1e9;
        table.put(column, &name, Unit::GIGABYTES_PER_SECOND, rate);
    }
}

/// Writes and reads, blocking or not.
fn both_ways(
    queue: &CommandQueue,
    device: &Buffer<u8>,
    host: &mut [u8],
    rounds: usize,
    put: &mut impl FnMut(&str, f64),
) -> Result<()> {
    let seconds = time(rounds, || write(queue, device, true, host))?;
    put("write, blocking", seconds);
    let seconds = time(rounds, || {
        write(queue, device, false, host)?;
        Ok(queue.finish()?)
    })?;
    put("write and finish", seconds);
    let seconds = time(rounds, || read(queue, device, true, host))?;
    put("read, blocking", seconds);
    let seconds = time(rounds, || {
        read(queue, device, false, host)?;
        Ok(queue.finish()?)
    })?;
    put("read and finish", seconds);
    Ok(())
}

/// Writes to a buffer that the host looked at just before, and maps of one that was just written, each alone: what a
/// driver keeps of a map can get in the way of the other.
fn between_maps(
    queue: &CommandQueue,
    device: &Buffer<u8>,
    host: &[u8],
    rounds: usize,
    put: &mut impl FnMut(&str, f64),
) -> Result<()> {
    let written = || write(queue, device, true, host);
    let mapped = || {
        map_and_unmap(queue, device, host.len(), CL_MAP_READ)?;
        Ok(queue.finish()?)
    };
    let (seconds, _) = time_handing_over(rounds, written, mapped)?;
    put("write, blocking, a map before and after", seconds);
    let (seconds, _) = time_handing_over(rounds, mapped, written)?;
    put("map to read and unmap, a write before and after", seconds);
    Ok(())
}
