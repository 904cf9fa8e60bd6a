//! `PUMICE_TRACE`: what is in the file, read as the JSON that viewers read.

mod common;
#[macro_use]
#[path = "common/entry.rs"]
mod entry;

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::ptr;

use opencl_sys::{
    clCommandFillBufferKHR_t, clCreateCommandBufferKHR_t, clEnqueueCommandBufferKHR_t,
    clFinalizeCommandBufferKHR_t, clReleaseCommandBufferKHR_t,
};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, ClMem};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING};

/// Set where the program runs itself again to make the trace.
const INNER: &str = "PUMICE_TEST_TRACED";

/// A value of JSON, as far as a trace has them.
#[derive(Clone, Debug, PartialEq)]
enum Json {
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(HashMap<String, Json>),
}

impl Json {
    /// Reads a value from the front of `text`; `None` where it is none.
    fn read(text: &mut &str) -> Option<Self> {
        *text = text.trim_start();
        match text.chars().next()? {
            '"' => Self::text(text).map(Self::Text),
            '[' => {
                let mut list = Vec::new();
                Self::members(text, '[', ']', |text| {
                    list.push(Self::read(text)?);
                    Some(())
                })?;
                Some(Self::List(list))
            }
            '{' => {
                let mut object = HashMap::new();
                Self::members(text, '{', '}', |text| {
                    let name = Self::text(text)?;
                    Self::skip(text, ':')?;
                    object
                        .insert(name, Self::read(text)?)
                        .is_none()
                        .then_some(())
                })?;
                Some(Self::Object(object))
            }
            _ => {
                let end = text.find([',', '}', ']', '\n']).unwrap_or(text.len());
                let (number, rest) = text.split_at(end);
                *text = rest;
                number.trim().parse().ok().map(Self::Number)
            }
        }
    }

    fn members(
        text: &mut &str,
        open: char,
        close: char,
        mut member: impl FnMut(&mut &str) -> Option<()>,
    ) -> Option<()> {
        Self::skip(text, open)?;
        if Self::skip(text, close).is_some() {
            return Some(());
        }
        loop {
            member(text)?;
            if Self::skip(text, close).is_some() {
                return Some(());
            }
            Self::skip(text, ',')?;
        }
    }

    fn skip(text: &mut &str, character: char) -> Option<()> {
        *text = text.trim_start().strip_prefix(character)?;
        Some(())
    }

    /// A string; nothing in a trace needs an escape.
    fn text(text: &mut &str) -> Option<String> {
        Self::skip(text, '"')?;
        let (inner, rest) = text.split_once('"')?;
        *text = rest;
        (!inner.contains('\\')).then(|| inner.to_owned())
    }

    fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(object) => object.get(name),
            _ => None,
        }
    }

    fn is_text(&self, name: &str, wanted: &str) -> bool {
        self.get(name) == Some(&Self::Text(wanted.to_owned()))
    }

    fn number(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Self::Number(number)) => Some(*number),
            _ => None,
        }
    }
}

/// The events of a trace: the list is not closed, as the format allows.
fn events(text: &str) -> Vec<Json> {
    let closed = format!("{}]", text.trim_end().trim_end_matches(','));
    let mut rest = closed.as_str();
    let list = Json::read(&mut rest);
    assert_eq!(rest, "", "what follows is no JSON: {:.200}", rest);
    match list {
        Some(Json::List(list)) => list,
        other => panic!("not a list: {other:?}"),
    }
}

#[test]
fn broken_json_is_not_taken_for_a_trace() {
    for text in [
        "[{\"a\":}]",
        "[{\"a\" 1}]",
        "[1 2]",
        "[{\"a\":1,\"a\":2}]",
        "{",
    ] {
        assert_eq!(Json::read(&mut { text }), None, "{text}");
    }
}

/// A command buffer, recorded once and executed twice.
fn replay(queue: &CommandQueue, target: &Buffer<u32>) {
    let create = entry!(clCreateCommandBufferKHR_t, "clCreateCommandBufferKHR");
    let fill = entry!(clCommandFillBufferKHR_t, "clCommandFillBufferKHR");
    let finalize = entry!(clFinalizeCommandBufferKHR_t, "clFinalizeCommandBufferKHR");
    let enqueue = entry!(clEnqueueCommandBufferKHR_t, "clEnqueueCommandBufferKHR");
    let release = entry!(clReleaseCommandBufferKHR_t, "clReleaseCommandBufferKHR");
    let (none, nothing) = (ptr::null_mut(), ptr::null());
    let mut code = 1;
    // SAFETY: handles that live, no lists; the pattern is copied.
    unsafe {
        let buffer = create(1, &queue.get(), ptr::null(), &mut code);
        assert_eq!(code, 0);
        let pattern = (&raw const code).cast();
        let (memory, point) = (target.get(), ptr::null_mut());
        let filled = fill(
            buffer,
            none,
            nothing,
            memory,
            pattern,
            4,
            0,
            4096,
            0,
            ptr::null(),
            point,
            ptr::null_mut(),
        );
        assert_eq!([filled, finalize(buffer)], [0; 2]);
        for _ in 0..2 {
            assert_eq!(
                enqueue(0, ptr::null_mut(), buffer, 0, ptr::null(), ptr::null_mut()),
                0
            );
        }
        queue.finish().unwrap();
        assert_eq!(release(buffer), 0);
    }
}

/// Commands of the device, of the host in their turn, and of the host at once.
fn work() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0).unwrap();
    let mut data = vec![1_u32; 1024];
    // SAFETY: the memory outlives the buffer; the calls that use it block, or are waited for.
    unsafe {
        let mut own =
            Buffer::<u32>::create(&context, CL_MEM_READ_WRITE, 1024, ptr::null_mut()).unwrap();
        let shared = Buffer::<u32>::create(
            &context,
            CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
            1024,
            data.as_mut_ptr().cast(),
        )
        .unwrap();
        queue
            .enqueue_write_buffer(&mut own, CL_BLOCKING, 0, &[7; 1024], &[])
            .unwrap();
        let filled = queue
            .enqueue_fill_buffer(&mut own, &[9_u32], 0, 4096, &[])
            .unwrap();
        let mut mapped = ptr::null_mut();
        queue
            .enqueue_map_buffer(
                &shared,
                CL_NON_BLOCKING,
                1,
                0,
                4096,
                &mut mapped,
                &[filled.get()],
            )
            .unwrap();
        queue.finish().unwrap();
        let other =
            Buffer::<u32>::create(&context, CL_MEM_READ_WRITE, 1024, ptr::null_mut()).unwrap();
        replay(&queue, &other);
        let mut result = vec![0_u32; 1024];
        queue
            .enqueue_read_buffer(&own, CL_BLOCKING, 0, &mut result, &[])
            .unwrap();
        assert_eq!(result, [9; 1024]);
    }
}

#[test]
fn every_command_is_in_the_trace() {
    if std::env::var_os(INNER).is_some() {
        work();
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("trace-{}.json", std::process::id()));
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "every_command_is_in_the_trace", "--nocapture"])
        .env(INNER, "1")
        .env("PUMICE_TRACE", &path)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    if common::device().is_none() {
        return;
    }
    let events = events(&std::fs::read_to_string(&path).unwrap());
    std::fs::remove_file(&path).unwrap();
    let spans = |name: &str, phase: &str| -> Vec<(f64, f64)> {
        let marked = |mark: &str| -> Vec<&Json> {
            let is_it = |event: &&Json| {
                event.is_text("name", name)
                    && event.is_text("cat", phase)
                    && event.is_text("ph", mark)
            };
            events.iter().filter(is_it).collect()
        };
        let (begins, ends) = (marked("b"), marked("e"));
        assert_eq!(begins.len(), ends.len(), "{name}, {phase}");
        let both = begins.iter().zip(ends);
        both.map(|(begin, end)| {
            assert_eq!(begin.number("id"), end.number("id"));
            let (from, to) = (begin.number("ts").unwrap(), end.number("ts").unwrap());
            assert!(0.0 < from && from <= to, "{name}, {phase}: {from} to {to}");
            (from, to)
        })
        .collect()
    };
    for name in [
        "write buffer",
        "fill buffer",
        "map",
        "read buffer",
        "command buffer",
    ] {
        for phase in ["enqueue", "wait", "run"] {
            assert!(!spans(name, phase).is_empty(), "no {phase} of {name}");
        }
    }
    // Recorded once, before both executions.
    let recorded = spans("command buffer", "record");
    let enqueued = spans("command buffer", "enqueue");
    assert_eq!((recorded.len(), enqueued.len()), (1, 2));
    assert!(enqueued.iter().all(|(from, _)| recorded[0].1 <= *from));
}
