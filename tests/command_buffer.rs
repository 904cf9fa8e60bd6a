//! Command buffers through the API: the functions found by name, as applications find them.

mod common;

use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::Arc;

use opencl_sys as cl;
use opencl_sys::{
    cl_command_buffer_khr, cl_event, cl_int, cl_mutable_command_khr, cl_mutable_dispatch_arg_khr,
    cl_mutable_dispatch_config_khr, cl_sync_point_khr, cl_uint,
};
use opencl3::command_queue::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue,
};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_mem};

/// The extension's functions, as `clGetExtensionFunctionAddressForPlatform` gives them.
struct Functions {
    create: cl::clCreateCommandBufferKHR_fn,
    release: cl::clReleaseCommandBufferKHR_fn,
    retain: cl::clRetainCommandBufferKHR_fn,
    finalize: cl::clFinalizeCommandBufferKHR_fn,
    enqueue: cl::clEnqueueCommandBufferKHR_fn,
    info: cl::clGetCommandBufferInfoKHR_fn,
    barrier: cl::clCommandBarrierWithWaitListKHR_fn,
    copy: cl::clCommandCopyBufferKHR_fn,
    copy_rect: cl::clCommandCopyBufferRectKHR_fn,
    fill: cl::clCommandFillBufferKHR_fn,
    launch: cl::clCommandNDRangeKernelKHR_fn,
    update: cl::clUpdateMutableCommandsKHR_fn,
    command_info: cl::clGetMutableCommandInfoKHR_fn,
}

impl Functions {
    fn load(device: &Device) -> Self {
        let platform = device.platform().expect("a device has a platform");
        let path = CString::new(std::env::var("OPENCL_DYLIB_PATH").expect("set by `common`"))
            .expect("a path holds no null");
        // SAFETY: the library is loaded already; this is another reference to it.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        // SAFETY: `library` is valid.
        let address = unsafe {
            libc::dlsym(
                library,
                c"clGetExtensionFunctionAddressForPlatform".as_ptr(),
            )
        };
        assert!(!address.is_null());
        type Lookup = unsafe extern "C" fn(*mut c_void, *const libc::c_char) -> *mut c_void;
        // SAFETY: the function has this signature.
        let lookup: Lookup = unsafe { std::mem::transmute(address) };
        macro_rules! find {
            ($name:literal) => {{
                // SAFETY: a valid platform and a C string.
                let found = unsafe { lookup(platform, $name.as_ptr()) };
                assert!(!found.is_null(), "{:?} is not found", $name);
                // SAFETY: the function of that name has the signature of the headers.
                unsafe { std::mem::transmute(found) }
            }};
        }
        Self {
            create: find!(c"clCreateCommandBufferKHR"),
            release: find!(c"clReleaseCommandBufferKHR"),
            retain: find!(c"clRetainCommandBufferKHR"),
            finalize: find!(c"clFinalizeCommandBufferKHR"),
            enqueue: find!(c"clEnqueueCommandBufferKHR"),
            info: find!(c"clGetCommandBufferInfoKHR"),
            barrier: find!(c"clCommandBarrierWithWaitListKHR"),
            copy: find!(c"clCommandCopyBufferKHR"),
            copy_rect: find!(c"clCommandCopyBufferRectKHR"),
            fill: find!(c"clCommandFillBufferKHR"),
            launch: find!(c"clCommandNDRangeKernelKHR"),
            update: find!(c"clUpdateMutableCommandsKHR"),
            command_info: find!(c"clGetMutableCommandInfoKHR"),
        }
    }
}

/// A context with a queue, and the functions.
struct Setup {
    device: Device,
    context: Arc<Context>,
    queue: CommandQueue,
    functions: Functions,
}

const IN_ORDER: u64 = 0;
const OUT_OF_ORDER: u64 = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

const SOURCE: &str = "
kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }
kernel void twice(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    out[i] = 2 * in[i];
}";
const COUNT: usize = 256;
const BYTES: usize = COUNT * 4;

impl Setup {
    fn new(flags: u64) -> Option<Self> {
        let device = common::device()?;
        let context = Arc::new(Context::from_device(&device).expect("a context"));
        let queue =
            CommandQueue::create_default_with_properties(&context, flags, 0).expect("queue");
        let functions = Functions::load(&device);
        Some(Self {
            device,
            context,
            queue,
            functions,
        })
    }

    fn buffer(&self) -> Buffer<u32> {
        // SAFETY: no host pointer.
        unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, COUNT, ptr::null_mut()) }
            .expect("a buffer")
    }

    fn program(&self) -> Option<Program> {
        if !self.device.compiler_available().expect("a query") {
            eprintln!("skipped: no clang");
            return None;
        }
        Some(Program::create_and_build_from_source(&self.context, SOURCE, "").expect("a program"))
    }

    fn write(&self, buffer: &mut Buffer<u32>, value: u32) {
        let data = [value; COUNT];
        // SAFETY: blocking.
        unsafe {
            self.queue
                .enqueue_write_buffer(buffer, CL_BLOCKING, 0, &data, &[])
        }
        .expect("a write");
    }

    fn read(&self, buffer: &Buffer<u32>) -> Vec<u32> {
        let mut data = vec![0; COUNT];
        // SAFETY: blocking.
        unsafe {
            self.queue
                .enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut data, &[])
        }
        .expect("a read");
        data
    }

    fn command_buffer(&self) -> CommandBuffer<'_> {
        self.command_buffer_with(0)
    }

    fn command_buffer_with(&self, flags: u64) -> CommandBuffer<'_> {
        let mut error = 1;
        let queue = self.queue.get();
        let properties = [cl::CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0];
        // SAFETY: one queue, a list that ends with 0.
        let handle =
            unsafe { (self.functions.create.unwrap())(1, &queue, properties.as_ptr(), &mut error) };
        assert_eq!(error, 0);
        assert!(!handle.is_null());
        CommandBuffer {
            handle,
            setup: self,
        }
    }
}

/// Released when dropped.
struct CommandBuffer<'a> {
    handle: cl_command_buffer_khr,
    setup: &'a Setup,
}

impl Drop for CommandBuffer<'_> {
    fn drop(&mut self) {
        // SAFETY: a valid handle.
        let code = unsafe { (self.setup.functions.release.unwrap())(self.handle) };
        assert_eq!(code, 0);
    }
}

/// The arguments of a wait list.
fn list<T>(values: &[T]) -> (cl_uint, *const T) {
    match values {
        [] => (0, ptr::null()),
        values => (values.len() as cl_uint, values.as_ptr()),
    }
}

impl CommandBuffer<'_> {
    fn fill(&self, target: &Buffer<u32>, value: u32, waits: &[u32]) -> cl_sync_point_khr {
        let mut point = 0;
        let (count, waits) = list(waits);
        let pattern = (&raw const value).cast();
        // SAFETY: valid handles and arrays.
        let code = unsafe {
            (self.setup.functions.fill.unwrap())(
                self.handle,
                ptr::null_mut(),
                ptr::null(),
                target.get(),
                pattern,
                4,
                0,
                BYTES,
                count,
                waits,
                &mut point,
                ptr::null_mut(),
            )
        };
        assert_eq!(code, 0, "fill");
        point
    }

    fn copy_code(&self, source: cl_mem, target: cl_mem, at: usize, waits: &[u32]) -> cl_int {
        let (count, waits) = list(waits);
        // SAFETY: handles as given, valid arrays.
        unsafe {
            (self.setup.functions.copy.unwrap())(
                self.handle,
                ptr::null_mut(),
                ptr::null(),
                source,
                target,
                0,
                at,
                BYTES,
                count,
                waits,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        }
    }

    fn launch_code(&self, kernel: &Kernel, waits: &[u32]) -> (cl_int, cl_sync_point_khr) {
        let mut point = 0;
        let (count, waits) = list(waits);
        // SAFETY: valid handles and arrays.
        let code = unsafe {
            (self.setup.functions.launch.unwrap())(
                self.handle,
                ptr::null_mut(),
                ptr::null(),
                kernel.get(),
                1,
                ptr::null(),
                &COUNT,
                ptr::null(),
                count,
                waits,
                &mut point,
                ptr::null_mut(),
            )
        };
        (code, point)
    }

    /// A launch that may be updated.
    fn launch_mutable(&self, kernel: &Kernel, properties: &[u64]) -> cl_mutable_command_khr {
        let mut command = ptr::null_mut();
        let properties = match properties {
            [] => ptr::null(),
            properties => properties.as_ptr(),
        };
        // SAFETY: valid handles and arrays.
        let code = unsafe {
            (self.setup.functions.launch.unwrap())(
                self.handle,
                ptr::null_mut(),
                properties,
                kernel.get(),
                1,
                ptr::null(),
                &COUNT,
                ptr::null(),
                0,
                ptr::null(),
                ptr::null_mut(),
                &mut command,
            )
        };
        assert_eq!(code, 0, "launch");
        assert!(!command.is_null());
        command
    }

    fn update(&self, configs: &[cl_mutable_dispatch_config_khr]) -> cl_int {
        let types = vec![cl::CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR; configs.len()];
        let mut configs: Vec<*const c_void> = configs
            .iter()
            .map(|config| ptr::from_ref(config).cast())
            .collect();
        // SAFETY: as many types as structures.
        unsafe {
            (self.setup.functions.update.unwrap())(
                self.handle,
                configs.len() as cl_uint,
                types.as_ptr(),
                configs.as_mut_ptr(),
            )
        }
    }

    fn launch(&self, kernel: &Kernel, waits: &[u32]) -> cl_sync_point_khr {
        let (code, point) = self.launch_code(kernel, waits);
        assert_eq!(code, 0, "launch");
        point
    }

    fn barrier(&self) {
        // SAFETY: a valid handle.
        let code = unsafe {
            (self.setup.functions.barrier.unwrap())(
                self.handle,
                ptr::null_mut(),
                ptr::null(),
                0,
                ptr::null(),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        assert_eq!(code, 0, "barrier");
    }

    fn finalize(&self) -> cl_int {
        // SAFETY: a valid handle.
        unsafe { (self.setup.functions.finalize.unwrap())(self.handle) }
    }

    fn enqueue_on(&self, queues: &mut [*mut c_void], waits: &[cl_event]) -> Result<Event, cl_int> {
        let (count, waits) = list(waits);
        let length = queues.len() as cl_uint;
        let list = match length {
            0 => ptr::null_mut(),
            _ => queues.as_mut_ptr(),
        };
        let mut event = ptr::null_mut();
        // SAFETY: valid handles and arrays.
        let code = unsafe {
            (self.setup.functions.enqueue.unwrap())(
                length,
                list,
                self.handle,
                count,
                waits,
                &mut event,
            )
        };
        match code {
            0 => Ok(Event::new(event)),
            code => Err(code),
        }
    }

    fn enqueue(&self) -> Event {
        self.enqueue_on(&mut [], &[]).expect("an execution")
    }

    fn info<T: Default>(&self, name: cl_uint) -> T {
        let mut value = T::default();
        let mut size = 0;
        // SAFETY: room for the value.
        let code = unsafe {
            (self.setup.functions.info.unwrap())(
                self.handle,
                name,
                size_of::<T>(),
                (&raw mut value).cast(),
                &mut size,
            )
        };
        assert_eq!((code, size), (0, size_of::<T>()));
        value
    }
}

/// An update of `command` that changes nothing yet.
fn config(command: cl_mutable_command_khr) -> cl_mutable_dispatch_config_khr {
    cl_mutable_dispatch_config_khr {
        command,
        num_args: 0,
        num_svm_args: 0,
        num_exec_infos: 0,
        work_dim: 0,
        arg_list: ptr::null(),
        arg_svm_list: ptr::null(),
        exec_info_list: ptr::null(),
        global_work_offset: ptr::null(),
        global_work_size: ptr::null(),
        local_work_size: ptr::null(),
    }
}

/// Argument `index` is to be `value`.
fn argument<T>(index: u32, value: &T) -> cl_mutable_dispatch_arg_khr {
    cl_mutable_dispatch_arg_khr {
        arg_index: index,
        arg_size: size_of::<T>(),
        arg_value: ptr::from_ref(value).cast(),
    }
}

#[test]
fn each_execution_sees_the_updates_before_it_and_no_later_ones() {
    for flags in [IN_ORDER, OUT_OF_ORDER] {
        let Some(setup) = Setup::new(flags) else {
            return;
        };
        let Some(program) = setup.program() else {
            return;
        };
        let mut targets: Vec<_> = (0..8).map(|_| setup.buffer()).collect();
        for target in &mut targets {
            setup.write(target, 0);
        }
        let kernel = Kernel::create(&program, "add").expect("a kernel");
        // SAFETY: values of the right types.
        unsafe {
            kernel.set_arg(0, &targets[0].get()).unwrap();
            kernel.set_arg(1, &1_u32).unwrap();
        }
        let flags = cl::CL_COMMAND_BUFFER_MUTABLE_KHR | cl::CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR;
        let buffer = setup.command_buffer_with(flags);
        let command = buffer.launch_mutable(&kernel, &[]);
        assert_eq!(buffer.update(&[config(command)]), cl::CL_INVALID_OPERATION);
        assert_eq!(buffer.finalize(), 0);
        // All are enqueued before the first may begin.
        let gate = Event::new(create_user_event(setup.context.get()).unwrap());
        let mut events = Vec::new();
        for (index, target) in targets.iter().enumerate() {
            let (value, target) = (index as u32 + 1, target.get());
            let arguments = [argument(0, &target), argument(1, &value)];
            let update = cl_mutable_dispatch_config_khr {
                num_args: 2,
                arg_list: arguments.as_ptr(),
                ..config(command)
            };
            assert_eq!(buffer.update(&[update]), 0);
            events.push(buffer.enqueue_on(&mut [], &[gate.get()]).unwrap());
        }
        set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
        for event in &events {
            event.wait().unwrap();
        }
        for (index, target) in targets.iter().enumerate() {
            assert_eq!(setup.read(target), vec![index as u32 + 1; COUNT]);
        }
    }
}

#[test]
fn sizes_and_offsets_are_updated() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let Some(program) = setup.program() else {
        return;
    };
    let mut target = setup.buffer();
    let kernel = Kernel::create(&program, "add").expect("a kernel");
    // SAFETY: values of the right types.
    unsafe {
        kernel.set_arg(0, &target.get()).unwrap();
        kernel.set_arg(1, &1_u32).unwrap();
    }
    let buffer = setup.command_buffer_with(cl::CL_COMMAND_BUFFER_MUTABLE_KHR);
    let command = buffer.launch_mutable(&kernel, &[]);
    assert_eq!(buffer.finalize(), 0);
    let ones = |from: usize, count: usize| {
        (0..COUNT)
            .map(|index| u32::from((from..from + count).contains(&index)))
            .collect::<Vec<_>>()
    };
    let mut offset = 0;
    for (global, new_offset, local) in [
        (COUNT, None, None),
        (64, None, None),
        (32, Some(100), None),
        (0, None, None),
        (96, None, Some(8_usize)),
        (48, Some(3), Some(16)),
    ] {
        setup.write(&mut target, 0);
        let update = cl_mutable_dispatch_config_khr {
            work_dim: 1,
            global_work_size: &global,
            global_work_offset: new_offset.as_ref().map_or(ptr::null(), ptr::from_ref),
            local_work_size: local.as_ref().map_or(ptr::null(), ptr::from_ref),
            ..config(command)
        };
        assert_eq!(
            buffer.update(&[update]),
            0,
            "{global} {new_offset:?} {local:?}"
        );
        offset = new_offset.unwrap_or(offset);
        buffer.enqueue().wait().unwrap();
        assert_eq!(
            setup.read(&target),
            ones(offset, global),
            "{global} at {offset}"
        );
        let mut told = 0_usize;
        // SAFETY: room for one number.
        let code = unsafe {
            (setup.functions.command_info.unwrap())(
                command,
                cl::CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR,
                size_of::<usize>(),
                (&raw mut told).cast(),
                ptr::null_mut(),
            )
        };
        assert_eq!((code, told), (0, global));
    }
    let wrong = cl_mutable_dispatch_config_khr {
        work_dim: 2,
        ..config(command)
    };
    assert_eq!(buffer.update(&[wrong]), cl::CL_INVALID_OPERATION);
    assert_eq!(
        buffer.update(&[config(ptr::null_mut())]),
        cl::CL_INVALID_MUTABLE_COMMAND_KHR
    );
}

#[test]
fn an_update_is_done_whole_or_not_at_all() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let Some(program) = setup.program() else {
        return;
    };
    let mut target = setup.buffer();
    setup.write(&mut target, 0);
    let kernel = Kernel::create(&program, "add").expect("a kernel");
    // SAFETY: values of the right types.
    unsafe {
        kernel.set_arg(0, &target.get()).unwrap();
        kernel.set_arg(1, &1_u32).unwrap();
    }
    let buffer = setup.command_buffer_with(cl::CL_COMMAND_BUFFER_MUTABLE_KHR);
    let fields = cl::CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR;
    let first = buffer.launch_mutable(&kernel, &[fields, cl::CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0]);
    let second = buffer.launch_mutable(&kernel, &[fields, 0, 0]);
    assert_eq!(buffer.finalize(), 0);
    let ten = 10_u32;
    let arguments = [argument(1, &ten)];
    let update = |command| cl_mutable_dispatch_config_khr {
        num_args: 1,
        arg_list: arguments.as_ptr(),
        ..config(command)
    };
    assert_eq!(
        buffer.update(&[update(first), update(second)]),
        cl::CL_INVALID_OPERATION
    );
    buffer.enqueue().wait().unwrap();
    assert_eq!(setup.read(&target), vec![2; COUNT]);
    assert_eq!(buffer.update(&[update(first)]), 0);
    buffer.enqueue().wait().unwrap();
    assert_eq!(setup.read(&target), vec![13; COUNT]);
    let immutable = setup.command_buffer();
    assert_eq!(immutable.finalize(), 0);
    assert_eq!(immutable.update(&[update(first)]), cl::CL_INVALID_OPERATION);
}

#[test]
fn missing_arguments_may_be_given_later() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let Some(program) = setup.program() else {
        return;
    };
    let mut target = setup.buffer();
    setup.write(&mut target, 5);
    let kernel = Kernel::create(&program, "add").expect("a kernel");
    let buffer = setup.command_buffer_with(cl::CL_COMMAND_BUFFER_MUTABLE_KHR);
    let fields = cl::CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR;
    let command =
        buffer.launch_mutable(&kernel, &[fields, cl::CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0]);
    assert_eq!(buffer.finalize(), 0);
    let state = || buffer.info::<u32>(cl::CL_COMMAND_BUFFER_STATE_KHR);
    assert_eq!(state(), cl::CL_COMMAND_BUFFER_STATE_FINALIZED_KHR);
    let (handle, value) = (target.get(), 4_u32);
    for argument in [argument(0, &handle), argument(1, &value)] {
        assert_eq!(
            buffer.enqueue_on(&mut [], &[]).err(),
            Some(cl::CL_INVALID_OPERATION)
        );
        let update = cl_mutable_dispatch_config_khr {
            num_args: 1,
            arg_list: &argument,
            ..config(command)
        };
        assert_eq!(buffer.update(&[update]), 0);
    }
    assert_eq!(state(), cl::CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
    buffer.enqueue().wait().unwrap();
    assert_eq!(setup.read(&target), vec![9; COUNT]);
}

#[test]
fn commands_of_several_queues_share_a_command_buffer() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let other = CommandQueue::create_default_with_properties(&setup.context, IN_ORDER, 0).unwrap();
    let queues = [setup.queue.get(), other.get()];
    let mut error = 1;
    // SAFETY: two queues, no properties.
    let handle =
        unsafe { (setup.functions.create.unwrap())(2, queues.as_ptr(), ptr::null(), &mut error) };
    assert_eq!(error, 0);
    let buffer = CommandBuffer {
        handle,
        setup: &setup,
    };
    let [first, mut second] = [(); 2].map(|()| setup.buffer());
    let fill = |queue, target: &Buffer<u32>, value: u32, waits: &[u32]| {
        let mut point = 0;
        let (count, waits) = list(waits);
        // SAFETY: valid handles and arrays.
        let code = unsafe {
            (setup.functions.fill.unwrap())(
                handle,
                queue,
                ptr::null(),
                target.get(),
                (&raw const value).cast(),
                4,
                0,
                BYTES,
                count,
                waits,
                &mut point,
                ptr::null_mut(),
            )
        };
        (code, point)
    };
    // Which of the two is meant?
    assert_eq!(
        fill(ptr::null_mut(), &first, 1, &[]).0,
        cl::CL_INVALID_COMMAND_QUEUE
    );
    let (code, point) = fill(queues[0], &first, 1, &[]);
    assert_eq!(code, 0);
    assert_eq!(fill(queues[1], &first, 2, &[point]).0, 0);
    assert_eq!(fill(queues[1], &second, 3, &[]).0, 0);
    assert_eq!(buffer.finalize(), 0);
    // What either queue was told before comes before, and after, after.
    setup.write(&mut second, 9);
    let pattern = [8_u32];
    // SAFETY: the pattern is copied.
    unsafe { other.enqueue_fill_buffer(&mut second, &pattern, 0, BYTES, &[]) }.unwrap();
    let event = buffer.enqueue();
    assert!(event.command_queue().unwrap().is_null());
    let mut copy = vec![0_u32; COUNT];
    // SAFETY: blocking.
    unsafe { other.enqueue_read_buffer(&second, CL_BLOCKING, 0, &mut copy, &[]) }.unwrap();
    assert_eq!(copy, vec![3; COUNT]);
    assert_eq!(setup.read(&first), vec![2; COUNT]);
    assert_eq!(
        buffer.enqueue_on(&mut [queues[0]], &[]).err(),
        Some(cl::CL_INVALID_VALUE)
    );
    event.wait().unwrap();
}

/// Pages of memory that the process holds.
fn resident_pages() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let field = statm.split_whitespace().nth(1).expect("the second field");
    field.parse().expect("a number")
}

/// `PUMICE_SOAK=25000` makes it 100,000 replays and updates.
#[test]
fn replays_and_updates_from_several_threads_are_right_and_leave_nothing() {
    const THREADS: u32 = 4;
    let rounds: u32 = std::env::var("PUMICE_SOAK").map_or(300, |it| it.parse().unwrap());
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let Some(program) = setup.program() else {
        return;
    };
    let setup = &setup;
    let program = &program;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let setup = &Setup {
                    device: setup.device,
                    context: Arc::clone(&setup.context),
                    queue: CommandQueue::create_default_with_properties(
                        &setup.context,
                        u64::from(thread % 2) * OUT_OF_ORDER,
                        0,
                    )
                    .unwrap(),
                    functions: Functions::load(&setup.device),
                };
                let mut sum = setup.buffer();
                setup.write(&mut sum, 0);
                let kernel = Kernel::create(program, "add").expect("a kernel");
                // SAFETY: values of the right types.
                unsafe {
                    kernel.set_arg(0, &sum.get()).unwrap();
                    kernel.set_arg(1, &0_u32).unwrap();
                }
                let buffer = setup.command_buffer_with(cl::CL_COMMAND_BUFFER_MUTABLE_KHR);
                let command = buffer.launch_mutable(&kernel, &[]);
                assert_eq!(buffer.finalize(), 0);
                let mut last: Option<Event> = None;
                let mut expected = 0_u32;
                let mut pages = 0;
                for round in 0..rounds {
                    let value = round ^ thread;
                    let arguments = [argument(1, &value)];
                    let update = cl_mutable_dispatch_config_khr {
                        num_args: 1,
                        arg_list: arguments.as_ptr(),
                        ..config(command)
                    };
                    assert_eq!(buffer.update(&[update]), 0);
                    let waits: Vec<cl_event> = last.iter().map(Event::get).collect();
                    let event = buffer.enqueue_on(&mut [], &waits).unwrap();
                    last = Some(event);
                    expected = expected.wrapping_add(value);
                    if round % 100 == 99 {
                        setup.queue.finish().unwrap();
                        assert_eq!(setup.read(&sum), vec![expected; COUNT]);
                    }
                    if round == rounds / 3 {
                        pages = resident_pages();
                    }
                }
                setup.queue.finish().unwrap();
                assert_eq!(setup.read(&sum), vec![expected; COUNT]);
                let more = resident_pages().saturating_sub(pages);
                assert!(more < 16 << 8, "{more} pages more than in the first third");
            });
        }
    });
}

/// The sample of the extension's document.
#[test]
fn the_sample_program_runs() {
    let Some(device) = common::device() else {
        return;
    };
    let library = std::env::var("OPENCL_DYLIB_PATH").expect("set by `common`");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/command_buffer.cpp");
    let program = concat!(env!("CARGO_TARGET_TMPDIR"), "/command_buffer_sample");
    let headers = std::path::Path::new("/usr/include/CL/cl.h").exists();
    if !headers || !device.compiler_available().expect("a query") {
        eprintln!("skipped: no OpenCL headers, or no clang");
        return;
    }
    let compiled = std::process::Command::new("c++")
        .args([
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            source,
            &library,
            "-o",
            program,
        ])
        .arg(format!(
            "-Wl,-rpath,{}",
            library.rsplit_once('/').map_or(".", |it| it.0)
        ))
        .status()
        .expect("a C++ compiler is installed");
    assert!(compiled.success(), "the sample does not compile");
    let run = std::process::Command::new(program)
        .output()
        .expect("the sample starts");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[test]
fn a_frame_is_replayed_with_other_contents() {
    for flags in [IN_ORDER, OUT_OF_ORDER] {
        let Some(setup) = Setup::new(flags) else {
            return;
        };
        let Some(program) = setup.program() else {
            return;
        };
        let [mut source, middle, result] = [(); 3].map(|()| setup.buffer());
        let kernel = Kernel::create(&program, "twice").expect("a kernel");
        let buffer = setup.command_buffer();
        // SAFETY: handles of the right types.
        unsafe {
            kernel.set_arg(0, &source.get()).unwrap();
            kernel.set_arg(1, &middle.get()).unwrap();
        }
        let doubled = buffer.launch(&kernel, &[]);
        // The recorded launch keeps the arguments that it has.
        // SAFETY: as above.
        unsafe {
            kernel.set_arg(0, &middle.get()).unwrap();
            kernel.set_arg(1, &result.get()).unwrap();
        }
        buffer.launch(&kernel, &[doubled]);
        drop((kernel, program));
        assert_eq!(buffer.finalize(), 0);
        for frame in [1, 10, 100] {
            setup.write(&mut source, frame);
            buffer.enqueue().wait().unwrap();
            assert_eq!(setup.read(&result), vec![4 * frame; COUNT]);
        }
    }
}

#[test]
fn it_may_be_pending_many_times_in_order() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let Some(program) = setup.program() else {
        return;
    };
    let mut sum = setup.buffer();
    setup.write(&mut sum, 0);
    let kernel = Kernel::create(&program, "add").expect("a kernel");
    // SAFETY: values of the right types.
    unsafe {
        kernel.set_arg(0, &sum.get()).unwrap();
        kernel.set_arg(1, &3_u32).unwrap();
    }
    let buffer = setup.command_buffer();
    buffer.launch(&kernel, &[]);
    buffer.launch(&kernel, &[]);
    assert_eq!(buffer.finalize(), 0);
    for _ in 0..100 {
        buffer.enqueue();
    }
    // What is pending outlives the command buffer.
    drop(buffer);
    assert_eq!(setup.read(&sum), vec![600; COUNT]);
}

#[test]
fn a_host_that_reads_finds_the_result_of_what_is_pending() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let mut target = setup.buffer();
    setup.write(&mut target, 7);
    let buffer = setup.command_buffer();
    buffer.fill(&target, 9, &[]);
    assert_eq!(buffer.finalize(), 0);
    let gate = Event::new(create_user_event(setup.context.get()).unwrap());
    let event = buffer.enqueue_on(&mut [], &[gate.get()]).unwrap();
    let mut early = vec![0_u32; COUNT];
    // SAFETY: `early` is read after the event.
    let read = unsafe {
        setup
            .queue
            .enqueue_read_buffer(&target, 0, 0, &mut early, &[])
    }
    .unwrap();
    set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
    read.wait().unwrap();
    event.wait().unwrap();
    assert_eq!(early, vec![9; COUNT]);
    assert_eq!(
        event.command_type().unwrap().0,
        cl::CL_COMMAND_COMMAND_BUFFER_KHR
    );
}

#[test]
fn sync_points_and_barriers_order_an_out_of_order_queue() {
    let Some(setup) = Setup::new(OUT_OF_ORDER) else {
        return;
    };
    let [first, second] = [(); 2].map(|()| setup.buffer());
    let buffer = setup.command_buffer();
    let filled = buffer.fill(&first, 1, &[]);
    assert_eq!(buffer.copy_code(first.get(), second.get(), 0, &[filled]), 0);
    buffer.barrier();
    buffer.fill(&first, 2, &[]);
    assert_eq!(
        buffer.copy_code(first.get(), second.get(), 0, &[filled + 100]),
        cl::CL_INVALID_SYNC_POINT_WAIT_LIST_KHR
    );
    assert_eq!(buffer.finalize(), 0);
    buffer.enqueue().wait().unwrap();
    assert_eq!(setup.read(&first), vec![2; COUNT]);
    assert_eq!(setup.read(&second), vec![1; COUNT]);
}

#[test]
fn rectangles_and_long_patterns_are_recorded() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let [source, mut target] = [(); 2].map(|()| setup.buffer());
    setup.write(&mut target, 0);
    let buffer = setup.command_buffer();
    let pattern: [u32; 4] = [1, 2, 3, 4];
    // SAFETY: valid handles and arrays.
    let code = unsafe {
        (setup.functions.fill.unwrap())(
            buffer.handle,
            ptr::null_mut(),
            ptr::null(),
            source.get(),
            pattern.as_ptr().cast(),
            16,
            0,
            BYTES,
            0,
            ptr::null(),
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    assert_eq!(code, 0);
    // SAFETY: as above.
    let code = unsafe {
        (setup.functions.copy_rect.unwrap())(
            buffer.handle,
            ptr::null_mut(),
            ptr::null(),
            source.get(),
            target.get(),
            [4, 1, 0].as_ptr(),
            [0, 0, 0].as_ptr(),
            [8, 2, 1].as_ptr(),
            16,
            0,
            8,
            0,
            0,
            ptr::null(),
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    assert_eq!(code, 0);
    assert_eq!(buffer.finalize(), 0);
    buffer.enqueue().wait().unwrap();
    let result = setup.read(&target);
    assert_eq!(result[..5], [2, 3, 2, 3, 0]);
}

#[test]
fn it_runs_on_a_queue_that_replaces_its_own_and_is_timed_there() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let target = setup.buffer();
    let flags = CL_QUEUE_PROFILING_ENABLE | OUT_OF_ORDER;
    let other = CommandQueue::create_default_with_properties(&setup.context, flags, 0).unwrap();
    let buffer = setup.command_buffer();
    buffer.fill(&target, 5, &[]);
    assert_eq!(
        buffer.enqueue_on(&mut [], &[]).err(),
        Some(cl::CL_INVALID_OPERATION)
    );
    assert_eq!(buffer.finalize(), 0);
    let event = buffer.enqueue_on(&mut [other.get()], &[]).unwrap();
    event.wait().unwrap();
    assert_eq!(setup.read(&target), vec![5; COUNT]);
    let times = [
        event.profiling_command_queued().unwrap(),
        event.profiling_command_submit().unwrap(),
        event.profiling_command_start().unwrap(),
        event.profiling_command_end().unwrap(),
    ];
    assert!(times.is_sorted() && times[0] > 0, "{times:?}");
    assert_eq!(
        buffer
            .enqueue_on(&mut [other.get(), setup.queue.get()], &[])
            .err(),
        Some(cl::CL_INVALID_VALUE)
    );
    assert_eq!(
        buffer.enqueue_on(&mut [ptr::null_mut()], &[]).err(),
        Some(cl::CL_INVALID_COMMAND_QUEUE)
    );
    let foreign = Context::from_device(&setup.device).unwrap();
    let foreign = CommandQueue::create_default_with_properties(&foreign, 0, 0).unwrap();
    assert_eq!(
        buffer.enqueue_on(&mut [foreign.get()], &[]).err(),
        Some(cl::CL_INVALID_CONTEXT)
    );
}

#[test]
fn a_failed_event_of_the_wait_list_fails_the_execution() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let mut target = setup.buffer();
    setup.write(&mut target, 1);
    let buffer = setup.command_buffer();
    buffer.fill(&target, 2, &[]);
    assert_eq!(buffer.finalize(), 0);
    let gate = Event::new(create_user_event(setup.context.get()).unwrap());
    let event = buffer.enqueue_on(&mut [], &[gate.get()]).unwrap();
    set_user_event_status(gate.get(), -5).unwrap();
    assert!(event.wait().is_err());
    assert_eq!(setup.read(&target), vec![1; COUNT]);
    // It can be executed again.
    buffer.enqueue().wait().unwrap();
    assert_eq!(setup.read(&target), vec![2; COUNT]);
}

#[test]
fn queries_are_answered() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let buffer = setup.command_buffer();
    let queue = setup.queue.get() as usize;
    assert_eq!(buffer.info::<u32>(cl::CL_COMMAND_BUFFER_NUM_QUEUES_KHR), 1);
    assert_eq!(
        buffer.info::<usize>(cl::CL_COMMAND_BUFFER_QUEUES_KHR),
        queue
    );
    let context = setup.context.get() as usize;
    assert_eq!(
        buffer.info::<usize>(cl::CL_COMMAND_BUFFER_CONTEXT_KHR),
        context
    );
    let references = cl::CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR;
    assert_eq!(buffer.info::<u32>(references), 1);
    // SAFETY: a valid handle.
    assert_eq!(
        unsafe { (setup.functions.retain.unwrap())(buffer.handle) },
        0
    );
    assert_eq!(buffer.info::<u32>(references), 2);
    // SAFETY: as above.
    assert_eq!(
        unsafe { (setup.functions.release.unwrap())(buffer.handle) },
        0
    );
    let state = cl::CL_COMMAND_BUFFER_STATE_KHR;
    assert_eq!(
        buffer.info::<u32>(state),
        cl::CL_COMMAND_BUFFER_STATE_RECORDING_KHR
    );
    assert_eq!(buffer.finalize(), 0);
    assert_eq!(
        buffer.info::<u32>(state),
        cl::CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR
    );
    assert_eq!(buffer.finalize(), cl::CL_INVALID_OPERATION);
}

#[test]
fn wrong_arguments_get_the_code_of_the_text() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let queue = setup.queue.get();
    let create = |count, queues: *const *mut c_void, properties: &[u64]| {
        let mut error = 1;
        let properties = match properties {
            [] => ptr::null(),
            properties => properties.as_ptr(),
        };
        // SAFETY: valid arrays.
        let handle =
            unsafe { (setup.functions.create.unwrap())(count, queues, properties, &mut error) };
        assert_eq!(handle.is_null(), error != 0);
        if !handle.is_null() {
            // SAFETY: a valid handle.
            unsafe { (setup.functions.release.unwrap())(handle) };
        }
        error
    };
    assert_eq!(create(0, &queue, &[]), cl::CL_INVALID_VALUE);
    assert_eq!(create(1, ptr::null(), &[]), cl::CL_INVALID_VALUE);
    assert_eq!(
        create(1, &ptr::null_mut(), &[]),
        cl::CL_INVALID_COMMAND_QUEUE
    );
    assert_eq!(create(1, &queue, &[1, 2, 0]), cl::CL_INVALID_VALUE);
    let flags = cl::CL_COMMAND_BUFFER_FLAGS_KHR;
    assert_eq!(
        create(1, &queue, &[flags, 0, flags, 0, 0]),
        cl::CL_INVALID_VALUE
    );
    assert_eq!(
        create(1, &queue, &[flags, 1 << 40, 0]),
        cl::CL_INVALID_VALUE
    );
    assert_eq!(create(1, &queue, &[flags, 0, 0]), 0);

    let target = setup.buffer();
    let buffer = setup.command_buffer();
    let foreign = Context::from_device(&setup.device).unwrap();
    // SAFETY: no host pointer.
    let foreign =
        unsafe { Buffer::<u32>::create(&foreign, CL_MEM_READ_WRITE, COUNT, ptr::null_mut()) }
            .unwrap();
    let copy = |source, target, at| buffer.copy_code(source, target, at, &[]);
    assert_eq!(
        copy(ptr::null_mut(), target.get(), 0),
        cl::CL_INVALID_MEM_OBJECT
    );
    assert_eq!(copy(foreign.get(), target.get(), 0), cl::CL_INVALID_CONTEXT);
    assert_eq!(copy(target.get(), target.get(), 0), cl::CL_MEM_COPY_OVERLAP);
    let source = setup.buffer();
    assert_eq!(copy(source.get(), target.get(), 4), cl::CL_INVALID_VALUE);
    assert_eq!(copy(source.get(), target.get(), 0), 0);
    if let Some(program) = setup.program() {
        let kernel = Kernel::create(&program, "add").unwrap();
        assert_eq!(
            buffer.launch_code(&kernel, &[]).0,
            cl::CL_INVALID_KERNEL_ARGS
        );
    }
    assert_eq!(buffer.finalize(), 0);
    assert_eq!(
        copy(source.get(), target.get(), 0),
        cl::CL_INVALID_OPERATION
    );
    // SAFETY: not a handle.
    let code = unsafe { (setup.functions.finalize.unwrap())(ptr::null_mut()) };
    assert_eq!(code, cl::CL_INVALID_COMMAND_BUFFER_KHR);
}
