//! What the host is told of sub-groups: `clGetKernelSubGroupInfo` with every query and every error, and what is not
//! reported.

use super::documents;
use super::group_model::sub_group_size;
use super::harness::{Launch, Session, loader_function, record, session, skip};
use opencl3::device::Device;
use opencl3::error_codes::{
    CL_INVALID_DEVICE, CL_INVALID_KERNEL, CL_INVALID_VALUE, CL_INVALID_WORK_GROUP_SIZE,
};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::program::Program;
use opencl3::types::{cl_device_id, cl_int, cl_kernel, cl_platform_id, cl_uint};
use std::ffi::{c_char, c_void};

const MAX_SIZE: u32 = 0x2033;
const COUNT: u32 = 0x2034;
const LOCAL_SIZE: u32 = 0x11B8;
const MAX_COUNT: u32 = 0x11B9;
const COMPILE_COUNT: u32 = 0x11BA;
/// `CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL`
const COMPILE_SIZE: u32 = 0x410A;

type GetKernelSubGroupInfo = unsafe extern "C" fn(
    cl_kernel,
    cl_device_id,
    cl_uint,
    usize,
    *const c_void,
    usize,
    *mut c_void,
    *mut usize,
) -> cl_int;

/// The core function as the loader has it, and the extension's, which not every loader has, as the driver gives it.
fn functions(platform: cl_platform_id) -> [GetKernelSubGroupInfo; 2] {
    type Lookup = unsafe extern "C" fn(cl_platform_id, *const c_char) -> *mut c_void;
    let lookup = loader_function(c"clGetExtensionFunctionAddressForPlatform");
    // SAFETY: the function has this signature.
    let lookup: Lookup = unsafe { std::mem::transmute(lookup) };
    // SAFETY: the platform is valid.
    let extension = unsafe { lookup(platform, c"clGetKernelSubGroupInfoKHR".as_ptr()) };
    assert!(!extension.is_null());
    let core = loader_function(c"clGetKernelSubGroupInfo");
    // SAFETY: both functions have this signature.
    [core, extension].map(|address| unsafe {
        std::mem::transmute::<*mut c_void, GetKernelSubGroupInfo>(address)
    })
}

/// A kernel, and the functions that tell of its sub-groups.
struct Asked<'a> {
    kernel: Kernel,
    device: &'a Device,
    functions: [GetKernelSubGroupInfo; 2],
}

impl<'a> Asked<'a> {
    fn new(session: &'a Session, program: &Program) -> Self {
        let device = session.device();
        Self {
            kernel: Kernel::create(program, "test").expect("a kernel named test"),
            device,
            functions: functions(device.platform().expect("a device has a platform")),
        }
    }

    fn of_source(session: &'a Session, source: &str) -> Self {
        Self::new(session, &session.build_source(source, "-cl-std=CL3.0"))
    }

    /// Both functions' answer of so many numbers.
    fn several<const N: usize>(&self, name: u32, input: &[usize]) -> Result<[usize; N], cl_int> {
        let [core, extension] = self.functions.map(|function| {
            let (mut answer, mut size) = ([usize::MAX; N], 0);
            // SAFETY: input and answer are as large as is said.
            let code = unsafe {
                function(
                    self.kernel.get(),
                    self.device.id(),
                    name,
                    size_of_val(input),
                    input.as_ptr().cast(),
                    size_of_val(&answer),
                    (&raw mut answer).cast(),
                    &raw mut size,
                )
            };
            if code == 0 {
                assert_eq!(size, size_of_val(&answer), "{name:#x} {input:?}");
                return Ok(answer);
            }
            Err(code)
        });
        assert_eq!(core, extension, "{name:#x} {input:?}");
        core
    }

    fn one(&self, name: u32, input: &[usize]) -> Result<usize, cl_int> {
        self.several::<1>(name, input).map(|[answer]| answer)
    }
}

/// What a kernel sees of its sub-groups.
const SEEN: &str = "kernel void test(global uint2 *out) {
    out[get_global_linear_id()] = (uint2)(get_max_sub_group_size(), get_num_sub_groups()); }";

/// The answers of `clGetKernelSubGroupInfo` and `clGetKernelSubGroupInfoKHR` agree with each other and with what a
/// kernel sees.
#[test]
fn kernels_see_the_same() {
    let _documented = documents::this_test();
    let session = session();
    record("clGetKernelSubGroupInfo clGetKernelSubGroupInfoKHR");
    let asked = Asked::of_source(session, SEEN);
    let size = sub_group_size();
    for local in [&[1][..], &[size], &[size + 1], &[3, 5], &[4, 2, 3]] {
        let items: usize = local.iter().product();
        let found = Launch::new(SEEN)
            .output::<[u32; 2]>(items)
            .run(local, local);
        for seen in found.get::<[u32; 2]>(0) {
            let [most, count] = seen.map(|number| Ok(number as usize));
            assert_eq!(asked.one(MAX_SIZE, local), most, "{local:?}");
            assert_eq!(asked.one(COUNT, local), count, "{local:?}");
        }
    }
    for count in [1, 2, 3] {
        let local = asked.one(LOCAL_SIZE, &[count]).expect("a local size");
        assert_eq!(asked.one(COUNT, &[local]), Ok(count), "{count} sub-groups");
    }
    let most = asked.one(MAX_COUNT, &[]).expect("a number");
    assert!(asked.one(LOCAL_SIZE, &[most]).is_ok_and(|local| local > 0));
    assert_eq!(
        asked.one(LOCAL_SIZE, &[most + 1]),
        Ok(0),
        "no such work-group"
    );
    assert_eq!(asked.one(COMPILE_COUNT, &[]), Ok(0));
    for (name, input) in [
        (MAX_SIZE, &[][..]),
        (COUNT, &[]),
        (COUNT, &[1, 1, 1, 1]),
        (LOCAL_SIZE, &[1, 1]),
        (0x1234, &[1]),
    ] {
        let found = asked.one(name, input);
        assert_eq!(found, Err(CL_INVALID_VALUE), "{name:#x} {input:?}");
    }
}

/// "Other dimensions inferred from the value specified for param_value_size will be filled with the value 1."
#[test]
fn local_sizes_of_several_dimensions() {
    let session = session();
    let asked = Asked::of_source(session, SEEN);
    let size = sub_group_size();
    assert_eq!(asked.several(LOCAL_SIZE, &[2]), Ok([2 * size]));
    assert_eq!(asked.several(LOCAL_SIZE, &[2]), Ok([2 * size, 1]));
    assert_eq!(asked.several(LOCAL_SIZE, &[2]), Ok([2 * size, 1, 1]));
    // "0 will be returned in each element of the return array."
    let most = asked.one(MAX_COUNT, &[]).expect("a number");
    assert_eq!(asked.several(LOCAL_SIZE, &[most + 1]), Ok([0; 3]));
    assert_eq!(asked.several(LOCAL_SIZE, &[usize::MAX]), Ok([0; 2]));
}

/// A kernel with a work-group size of its own has one number of sub-groups.
#[test]
fn required_work_group_sizes() {
    let session = session();
    let size = sub_group_size();
    let asked = |[x, y, z]: [usize; 3]| {
        let attribute = format!("__attribute__((reqd_work_group_size({x}, {y}, {z})))");
        Asked::of_source(session, &format!("{attribute} {SEEN}"))
    };
    let row = asked([2 * size, 1, 1]);
    assert_eq!(row.one(MAX_COUNT, &[]), Ok(2));
    assert_eq!(row.several(LOCAL_SIZE, &[2]), Ok([2 * size, 1, 1]));
    assert_eq!(row.several(LOCAL_SIZE, &[1]), Ok([0; 3]));
    assert_eq!(row.several(LOCAL_SIZE, &[3]), Ok([0; 3]));
    // "Any returned work-group will have one dimension."
    let plane = asked([size, 3, 1]);
    assert_eq!(plane.one(MAX_COUNT, &[]), Ok(3));
    assert_eq!(plane.several(LOCAL_SIZE, &[3]), Ok([0; 2]));
}

/// A number of sub-groups that the module asks for: it is told, and other work-groups are refused.
#[test]
fn required_sub_groups() {
    let session = session();
    let size = sub_group_size();
    let program = session.build_assembly(
        "OpCapability Kernel
         OpCapability Addresses
         OpCapability SubgroupDispatch
         OpMemoryModel Physical64 OpenCL
         OpEntryPoint Kernel %test \"test\" %count
         OpExecutionMode %test SubgroupsPerWorkgroup 3
         OpDecorate %count BuiltIn NumSubgroups
         %void = OpTypeVoid
         %uint = OpTypeInt 32 0
         %to_uint = OpTypePointer CrossWorkgroup %uint
         %input = OpTypePointer Input %uint
         %fn = OpTypeFunction %void %to_uint
         %count = OpVariable %input Input
         %test = OpFunction %void None %fn
         %out = OpFunctionParameter %to_uint
         %entry = OpLabel
         %value = OpLoad %uint %count Aligned 4
         OpStore %out %value Aligned 4
         OpReturn
         OpFunctionEnd",
    );
    let asked = Asked::new(session, &program);
    assert_eq!(asked.one(COMPILE_COUNT, &[]), Ok(3));
    for (local, accepted) in [(3 * size, true), (2 * size + 1, true), (2 * size, false)] {
        let mut launch = ExecuteKernel::new(&asked.kernel);
        let out = session.buffer(4);
        // SAFETY: the kernel takes a buffer, and `finish` waits for it.
        let launched = unsafe {
            launch
                .set_arg(&out)
                .set_global_work_size(local)
                .set_local_work_size(local)
                .enqueue_nd_range(session.queue())
        };
        session.queue().finish().expect("the kernel ends");
        let found = launched.map(drop).map_err(|error| error.0);
        let expected = if accepted {
            Ok(())
        } else {
            Err(CL_INVALID_WORK_GROUP_SIZE)
        };
        assert_eq!(found, expected, "{local} work-items");
    }
}

/// cl_intel_required_subgroup_size: each size that the device lists can be had and is told; another one is refused.
#[test]
fn required_sub_group_sizes() {
    let session = session();
    if !session.has("cl_intel_required_subgroup_size") {
        return skip("no cl_intel_required_subgroup_size");
    }
    const SIZES: u32 = 0x4108;
    /// `CL_KERNEL_SPILL_MEM_SIZE_INTEL`, of `clGetKernelWorkGroupInfo`
    const SPILLED: u32 = 0x4109;
    let sizes = session.device().get_data(SIZES).expect("sizes");
    let sizes: Vec<usize> = sizes
        .as_chunks()
        .0
        .iter()
        .map(|bytes| usize::from_ne_bytes(*bytes))
        .collect();
    assert!(sizes.contains(&sub_group_size()));
    let plain = Asked::of_source(session, SEEN);
    assert_eq!(plain.one(COMPILE_SIZE, &[]), Ok(0), "none is specified");
    let source = |size: usize| format!("__attribute__((intel_reqd_sub_group_size({size}))) {SEEN}");
    for &size in &sizes {
        let asked = Asked::of_source(session, &source(size));
        assert_eq!(asked.one(COMPILE_SIZE, &[]), Ok(size));
        assert_eq!(asked.one(MAX_SIZE, &[1]), Ok(size));
        assert_eq!(asked.one(COUNT, &[2 * size]), Ok(2));
        let found = Launch::new(source(size))
            .output::<[u32; 2]>(2 * size)
            .run(&[2 * size], &[2 * size]);
        assert_eq!(found.get::<[u32; 2]>(0), vec![[size as u32, 2]; 2 * size]);
        // How much that is, is the driver's affair.
        let spilled = opencl3::kernel::get_kernel_work_group_info(
            asked.kernel.get(),
            session.device().id(),
            SPILLED,
        );
        assert!(spilled.is_ok());
    }
    let other = (0..8)
        .map(|bit| 1 << bit)
        .find(|size| !sizes.contains(size));
    let other = other.expect("no device has all sizes");
    let program =
        Program::create_and_build_from_source(session.context(), &source(other), "-cl-std=CL3.0");
    let log = program.expect_err("a size that the device does not have");
    assert!(log.contains(&format!("sub-groups of {other}")), "{log}");
}

#[test]
fn wrong_objects() {
    let session = session();
    let asked = Asked::of_source(session, SEEN);
    let (kernel, device) = (asked.kernel.get(), asked.device.id());
    for function in asked.functions {
        let ask = |kernel, device, room: usize, input: *const c_void| {
            let mut answer = 0usize;
            // SAFETY: the objects exist; input, if there is any, is one number, and there is room for the answer.
            let code = unsafe {
                function(
                    kernel,
                    device,
                    COUNT,
                    size_of::<usize>(),
                    input,
                    room,
                    (&raw mut answer).cast(),
                    std::ptr::null_mut(),
                )
            };
            if code == 0 { Ok(answer) } else { Err(code) }
        };
        let one = 1usize;
        let input: *const c_void = (&raw const one).cast();
        let room = size_of::<usize>();
        assert_eq!(ask(kernel, device, room, input), Ok(1));
        // There is but one device.
        assert_eq!(ask(kernel, std::ptr::null_mut(), room, input), Ok(1));
        // Objects of other kinds.
        let queue = session.queue().get();
        assert_eq!(ask(queue, device, room, input), Err(CL_INVALID_KERNEL));
        assert_eq!(ask(kernel, queue, room, input), Err(CL_INVALID_DEVICE));
        assert_eq!(
            ask(kernel, device, room, std::ptr::null()),
            Err(CL_INVALID_VALUE)
        );
        assert_eq!(ask(kernel, device, room - 1, input), Err(CL_INVALID_VALUE));
    }
}

/// cl_khr_subgroup_named_barrier is not there: no string, no macro, no instruction.
#[test]
fn named_barriers_are_not_reported() {
    let session = session();
    if session.has("cl_khr_subgroup_named_barrier") {
        return skip("the device has cl_khr_subgroup_named_barrier");
    }
    session.build_source(
        "#ifdef cl_khr_subgroup_named_barrier
         #error the macro says that there is such an extension
         #endif
         kernel void test() {}",
        "-cl-std=CL3.0",
    );
    let refusal = session.refusal_of_assembly(
        "OpCapability Kernel
         OpCapability Addresses
         OpCapability NamedBarrier
         OpMemoryModel Physical64 OpenCL
         OpEntryPoint Kernel %test \"test\"
         %void = OpTypeVoid
         %uint = OpTypeInt 32 0
         %one = OpConstant %uint 1
         %barrier = OpTypeNamedBarrier
         %fn = OpTypeFunction %void
         %test = OpFunction %void None %fn
         %entry = OpLabel
         %named = OpNamedBarrierInitialize %barrier %one
         OpMemoryNamedBarrier %named %one %one
         OpReturn
         OpFunctionEnd",
    );
    let refusal = refusal.expect("the module uses a capability that is not reported");
    assert!(refusal.contains("NamedBarrier"), "{refusal}");
}
