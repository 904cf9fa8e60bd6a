//! `PUMICE_TRACE`: a timeline of all commands, in the JSON of Chrome's tracing, which the Perfetto viewer opens.
//!
//! Each queue has two tracks: on the host a command is *enqueued* (from the call until it is recorded) and *waits*
//! (until its batch is handed to the device), on the device it *runs*. Commands are written when they are seen
//! done. A command buffer is *recorded* on the host, on the track of its first queue. The list stays open at its end, as the format allows: a process may end at any time.

use crate::config::Config;
use opencl_sys as cl;
use opencl_sys::cl_command_type;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The file of this process.
pub struct Trace {
    file: Mutex<BufWriter<File>>,
    queues: AtomicU64,
    commands: AtomicU64,
}

/// The times of one command, host nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandTimes {
    pub queued_ns: u64,
    pub recorded_ns: u64,
    pub submit_ns: u64,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// The trace, if the environment asks for one.
pub fn get() -> Option<&'static Trace> {
    static TRACE: OnceLock<Option<Trace>> = OnceLock::new();
    TRACE
        .get_or_init(|| {
            let path = Config::of_process().trace.as_ref()?;
            Trace::create(path)
                .inspect_err(|error| log::error!("PUMICE_TRACE: {}: {error}", path.display()))
                .ok()
        })
        .as_ref()
}

impl Trace {
    fn create(path: &Path) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "[")?;
        for (process, name) in [(HOST, "host"), (DEVICE, "device")] {
            writeln!(
                file,
                r#"{{"ph":"M","name":"process_name","pid":{process},"args":{{"name":"{name}"}}}},"#
            )?;
        }
        Ok(Self {
            file: Mutex::new(file),
            queues: AtomicU64::new(1),
            commands: AtomicU64::new(1),
        })
    }

    /// A number for a new queue.
    pub fn queue(&self) -> u64 {
        self.queues.fetch_add(1, Ordering::Relaxed)
    }

    /// Writes a command that is done.
    pub fn command(&self, queue: u64, kind: cl_command_type, times: CommandTimes) {
        let phases = [
            (HOST, "enqueue", times.queued_ns, times.recorded_ns),
            (HOST, "wait", times.recorded_ns, times.submit_ns),
            (DEVICE, "run", times.start_ns, times.end_ns),
        ];
        self.write(queue, name(kind), &phases);
    }

    /// Writes that a command buffer has been recorded, for the first time or anew.
    pub fn recording(&self, queue: u64, from_ns: u64, to_ns: u64) {
        let name = name(cl::CL_COMMAND_COMMAND_BUFFER_KHR);
        self.write(queue, name, &[(HOST, "record", from_ns, to_ns)]);
        self.flush();
    }

    /// Writes phases of one thing: process, name, begin and end of each.
    fn write(&self, queue: u64, name: &str, phases: &[(u32, &str, u64, u64)]) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let id = self.commands.fetch_add(1, Ordering::Relaxed);
        for &(process, phase, from_ns, to_ns) in phases {
            let to_ns = to_ns.max(from_ns);
            for (mark, time_ns) in [("b", from_ns), ("e", to_ns)] {
                // Commands of a queue overlap: spans of their own, and not a stack.
                let written = writeln!(
                    file,
                    r#"{{"ph":"{mark}","cat":"{phase}","name":"{name}","id":{id},"pid":{process},"tid":{queue},"ts":{}.{:03}}},"#,
                    time_ns / 1000,
                    time_ns % 1000
                );
                if written.is_err() {
                    return;
                }
            }
        }
    }

    /// What has been written is in the file.
    pub fn flush(&self) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.flush() {
            log::warn!("PUMICE_TRACE: {error}");
        }
    }
}

/// "Processes" of the format.
const HOST: u32 = 1;
const DEVICE: u32 = 2;

fn name(kind: cl_command_type) -> &'static str {
    match kind {
        cl::CL_COMMAND_NDRANGE_KERNEL | cl::CL_COMMAND_TASK => "kernel",
        cl::CL_COMMAND_COMMAND_BUFFER_KHR => "command buffer",
        cl::CL_COMMAND_READ_BUFFER | cl::CL_COMMAND_READ_BUFFER_RECT => "read buffer",
        cl::CL_COMMAND_WRITE_BUFFER | cl::CL_COMMAND_WRITE_BUFFER_RECT => "write buffer",
        cl::CL_COMMAND_COPY_BUFFER | cl::CL_COMMAND_COPY_BUFFER_RECT => "copy buffer",
        cl::CL_COMMAND_FILL_BUFFER => "fill buffer",
        cl::CL_COMMAND_READ_IMAGE => "read image",
        cl::CL_COMMAND_WRITE_IMAGE => "write image",
        cl::CL_COMMAND_COPY_IMAGE => "copy image",
        cl::CL_COMMAND_COPY_IMAGE_TO_BUFFER => "copy image to buffer",
        cl::CL_COMMAND_COPY_BUFFER_TO_IMAGE => "copy buffer to image",
        cl::CL_COMMAND_FILL_IMAGE => "fill image",
        cl::CL_COMMAND_MAP_BUFFER | cl::CL_COMMAND_MAP_IMAGE | cl::CL_COMMAND_SVM_MAP => "map",
        cl::CL_COMMAND_UNMAP_MEM_OBJECT | cl::CL_COMMAND_SVM_UNMAP => "unmap",
        cl::CL_COMMAND_SVM_MEMCPY => "SVM copy",
        cl::CL_COMMAND_SVM_MEMFILL => "SVM fill",
        cl::CL_COMMAND_MIGRATE_MEM_OBJECTS | cl::CL_COMMAND_SVM_MIGRATE_MEM => "migration",
        cl::CL_COMMAND_NATIVE_KERNEL => "native kernel",
        cl::CL_COMMAND_MARKER => "marker",
        cl::CL_COMMAND_BARRIER => "barrier",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_three_spans() {
        let path = std::env::temp_dir().join(format!("pumice-trace-{}.json", std::process::id()));
        let trace = Trace::create(&path).unwrap();
        let times = CommandTimes {
            queued_ns: 1_000,
            recorded_ns: 2_500,
            submit_ns: 3_000,
            start_ns: 4_001,
            end_ns: 9_000,
        };
        trace.command(trace.queue(), cl::CL_COMMAND_COMMAND_BUFFER_KHR, times);
        trace.flush();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let spans: Vec<&str> = text
            .lines()
            .filter(|it| it.contains("command buffer"))
            .collect();
        assert_eq!(spans.len(), 6);
        assert!(
            spans[0].contains(r#""ph":"b","cat":"enqueue""#) && spans[0].contains("\"ts\":1.000")
        );
        assert!(spans[5].contains(r#""ph":"e","cat":"run""#) && spans[5].contains("\"ts\":9.000"));
        assert!(text.starts_with("[\n{") && text.lines().skip(1).all(|it| it.ends_with("},")));
    }
}
