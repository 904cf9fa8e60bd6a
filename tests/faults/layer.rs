//! A Vulkan layer that has calls fail: the library beside `tests/faults/main.rs`, which loads it between Pumice
//! and the driver. For `tests/process.rs` it has pipelines take their time, and ends the process with a code of its
//! own if somebody is inside the driver when the process takes the driver down.

#[path = "../common/layer_chain.rs"]
mod layer_chain;

use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use ash::vk;
use layer_chain::{Allocator, Layer, layer, next_of_device};

/// Calls until the first that fails; negative when none is to.
static CALLS_LEFT: AtomicI64 = AtomicI64::new(-1);
/// Whether the last call that counted asked for the counter of a semaphore.
static ASKED: AtomicBool = AtomicBool::new(false);
/// What it returns.
static CODE: AtomicI32 = AtomicI32::new(0);
/// How many have failed.
static FAILED: AtomicU32 = AtomicU32::new(0);

/// The call after `calls` more that can fail with `code` does. When that is the loss of the device, so do all
/// that come later.
#[unsafe(no_mangle)]
pub extern "C" fn pumice_faults_begin(calls: i64, code: i32) {
    FAILED.store(0, Ordering::SeqCst);
    CODE.store(code, Ordering::SeqCst);
    CALLS_LEFT.store(calls, Ordering::SeqCst);
}

/// How many calls have failed since the beginning.
#[unsafe(no_mangle)]
pub extern "C" fn pumice_faults_count() -> u32 {
    FAILED.load(Ordering::SeqCst)
}

/// No more call fails.
#[unsafe(no_mangle)]
pub extern "C" fn pumice_faults_end() {
    CALLS_LEFT.store(-1, Ordering::SeqCst);
}

/// What a call is to return instead of being made.
fn fault(can_be_lost: bool, name: &str) -> Option<vk::Result> {
    let code = vk::Result::from_raw(CODE.load(Ordering::SeqCst));
    let is_loss = code == vk::Result::ERROR_DEVICE_LOST;
    // The counter of a semaphore, and the wait for it, return nothing else in practice.
    let only_lost = matches!(name, "vkGetSemaphoreCounterValue" | "vkWaitSemaphores");
    if CALLS_LEFT.load(Ordering::SeqCst) < 0 || is_loss && !can_be_lost || !is_loss && only_lost {
        return None;
    }
    // A wait that stays awake asks again and again, as often as it likes: that counts once.
    let asks = name == "vkGetSemaphoreCounterValue";
    if ASKED.swap(asks, Ordering::SeqCst) && asks && CALLS_LEFT.load(Ordering::SeqCst) > 0 {
        return None;
    }
    let left = CALLS_LEFT.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| match left {
        0 if is_loss => Some(0),
        left => Some((left - 1).max(-1)),
    });
    if left != Ok(0) {
        return None;
    }
    if is_loss && FAILED.load(Ordering::SeqCst) == 0 {
        end_work();
    }
    FAILED.fetch_add(1, Ordering::SeqCst);
    if std::env::var_os("PUMICE_TEST_FAULTS").is_some() {
        eprintln!("{name} returns {code:?}");
    }
    Some(code)
}

/// A lost device runs nothing more, so that what it used may be destroyed. This one is in good health: what it was
/// given has to end before it is called lost.
fn end_work() {
    // SAFETY: the device exists, since a call for it is under way; the name's type is this.
    unsafe {
        let next = next_of_device(c"vkDeviceWaitIdle");
        let wait: unsafe extern "system" fn(*const c_void) -> vk::Result = transmute(next);
        let _ = wait(layer_chain::device());
    }
}

macro_rules! fallible {
    ($($name:literal $lost:literal $function:ident ($($argument:ident: $type:ty),*);)*) => {
        $(unsafe extern "system" fn $function($($argument: $type),*) -> vk::Result {
            if let Some(code) = fault($lost, $name) {
                return code;
            }
            // SAFETY: what the next layer gave for this name, whose type this is.
            unsafe {
                let next: unsafe extern "system" fn($($type),*) -> vk::Result =
                    transmute(next::$function.load(Ordering::Relaxed));
                next($($argument),*)
            }
        })*

        #[allow(non_upper_case_globals)]
        mod next {
            use super::AtomicUsize;
            $(pub static $function: AtomicUsize = AtomicUsize::new(0);)*
        }

        /// The function that stands before `next`.
        fn replacement(name: &[u8], next: usize) -> Option<*const c_void> {
            if name == b"vkCreateComputePipelines" {
                next::pipelines.store(next, Ordering::Relaxed);
                return Some(create_compute_pipelines as *const c_void);
            }
            $(if name == $name.as_bytes() {
                next::$function.store(next, Ordering::Relaxed);
                return Some($function as *const c_void);
            })*
            None
        }
    };
}

/// How long a pipeline takes at least.
const SLOW: &str = "PUMICE_TEST_SLOW_PIPELINES_MS";

/// What a process ends with that took the driver down with somebody inside.
const SOMEBODY_INSIDE: i32 = 99;

/// Threads that are making pipelines.
static INSIDE: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
    fn _exit(status: i32) -> !;
}

/// Stands where drivers take themselves down: registered before whatever the driver's user registers later, so it
/// runs after that.
extern "C" fn take_down() {
    if INSIDE.load(Ordering::SeqCst) > 0 {
        // SAFETY: ends the process.
        unsafe { _exit(SOMEBODY_INSIDE) }
    }
}

// The literal says whether the call can return VK_ERROR_DEVICE_LOST.
fallible! {
    "vkAllocateMemory" false allocate_memory
        (a: vk::Device, b: *const c_void, c: Allocator, d: *mut vk::DeviceMemory);
    "vkBindBufferMemory" false bind_buffer_memory
        (a: vk::Device, b: vk::Buffer, c: vk::DeviceMemory, d: u64);
    "vkMapMemory" false map_memory
        (a: vk::Device, b: vk::DeviceMemory, c: u64, d: u64, e: u32, f: *mut *mut c_void);
    "vkCreateBuffer" false create_buffer
        (a: vk::Device, b: *const c_void, c: Allocator, d: *mut vk::Buffer);
    "vkCreateSemaphore" false create_semaphore
        (a: vk::Device, b: *const c_void, c: Allocator, d: *mut vk::Semaphore);
    "vkCreateCommandPool" false create_command_pool
        (a: vk::Device, b: *const c_void, c: Allocator, d: *mut vk::CommandPool);
    "vkAllocateCommandBuffers" false allocate_command_buffers
        (a: vk::Device, b: *const c_void, c: *mut vk::CommandBuffer);
    "vkBeginCommandBuffer" false begin_command_buffer
        (a: vk::CommandBuffer, b: *const c_void);
    "vkEndCommandBuffer" false end_command_buffer (a: vk::CommandBuffer);
    "vkResetCommandPool" false reset_command_pool (a: vk::Device, b: vk::CommandPool, c: u32);
    "vkCreateQueryPool" false create_query_pool
        (a: vk::Device, b: *const c_void, c: Allocator, d: *mut vk::QueryPool);
    "vkCreateShaderModule" false create_shader_module
        (a: vk::Device, b: *const c_void, c: Allocator, d: *mut vk::ShaderModule);
    "vkCreatePipelineLayout" false create_pipeline_layout
        (a: vk::Device, b: *const c_void, c: Allocator, d: *mut vk::PipelineLayout);
    "vkCreatePipelineCache" false create_pipeline_cache
        (a: vk::Device, b: *const c_void, c: Allocator, d: *mut vk::PipelineCache);
    "vkCreateComputePipelines" false pipelines
        (a: vk::Device, b: vk::PipelineCache, c: u32, d: *const c_void, e: Allocator, f: *mut vk::Pipeline);
    "vkQueueSubmit" true queue_submit
        (a: vk::Queue, b: u32, c: *const c_void, d: vk::Fence);
    "vkWaitSemaphores" true wait_semaphores (a: vk::Device, b: *const c_void, c: u64);
    "vkGetSemaphoreCounterValue" true semaphore_counter
        (a: vk::Device, b: vk::Semaphore, c: *mut u64);
}

/// "If a pipeline fails creation …, then implementations must set the corresponding element of pPipelines to
/// VK_NULL_HANDLE."
unsafe extern "system" fn create_compute_pipelines(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    create: *const c_void,
    allocator: Allocator,
    made: *mut vk::Pipeline,
) -> vk::Result {
    INSIDE.fetch_add(1, Ordering::SeqCst);
    if let Some(slow) = std::env::var(SLOW).ok().and_then(|ms| ms.parse().ok()) {
        std::thread::sleep(Duration::from_millis(slow));
    }
    // SAFETY: room for that many, by the caller's word.
    let result = unsafe {
        made.write_bytes(0, count as usize);
        pipelines(device, cache, count, create, allocator, made)
    };
    INSIDE.fetch_sub(1, Ordering::SeqCst);
    result
}

struct Faults;

impl Layer for Faults {
    const COMMANDS: &[&CStr] = &[];

    fn of_instance(_: &[u8]) -> Option<*const c_void> {
        None
    }

    fn of_device(name: &[u8], next: *const c_void) -> *const c_void {
        if next.is_null() {
            return next;
        }
        replacement(name, next as usize).unwrap_or(next)
    }

    fn has_device() {
        // SAFETY: a function of ours, which may run at any time.
        unsafe { atexit(take_down) };
    }
}

layer!(Faults);
