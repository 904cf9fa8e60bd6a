//! Builds a program, launches its kernel `test` and returns its buffers.

use super::skipped::skipped;
use super::{cache, documents, library, programs};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{
    Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_R, CL_RGBA,
    CL_UNSIGNED_INT8, ClMem, Image, Pipe,
};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_image_desc, cl_image_format, cl_mem};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ffi::{CStr, c_void};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::ptr;
use std::sync::OnceLock;

/// The device under test.
pub struct Session {
    device: Device,
    context: Context,
    queue: CommandQueue,
}

impl Session {
    fn open() -> Option<Self> {
        let platforms = match get_platforms() {
            Ok(platforms) => platforms,
            Err(error) => {
                eprintln!("clGetPlatformIDs: {error}");
                return None;
            }
        };
        let devices = platforms.first()?.get_devices(CL_DEVICE_TYPE_ALL);
        let device = Device::new(*devices.ok()?.first()?);
        let context = Context::from_device(&device).expect("a context");
        let queue = CommandQueue::create_default_with_properties(&context, 0, 0).expect("a queue");
        Some(Self {
            device,
            context,
            queue,
        })
    }

    pub fn name(&self) -> String {
        self.device.name().expect("a device has a name")
    }

    /// Whether the device reports an extension.
    pub fn has(&self, extension: &str) -> bool {
        let all = self
            .device
            .extensions()
            .expect("a device lists its extensions");
        all.split_whitespace().any(|one| one == extension)
    }

    /// Whether the device has an optional feature of OpenCL C 3.0.
    pub fn has_feature(&self, feature: &str) -> bool {
        let all = self.device.opencl_c_features().unwrap_or_default();
        all.iter().any(|one| {
            let name = one.name.iter().copied().take_while(|&c| c != 0);
            name.eq(feature.bytes())
        })
    }

    /// Whether pointers may leave out their address space.
    pub fn has_generic_pointers(&self) -> bool {
        self.device.generic_address_space_support().unwrap_or(false)
    }

    /// Whether a range need not be a multiple of the local size.
    pub fn has_non_uniform_groups(&self) -> bool {
        self.device
            .non_uniform_work_group_support()
            .unwrap_or(false)
    }

    /// Work-items that a work-group may have.
    pub fn max_group(&self) -> usize {
        self.device
            .max_work_group_size()
            .expect("a device has a limit")
    }

    /// Bytes of local memory.
    pub fn local_bytes(&self) -> usize {
        let bytes = self.device.local_mem_size().expect("a device has some");
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// A pipe for packets of so many bytes.
    pub fn pipe(&self, packet_bytes: u32, max_packets: u32) -> Pipe {
        // SAFETY: there is no pointer in it.
        unsafe { Pipe::create(&self.context, 0, packet_bytes, max_packets) }.expect("a pipe")
    }

    /// A buffer of so many bytes.
    pub fn buffer(&self, bytes: usize) -> Buffer<u8> {
        upload(self, &vec![0; bytes])
    }

    fn takes_cxx(&self) -> bool {
        self.has("cl_ext_cxx_for_opencl")
    }

    pub fn build_source(&self, source: &str, options: &str) -> Program {
        programs::keep(source.as_bytes(), false, options);
        Program::create_and_build_from_source(&self.context, source, options)
            .unwrap_or_else(|log| panic!("the program does not build:\n{log}\n{source}"))
    }

    fn build_module(&self, module: &[u8], options: &str) -> Program {
        programs::keep(module, true, options);
        let devices = self.context.devices();
        let mut program =
            Program::create_from_il(&self.context, module).expect("the module is taken");
        if let Err(error) = program.build(devices, options) {
            let log = program.get_build_log(devices[0]).unwrap_or_default();
            panic!("the module does not build: {error}\n{log}");
        }
        program
    }

    /// A SPIR-V 1.4 module in the assembler's notation.
    pub fn build_assembly(&self, text: &str) -> Program {
        self.build_module(&assembled(text), "")
    }

    /// What a module is refused with; `None` if it is not.
    pub fn refusal_of_assembly(&self, text: &str) -> Option<String> {
        let module = assembled(text);
        let devices = self.context.devices();
        let mut program = match Program::create_from_il(&self.context, &module) {
            Ok(program) => program,
            Err(error) => return Some(error.to_string()),
        };
        let error = program.build(devices, "").err()?;
        let log = program.get_build_log(devices[0]).unwrap_or_default();
        Some(format!("{error}\n{log}"))
    }

    /// C++ for OpenCL, as [`Launch::cxx`].
    pub fn build_cxx(&self, source: &str) -> Program {
        if self.takes_cxx() {
            self.build_source(source, CXX)
        } else {
            self.build_module(&cxx_module(source), "")
        }
    }

    pub fn context(&self) -> &Context {
        &self.context
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn queue(&self) -> &CommandQueue {
        &self.queue
    }

    /// Whether programs may have `global` variables.
    pub fn has_program_scope_variables(&self) -> bool {
        self.device
            .max_global_variable_size()
            .is_ok_and(|size| size > 0)
    }
}

/// The device under test.
///
/// # Panics
/// There is none.
pub fn session() -> &'static Session {
    static SESSION: OnceLock<Option<Session>> = OnceLock::new();
    let session = SESSION.get_or_init(open_alone);
    session.as_ref().expect("a usable Vulkan device")
}

/// Opens a session in an environment in which the loader finds one driver: `libpumice.so`, which cargo built with the tests,
/// or what `PUMICE_TEST_ICD` names.
fn open_alone() -> Option<Session> {
    let driver = std::env::var_os("PUMICE_TEST_ICD").map_or_else(library::path, PathBuf::from);
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("vendors-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the build's folder is writable");
    let manifest = format!("{}\n", driver.display());
    std::fs::write(folder.join("tested.icd"), manifest).expect("the build's folder is writable");
    // SAFETY: every test comes through here before it uses OpenCL, and no code but Rust's, which has a lock for it, reads the
    // environment before that.
    unsafe {
        // ocl-icd wants the slash to tell a folder from a file.
        std::env::set_var("OCL_ICD_VENDORS", format!("{}/", folder.display()));
        std::env::set_var("PUMICE_CACHE_DIR", cache::folder());
    }
    let session = Session::open();
    // The loader has read it. What is left of it hurts nobody.
    let _ = std::fs::remove_dir_all(&folder);
    session
}

const CXX: &str = "-cl-std=CLC++2021";

/// SPIR-V of C++ for OpenCL by clang alone, given the folder of Pumice's headers.
fn cxx_module(source: &str) -> Vec<u8> {
    let mut clang = Command::new("clang-22");
    clang
        .args([
            "-target",
            "spirv64",
            CXX,
            "-O2",
            "-Xclang",
            "-cl-ext=+all",
            "-w",
        ])
        .args(["-I", concat!(env!("CARGO_MANIFEST_DIR"), "/device")])
        .args(["-x", "clcpp", "-c", "-", "-o", "-"]);
    output_of(&mut clang, source)
}

/// A SPIR-V 1.4 module of the assembler's notation.
fn assembled(text: &str) -> Vec<u8> {
    let mut assembler = Command::new("spirv-as");
    assembler.args(["--target-env", "spv1.4", "-o", "-", "-"]);
    output_of(&mut assembler, text)
}

/// The address of a function as the loader has it.
pub fn loader_function(name: &CStr) -> *mut c_void {
    // SAFETY: the loader is in the process already; this is another reference to it.
    let loader = unsafe { libc::dlopen(c"libOpenCL.so.1".as_ptr(), libc::RTLD_NOW) };
    // SAFETY: the library stays open.
    let address = unsafe { libc::dlsym(loader, name.as_ptr()) };
    assert!(!address.is_null(), "the loader has no {name:?}");
    address
}

/// What a tool makes of a text.
fn output_of(tool: &mut Command, text: &str) -> Vec<u8> {
    let mut child = tool
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{tool:?}: {error}"));
    let mut input = child.stdin.take().expect("it is piped");
    let text = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("the tool ends");
    let written = writer.join().expect("the writer ends");
    written.expect("the tool reads");
    assert!(output.status.success(), "{tool:?} refuses the text");
    output.stdout
}

/// A type that host and device lay out alike.
pub trait Plain: Copy + PartialEq + std::fmt::Debug {
    const SIZE: usize;
    fn put(self, bytes: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($ty:ty),*) => {$(
        impl Plain for $ty {
            const SIZE: usize = size_of::<$ty>();
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
            }
        }
    )*};
}
plain!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// A vector.
impl<T: Plain, const N: usize> Plain for [T; N] {
    const SIZE: usize = N * T::SIZE;
    fn put(self, bytes: &mut Vec<u8>) {
        self.into_iter().for_each(|one| one.put(bytes));
    }
    fn get(bytes: &[u8]) -> Self {
        std::array::from_fn(|at| T::get(&bytes[at * T::SIZE..(at + 1) * T::SIZE]))
    }
}

enum Argument {
    /// Initial contents of a buffer.
    Buffer(Vec<u8>),
    Value(Vec<u8>),
    Local(usize),
    Null,
    Image(ImageData),
    /// A memory object that the test keeps.
    Handle(usize),
}

/// A two-dimensional image of unsigned integers of one byte, or of four.
struct ImageData {
    width: usize,
    height: usize,
    /// `CL_R` or `CL_RGBA`, of `CL_UNSIGNED_INT8`.
    order: u32,
    bytes: Vec<u8>,
}

/// Bytes after each buffer that must not change.
const GUARD: [u8; 16] = [0xd7; 16];

/// A kernel and its arguments.
pub struct Launch {
    source: String,
    /// A SPIR-V module in the place of the source.
    module: Option<Vec<u8>>,
    options: String,
    arguments: Vec<Argument>,
    offset: Vec<usize>,
}

impl Launch {
    /// OpenCL C with a kernel named `test`.
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            module: None,
            options: "-cl-std=CL3.0".into(),
            arguments: Vec::new(),
            offset: Vec::new(),
        }
    }

    /// A SPIR-V 1.4 module in the assembler's notation, with a kernel named `test`.
    pub fn assembly(text: &str) -> Self {
        Self::module(text, assembled(text))
    }

    fn module(text: &str, module: Vec<u8>) -> Self {
        let mut launch = Self::new(text).only_options("");
        launch.module = Some(module);
        launch
    }

    /// C++ for OpenCL with a kernel named `test`, for a driver that takes it or one that takes SPIR-V.
    pub fn cxx(source: &str) -> Self {
        if session().takes_cxx() {
            Self::new(source).only_options(CXX)
        } else {
            Self::module(source, cxx_module(source))
        }
    }

    pub fn option(mut self, option: &str) -> Self {
        self.options = format!("{} {option}", self.options);
        self
    }

    /// These options and no others.
    pub fn only_options(mut self, options: &str) -> Self {
        self.options = options.into();
        self
    }

    /// A buffer with these elements.
    pub fn buffer<T: Plain>(mut self, elements: &[T]) -> Self {
        let mut bytes = Vec::new();
        elements.iter().for_each(|&one| one.put(&mut bytes));
        self.arguments.push(Argument::Buffer(bytes));
        self
    }

    /// A buffer for so many elements, filled with a pattern.
    pub fn output<T: Plain>(mut self, count: usize) -> Self {
        self.arguments
            .push(Argument::Buffer(vec![0xcc; count * T::SIZE]));
        self
    }

    pub fn value<T: Plain>(mut self, value: T) -> Self {
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        self.arguments.push(Argument::Value(bytes));
        self
    }

    /// So many bytes of local memory.
    pub fn local(mut self, bytes: usize) -> Self {
        self.arguments.push(Argument::Local(bytes));
        self
    }

    /// An image of `width` texels in each row; a texel is a `T`: a byte, or four bytes for red to alpha.
    pub fn image<T: Plain>(mut self, width: usize, texels: &[T]) -> Self {
        let mut bytes = Vec::new();
        texels.iter().for_each(|&one| one.put(&mut bytes));
        self.arguments.push(Argument::Image(ImageData {
            width,
            height: texels.len() / width,
            order: match T::SIZE {
                1 => CL_R,
                4 => CL_RGBA,
                other => panic!("no test has texels of {other} bytes yet"),
            },
            bytes,
        }));
        self
    }

    /// A pipe, which outlives the launch.
    pub fn pipe(mut self, pipe: &Pipe) -> Self {
        self.arguments.push(Argument::Handle(pipe.get() as usize));
        self
    }

    /// A null buffer.
    pub fn null(mut self) -> Self {
        self.arguments.push(Argument::Null);
        self
    }

    pub fn offset(mut self, offset: &[usize]) -> Self {
        self.offset = offset.to_vec();
        self
    }

    fn build(&self, session: &Session) -> Kernel {
        record(&self.source);
        let program = match &self.module {
            Some(module) => session.build_module(module, &self.options),
            None => session.build_source(&self.source, &self.options),
        };
        Kernel::create(&program, "test").expect("a kernel named test")
    }

    /// Launches; an empty local size leaves the choice to the driver.
    pub fn run(self, global: &[usize], local: &[usize]) -> Buffers {
        let session = session();
        let kernel = self.build(session);
        let mut launch = ExecuteKernel::new(&kernel);
        let mut buffers = Vec::new();
        for argument in &self.arguments {
            match argument {
                Argument::Buffer(bytes) => {
                    let buffer = upload(session, bytes);
                    // SAFETY: the argument is a buffer, which lives until the kernel has ended.
                    unsafe { launch.set_arg(&buffer) };
                    buffers.push(Held::Buffer(buffer, bytes.len()));
                }
                Argument::Image(data) => {
                    let image = upload_image(session, data);
                    // SAFETY: the argument is an image, which lives until the kernel has ended.
                    unsafe { launch.set_arg(&image) };
                    buffers.push(Held::Image(image, data));
                }
                Argument::Handle(handle) => {
                    let handle = *handle as cl_mem;
                    // SAFETY: the test keeps the object, which is of the kind that the kernel declares.
                    unsafe { launch.set_arg(&handle) };
                }
                Argument::Value(bytes) => set_bytes(&mut launch, bytes),
                Argument::Local(size) => {
                    // SAFETY: the argument is a pointer to local memory.
                    unsafe { launch.set_arg_local_buffer(*size) };
                }
                Argument::Null => {
                    let none: *mut c_void = ptr::null_mut();
                    // SAFETY: NULL is a valid value for a buffer argument.
                    unsafe { launch.set_arg(&none) };
                }
            }
        }
        if !self.offset.is_empty() {
            launch.set_global_work_offsets(&self.offset);
        }
        launch.set_global_work_sizes(global);
        if !local.is_empty() {
            launch.set_local_work_sizes(local);
        }
        // SAFETY: the arguments are those that the test's kernel declares, and outlive the blocking reads.
        let event = unsafe { launch.enqueue_nd_range(&session.queue) };
        event
            .expect("the launch is accepted")
            .wait()
            .expect("the launch ends well");
        let read = buffers.iter().map(|held| match held {
            Held::Buffer(buffer, size) => download(session, buffer, *size),
            Held::Image(image, data) => download_image(session, image, data),
        });
        Buffers(read.collect())
    }
}

/// A memory object of a launch.
enum Held<'a> {
    Buffer(Buffer<u8>, usize),
    Image(Image, &'a ImageData),
}

/// Of a two-dimensional image, in texels.
pub fn description_2d(width: usize, height: usize) -> cl_image_desc {
    cl_image_desc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        image_width: width,
        image_height: height,
        image_depth: 1,
        image_array_size: 1,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    }
}

fn upload_image(session: &Session, data: &ImageData) -> Image {
    let format = cl_image_format {
        image_channel_order: data.order,
        image_channel_data_type: CL_UNSIGNED_INT8,
    };
    let description = description_2d(data.width, data.height);
    let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    let host = data.bytes.as_ptr().cast_mut().cast();
    // SAFETY: the bytes are those of the whole image, and are copied.
    unsafe { Image::create(&session.context, flags, &format, &description, host) }
        .expect("an image")
}

fn download_image(session: &Session, image: &Image, data: &ImageData) -> Vec<u8> {
    let mut bytes = vec![0; data.bytes.len()];
    let (origin, region) = ([0usize; 3], [data.width, data.height, 1]);
    // SAFETY: there is room for the whole image, and the read is blocking.
    unsafe {
        session.queue.enqueue_read_image(
            image,
            CL_BLOCKING,
            origin.as_ptr(),
            region.as_ptr(),
            0,
            0,
            bytes.as_mut_ptr().cast(),
            &[],
        )
    }
    .expect("the kernel ends and the image can be read");
    bytes
}

fn upload(session: &Session, bytes: &[u8]) -> Buffer<u8> {
    let guarded = [bytes, &GUARD].concat();
    // SAFETY: no host pointer is given; the write has ended when it returns.
    unsafe {
        let mut buffer = Buffer::<u8>::create(
            &session.context,
            CL_MEM_READ_WRITE,
            guarded.len(),
            ptr::null_mut(),
        )
        .expect("a buffer");
        session
            .queue
            .enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &guarded, &[])
            .expect("a buffer can be written");
        buffer
    }
}

fn download(session: &Session, buffer: &Buffer<u8>, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size + GUARD.len()];
    // SAFETY: the slice outlives the blocking read.
    unsafe {
        session
            .queue
            .enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut bytes, &[])
    }
    .expect("the kernel ends and the buffer can be read");
    assert_eq!(
        bytes[size..],
        GUARD,
        "bytes after a buffer of {size} changed"
    );
    bytes.truncate(size);
    bytes
}

/// Sets a value of a size that is only known here.
fn set_bytes(launch: &mut ExecuteKernel<'_>, bytes: &[u8]) {
    macro_rules! sizes {
        ($($size:literal)*) => {
            match bytes.len() {
                $($size => {
                    let mut value = [0u8; $size];
                    value.copy_from_slice(bytes);
                    // SAFETY: the kernel's argument has this size.
                    unsafe { launch.set_arg(&value) };
                })*
                other => panic!("no test passes {other} bytes by value yet"),
            }
        };
    }
    sizes!(1 2 4 8 12 16 20 24 32 40 48 64 128 256 512);
}

/// What the buffers hold after the launch, in the order of the arguments.
pub struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    pub fn get<T: Plain>(&self, index: usize) -> Vec<T> {
        self.0[index].chunks_exact(T::SIZE).map(T::get).collect()
    }
}

/// Fails with the first element that differs.
pub fn assert_equal<T: Plain>(found: &[T], expected: &[T], what: impl Fn(usize) -> String) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            found == expected,
            "element {index} is {found:?}, expected {expected:?}: {}",
            what(index)
        );
    }
}

/// Runs a kernel of which each work-item takes one of `inputs` and answers with as many values as `expected` has for each;
/// `what` names one of them, by its number and the input.
pub fn check_each<A: Plain, B: Plain>(
    source: &str,
    inputs: &[A],
    expected: &[B],
    what: impl Fn(usize, A) -> String,
) {
    let found = Launch::new(source)
        .buffer(inputs)
        .output::<B>(expected.len())
        .run(&[inputs.len()], &[]);
    let answers = expected.len() / inputs.len();
    assert_equal(&found.get(1), expected, |i| {
        what(i % answers, inputs[i / answers])
    });
}

/// How often tests of groups go round, each time with other numbers, branches, and pairs of type and width:
/// `PUMICE_TEST_ROUNDS`, or once.
pub fn rounds() -> std::ops::Range<u64> {
    let rounds = std::env::var("PUMICE_TEST_ROUNDS");
    0..rounds.map_or(1, |rounds| rounds.parse().expect("a number"))
}

thread_local! {
    /// The words of all programs that the running test has built.
    static WORDS: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };

    /// Whether the running test found nothing to test.
    static IS_SKIPPED: Cell<bool> = const { Cell::new(false) };
}

/// Has the words of a program, or the name of a function of the host, counted as used by the running test.
pub fn record(text: &str) {
    documents::expect_check();
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text
        .split(|c| !is_inside(c))
        .filter(|word| !word.is_empty());
    WORDS.with_borrow_mut(|all| {
        for word in words {
            if !all.contains(word) {
                all.insert(word.to_owned());
            }
        }
    });
}

/// Whether the running test has used a word.
pub fn has_used(word: &str) -> bool {
    WORDS.with_borrow(|all| all.contains(word))
}

/// Has the running test counted as skipped, not as passed: the device doesn't report what it tests.
pub fn skip(reason: &str) {
    documents::expect_check();
    skipped(reason);
    IS_SKIPPED.set(true);
}

/// Whether the running test was skipped.
pub fn is_skipped() -> bool {
    IS_SKIPPED.get()
}
