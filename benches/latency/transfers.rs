//! What moving pageable memory costs, for small and large sizes.

use crate::support::opencl::{buffer, map_and_unmap, queue, read, write};
use crate::support::table::{Table, Unit};
use crate::support::{Result, time};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::memory::{CL_MAP_READ, CL_MAP_WRITE_INVALIDATE_REGION};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const SIZES: [usize; 4] = [4 * KIB, MIB, 64 * MIB, 1024 * MIB];
/// Bytes that are moved in each row, about.
const ENOUGH: usize = 512 * MIB;

pub fn measure(
    device: &Device,
    context: &Context,
    column: usize,
    table: &mut Table,
    quick: bool,
) -> Result<()> {
    let most = device.max_mem_alloc_size()? as usize;
    let most = if quick { most.min(64 * MIB) } else { most };
    let queue = queue(context, 0)?;
    for bytes in SIZES.into_iter().filter(|&bytes| bytes <= most) {
        let device = buffer::<u8>(context, bytes)?;
        let mut host = vec![1_u8; bytes];
        let rounds = (ENOUGH / bytes).clamp(3, 300);
        let size = match bytes {
            small if small < MIB => format!("{} KiB", bytes / KIB),
            _ => format!("{} MiB", bytes / MIB),
        };
        let mut put = |what: &str, seconds: f64| {
            let name = format!("{what}, {size}");
            match bytes < MIB {
                true => table.put(column, &name, Unit::MICROSECONDS, seconds * 1e6),
                false => {
                    let rate = bytes as f64 / seconds / 1e9;
                    table.put(column, &name, Unit::GIGABYTES_PER_SECOND, rate);
                }
            }
        };
        let seconds = time(rounds, || write(&queue, &device, true, &host))?;
        put("write, blocking", seconds);
        let seconds = time(rounds, || {
            write(&queue, &device, false, &host)?;
            Ok(queue.finish()?)
        })?;
        put("write and finish", seconds);
        let seconds = time(rounds, || read(&queue, &device, true, &mut host))?;
        put("read, blocking", seconds);
        let seconds = time(rounds, || {
            read(&queue, &device, false, &mut host)?;
            Ok(queue.finish()?)
        })?;
        put("read and finish", seconds);
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
    }
    Ok(())
}
