//! What the same work costs in plain Vulkan, and what a round trip there is made of.

use crate::streams::LAUNCHES;
use crate::support::Result;
use crate::support::table::{Table, Unit};
use crate::support::vulkan::{After, Around, BATCHES, First, Raw, Wait};

/// Streams that are recorded.
const STREAMS: usize = 20;

/// Waits are polled for, which is the faster way on GPUs but not on processors.
pub const POLLED: Around = Around {
    barrier: None,
    to_host: false,
    waits: false,
    stamps: None,
    reset: 0,
    reused: false,
    wait: Wait::Poll,
};

/// Plain Vulkan's time to the start of a kernel, where it can be told.
pub fn to_start_us(raw: &mut Raw, rounds: usize) -> Result<Option<f64>> {
    let stamped = Around {
        barrier: Some(After::All),
        stamps: Some(First::All),
        ..POLLED
    };
    Ok(raw.round_trip(stamped, rounds)?.to_start_us)
}

/// One empty kernel, recorded, submitted and waited for in several ways.
#[rustfmt::skip]
fn variants() -> [(&'static str, Around); 16] {
    let timed = Around { stamps: Some(First::All), ..POLLED };
    let after = |what| Around { barrier: Some(what), ..POLLED };
    let both = Around { to_host: true, ..after(After::All) };
    [
        ("recorded each time, blocked for", Around::default()),
        ("polled for", POLLED),
        ("polled for, a fence", Around { wait: Wait::Fence, ..POLLED }),
        ("recorded once", Around { reused: true, ..POLLED }),
        ("a barrier before", after(After::All)),
        ("a barrier before, after kernels", after(After::Kernels)),
        ("a barrier before, after nothing", after(After::Nothing)),
        ("a barrier to the host after", Around { to_host: true, ..POLLED }),
        ("both barriers", both),
        ("both barriers, the first after nothing", Around { to_host: true, ..after(After::Nothing) }),
        ("waits for the one before, done", Around { waits: true, ..POLLED }),
        ("two timestamps, first at the top", Around { stamps: Some(First::Top), ..POLLED }),
        ("two timestamps, both after all", timed),
        ("barrier before, timestamps after all", Around { barrier: Some(After::All), ..timed }),
        ("waits for the one before, timestamps", Around { waits: true, ..timed }),
        ("both barriers, timestamps, 512 queries reset", Around { stamps: Some(First::All), reset: 512, ..both }),
    ]
}

/// What a round trip of plain Vulkan is made of.
pub fn dissect(raw: &mut Raw, rounds: usize) -> Result<Table> {
    let columns = ["record", "submit", "total", "to the first timestamp"].map(str::to_owned);
    let title = format!("One empty kernel in plain Vulkan, {}", raw.family);
    let mut table = Table::of_parts(&title, &columns);
    for (name, around) in variants() {
        let times = raw.round_trip(around, rounds)?;
        let values = [
            Some(times.record_us),
            Some(times.submit_us),
            Some(times.total_us),
            times.to_start_us,
        ];
        for (column, value) in values.into_iter().enumerate() {
            if let Some(us) = value {
                table.put(column, name, Unit::MICROSECONDS, us);
            }
        }
    }
    let mut put = |name: &str, us: f64| table.put(0, name, Unit::MICROSECONDS, us);
    let ordered = raw.recording(LAUNCHES, true, STREAMS)?;
    put("one of 1000, a barrier before each", ordered);
    let free = raw.recording(LAUNCHES, false, STREAMS)?;
    put("one of 1000, no barriers", free);
    for (name, ordered) in [
        ("one of 1000 in batches, a barrier before each", true),
        ("one of 1000 in batches, no barriers", false),
    ] {
        put(name, raw.batches(&BATCHES, ordered, STREAMS)?);
    }
    if let Some((deviation_ns, us)) = raw.calibration() {
        put("vkGetCalibratedTimestampsEXT", us);
        put("its deviation", deviation_ns as f64 / 1e3);
    }
    if let Some(window) = &raw.window {
        for size_bytes in [64, 256, 1 << 10, 4 << 10, 16 << 10] {
            for (streams, how) in [(false, "copied"), (true, "by streaming loads")] {
                if let Some(us) = window.read(size_bytes, streams, rounds.min(200)) {
                    put(&format!("{size_bytes} bytes read over the bus, {how}"), us);
                }
            }
        }
    }
    Ok(table)
}
