//! `clGetDeviceInfo` (section 4.2, table 5).

use super::command_buffer;
use super::device::type_of;
use super::error::{Error, Result};
use super::external_handles;
use super::out::{Info, Written};
use super::platform::{VERSION, make_version, name_versions, names};
use super::usm;
use super::vendors;
use crate::runtime::code::front_end::FrontEnd;
use crate::runtime::device::Device;
use crate::runtime::device::atomics;
use crate::runtime::device::extensions::{INTERMEDIATE_LANGUAGES, OPENCL_C_VERSIONS};
use crate::runtime::device::limits::{
    MAX_PIPE_ARGUMENTS, MAX_PIPE_PACKET_BYTES, MAX_PIPE_RESERVATIONS,
};
use crate::runtime::device::target::is_sequentially_consistent;
use crate::runtime::host::processors::{self, Cache};
use crate::runtime::platform::Platform;
use opencl_sys as cl;
use opencl_sys::{cl_device_id, cl_device_info, cl_uint, cl_ulong};
use std::ffi::{CStr, c_char};
use std::ptr;

/// `clGetDeviceInfo`: tries one group of queries after the other.
pub fn get_device_info(
    device: cl_device_id,
    param_name: cl_device_info,
    info: Info,
) -> Result<Written> {
    // "CL_INVALID_DEVICE if device is not a valid device."
    let device = super::device::get(device)?;
    let groups = [
        identity,
        limits,
        vectors,
        memory,
        floats,
        images,
        queues,
        optional,
        extended,
        code,
        float_atomics,
    ];
    let mut answer = Answer::Pending(info);
    for group in groups {
        match answer {
            Answer::Pending(info) => answer = group(&device, param_name, info),
            Answer::Done(_) => break,
        }
    }
    match answer {
        Answer::Done(result) => result,
        Answer::Pending(_) => Err(Error::unknown_query(param_name)),
    }
}

/// Whether a group knew the query; if not, the next one gets it.
enum Answer {
    Done(Result<Written>),
    Pending(Info),
}

fn identity(device: &Device, name: cl_device_info, info: Info) -> Answer {
    let vulkan = device.info();
    Answer::Done(match name {
        cl::CL_DEVICE_TYPE => info.value(type_of(device)),
        cl::CL_DEVICE_VENDOR_ID => info.value::<cl_uint>(vulkan.vendor_id),
        cl::CL_DEVICE_NAME => info.string(&vulkan.name),
        cl::CL_DEVICE_VENDOR => info.string(&vendors::name(vulkan.vendor_id)),
        cl::CL_DRIVER_VERSION => info.string(env!("CARGO_PKG_VERSION")),
        cl::CL_DEVICE_PROFILE => info.string(profile(device)),
        cl::CL_DEVICE_VERSION => info.string(&device_version(device)),
        cl::CL_DEVICE_NUMERIC_VERSION => info.value(VERSION),
        // "... the highest fully backwards compatible OpenCL C version": version 3.0 is that only with
        // every feature of version 2.0.
        cl::CL_DEVICE_OPENCL_C_VERSION => info.string("OpenCL C 1.2 Pumice"),
        cl::CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => info.value(make_version((1, 2, 0))),
        cl::CL_DEVICE_OPENCL_C_ALL_VERSIONS => info.slice(&name_versions(&OPENCL_C_VERSIONS)),
        cl::CL_DEVICE_OPENCL_C_FEATURES => info.slice(&name_versions(device.c_features())),
        cl::CL_DEVICE_EXTENSIONS => info.string(&names(device.extensions())),
        cl::CL_DEVICE_EXTENSIONS_WITH_VERSION => info.slice(&name_versions(device.extensions())),
        cl::CL_DEVICE_IL_VERSION => info.string(&intermediate_languages()),
        cl::CL_DEVICE_ILS_WITH_VERSION => info.slice(&name_versions(&INTERMEDIATE_LANGUAGES)),
        cl::CL_DEVICE_BUILT_IN_KERNELS => info.string(""),
        cl::CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => info.slice(&name_versions(&[])),
        // No version of the conformance tests has been passed and submitted; the format has no other
        // way to say so.
        cl::CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => info.string("v0000-01-01-00"),
        cl::CL_DEVICE_PLATFORM => info.handle(&**Platform::instance()),
        // Looks for `clang`; without it, programs come as SPIR-V or binaries only.
        cl::CL_DEVICE_COMPILER_AVAILABLE => info.boolean(FrontEnd::instance().clang().is_ok()),
        cl::CL_DEVICE_AVAILABLE
        | cl::CL_DEVICE_LINKER_AVAILABLE
        | cl::CL_DEVICE_ENDIAN_LITTLE
        | cl::CL_DEVICE_PREFERRED_INTEROP_USER_SYNC
        | cl::CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT => info.boolean(true),
        _ => return Answer::Pending(info),
    })
}

fn limits(device: &Device, name: cl_device_info, info: Info) -> Answer {
    let limits = device.limits();
    Answer::Done(match name {
        cl::CL_DEVICE_MAX_COMPUTE_UNITS => info.value::<cl_uint>(limits.compute_units),
        // 0 where nobody tells.
        cl::CL_DEVICE_MAX_CLOCK_FREQUENCY => info.value::<cl_uint>(device.clock_mhz().unwrap_or(0)),
        cl::CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => info.value::<cl_uint>(3),
        cl::CL_DEVICE_MAX_WORK_ITEM_SIZES => info.value::<[usize; 3]>(limits.max_work_item_sizes),
        cl::CL_DEVICE_MAX_WORK_GROUP_SIZE => info.value::<usize>(limits.max_work_group_size),
        cl::CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
            info.value::<usize>(limits.subgroup_size as usize)
        }
        cl::CL_DEVICE_ADDRESS_BITS => info.value::<cl_uint>(64),
        cl::CL_DEVICE_MAX_PARAMETER_SIZE => info.value::<usize>(limits.max_parameter_bytes),
        cl::CL_DEVICE_MAX_CONSTANT_ARGS => info.value::<cl_uint>(limits.max_constant_arguments),
        cl::CL_DEVICE_PRINTF_BUFFER_SIZE => info.value::<usize>(limits.printf_buffer_bytes),
        cl::CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => {
            info.boolean(device.has_extension("cl_khr_subgroups"))
        }
        cl::CL_DEVICE_SUB_GROUP_SIZES_INTEL => {
            let sizes = device.capabilities().subgroup_sizes();
            let sizes: Vec<usize> = sizes.map(|size| size as usize).collect();
            info.slice::<usize>(&sizes)
        }
        cl::CL_DEVICE_MAX_NUM_SUB_GROUPS => info.value::<cl_uint>(limits.max_sub_groups),
        cl::CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT => info.boolean(true),
        cl::CL_DEVICE_PROFILING_TIMER_RESOLUTION => info.value::<usize>(limits.timer_resolution_ns),
        cl::CL_DEVICE_EXECUTION_CAPABILITIES => info.value(cl::CL_EXEC_KERNEL),
        _ => return Answer::Pending(info),
    })
}

/// Code is made of scalars: a vector is as good as its elements.
fn vectors(device: &Device, name: cl_device_info, info: Info) -> Answer {
    let width: cl_uint = match name {
        cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR
        | cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
        | cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT
        | cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
        | cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
        | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR
        | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
        | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_INT
        | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
        | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT => 1,
        // "If double precision is not supported, ... must return 0", and so for half.
        cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => {
            device.has_extension("cl_khr_fp64").into()
        }
        cl::CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF | cl::CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => {
            device.has_extension("cl_khr_fp16").into()
        }
        _ => return Answer::Pending(info),
    };
    Answer::Done(info.value(width))
}

fn memory(device: &Device, name: cl_device_info, info: Info) -> Answer {
    let limits = device.limits();
    Answer::Done(match name {
        cl::CL_DEVICE_GLOBAL_MEM_SIZE => info.value::<cl_ulong>(limits.global_memory_bytes),
        cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE => info.value::<cl_ulong>(limits.max_allocation_bytes),
        cl::CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => {
            info.value::<cl_uint>(cache(device).map_or(cl::CL_NONE, |_| cl::CL_READ_WRITE_CACHE))
        }
        cl::CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => {
            info.value::<cl_uint>(cache(device).map_or(0, |cache| cache.line_bytes))
        }
        cl::CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => {
            info.value::<cl_ulong>(cache(device).map_or(0, |cache| cache.bytes))
        }
        cl::CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => {
            info.value::<cl_ulong>(limits.max_constant_buffer_bytes)
        }
        cl::CL_DEVICE_LOCAL_MEM_TYPE => info.value::<cl_uint>(if device.is_cpu() {
            cl::CL_GLOBAL
        } else {
            cl::CL_LOCAL
        }),
        cl::CL_DEVICE_LOCAL_MEM_SIZE => info.value::<cl_ulong>(limits.local_memory_bytes),
        cl::CL_DEVICE_ERROR_CORRECTION_SUPPORT => info.boolean(false),
        cl::CL_DEVICE_HOST_UNIFIED_MEMORY => info.boolean(device.info().has_unified_memory()),
        cl::CL_DEVICE_MEM_BASE_ADDR_ALIGN => {
            info.value::<cl_uint>(limits.base_address_alignment_bits)
        }
        cl::CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => {
            info.value::<cl_uint>(limits.base_address_alignment_bits / 8)
        }
        cl::CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
        | cl::CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
        | cl::CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => info.value::<cl_uint>(0),
        cl::CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES => info.value(atomic_capabilities(device)),
        // A fence for the work-item itself matters to images only, which it sees in its program's order.
        cl::CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => {
            info.value(atomic_capabilities(device) | cl::CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM)
        }
        cl::CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE
        | cl::CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => {
            info.value::<usize>(limits.max_global_variable_bytes)
        }
        _ => return Answer::Pending(info),
    })
}

/// The cache of a device that is the host's processors: the operating system tells of it, as Vulkan tells of none.
fn cache(device: &Device) -> Option<Cache> {
    device.is_cpu().then(processors::last_cache).flatten()
}

/// Orders and scopes of atomic operations.
fn atomic_capabilities(device: &Device) -> cl::cl_device_atomic_capabilities {
    let sequential = if is_sequentially_consistent(device.info()) {
        cl::CL_DEVICE_ATOMIC_ORDER_SEQ_CST
    } else {
        0
    };
    cl::CL_DEVICE_ATOMIC_ORDER_RELAXED
        | cl::CL_DEVICE_ATOMIC_ORDER_ACQ_REL
        | cl::CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
        | cl::CL_DEVICE_ATOMIC_SCOPE_DEVICE
        | sequential
}

fn floats(device: &Device, name: cl_device_info, info: Info) -> Answer {
    // "The mandated minimum floating-point capability for devices that are not of type
    // CL_DEVICE_TYPE_CUSTOM is: CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN."
    let mut single = cl::CL_FP_ROUND_TO_NEAREST | cl::CL_FP_INF_NAN;
    // `fma` of halves is exact everywhere: in integer arithmetic where the device does not fuse.
    let mut half = single | cl::CL_FP_FMA;
    if device.capabilities().keeps_denormals16 {
        half |= cl::CL_FP_DENORM;
    }
    if device.capabilities().fused_fma32 {
        single |= cl::CL_FP_FMA;
    }
    if device.capabilities().keeps_denormals32 {
        single |= cl::CL_FP_DENORM;
    }
    let mut double = cl::CL_FP_FMA
        | cl::CL_FP_ROUND_TO_NEAREST
        | cl::CL_FP_ROUND_TO_ZERO
        | cl::CL_FP_ROUND_TO_INF
        | cl::CL_FP_INF_NAN;
    // The extension demands it: docs/guarantees.md says where it is missing.
    if device.capabilities().keeps_denormals64 {
        double |= cl::CL_FP_DENORM;
    }
    let config = |extension, config| {
        if device.has_extension(extension) {
            config
        } else {
            0
        }
    };
    Answer::Done(match name {
        cl::CL_DEVICE_SINGLE_FP_CONFIG => info.value(single),
        cl::CL_DEVICE_DOUBLE_FP_CONFIG => info.value(config("cl_khr_fp64", double)),
        cl::CL_DEVICE_HALF_FP_CONFIG => info.value(config("cl_khr_fp16", half)),
        _ => return Answer::Pending(info),
    })
}

/// Images are memory that code reads and writes: the limits are the argument block's and those of their sizes
/// in memory, not the device's.
fn images(device: &Device, name: cl_device_info, info: Info) -> Answer {
    use crate::runtime::allocation::allocate::TEXEL_ALIGNMENT;
    use crate::runtime::image::{MAX_2D, MAX_3D, MAX_LAYERS};
    Answer::Done(match name {
        cl::CL_DEVICE_IMAGE_SUPPORT => info.boolean(true),
        cl::CL_DEVICE_MAX_READ_IMAGE_ARGS => info.value::<cl_uint>(128),
        cl::CL_DEVICE_MAX_WRITE_IMAGE_ARGS | cl::CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => {
            info.value::<cl_uint>(64)
        }
        cl::CL_DEVICE_MAX_SAMPLERS => info.value::<cl_uint>(16),
        // In texels: any will do.
        cl::CL_DEVICE_IMAGE_PITCH_ALIGNMENT => info.value::<cl_uint>(1),
        // In texels, the smallest of which have a byte.
        cl::CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => {
            info.value::<cl_uint>(TEXEL_ALIGNMENT as cl_uint)
        }
        cl::CL_DEVICE_IMAGE2D_MAX_WIDTH | cl::CL_DEVICE_IMAGE2D_MAX_HEIGHT => {
            info.value::<usize>(MAX_2D)
        }
        cl::CL_DEVICE_IMAGE3D_MAX_WIDTH
        | cl::CL_DEVICE_IMAGE3D_MAX_HEIGHT
        | cl::CL_DEVICE_IMAGE3D_MAX_DEPTH => info.value::<usize>(MAX_3D),
        cl::CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => {
            info.value::<usize>(device.limits().max_image_buffer_texels())
        }
        cl::CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => info.value::<usize>(MAX_LAYERS),
        _ => return Answer::Pending(info),
    })
}

fn queues(_: &Device, name: cl_device_info, info: Info) -> Answer {
    Answer::Done(match name {
        cl::CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => {
            info.value(cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | cl::CL_QUEUE_PROFILING_ENABLE)
        }
        // There are no queues on the device.
        cl::CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES | cl::CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => {
            info.value::<cl_ulong>(0)
        }
        cl::CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE
        | cl::CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE
        | cl::CL_DEVICE_MAX_ON_DEVICE_QUEUES
        | cl::CL_DEVICE_MAX_ON_DEVICE_EVENTS => info.value::<cl_uint>(0),
        _ => return Answer::Pending(info),
    })
}

/// Optional features, and sub-devices, of which there are none.
fn optional(device: &Device, name: cl_device_info, info: Info) -> Answer {
    Answer::Done(match name {
        cl::CL_DEVICE_SVM_CAPABILITIES => info.value(super::svm::capabilities(device)),
        cl::CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => info.boolean(true),
        cl::CL_DEVICE_PIPE_SUPPORT => info.boolean(true),
        cl::CL_DEVICE_MAX_PIPE_ARGS => info.value::<cl_uint>(MAX_PIPE_ARGUMENTS),
        cl::CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS => info.value::<cl_uint>(MAX_PIPE_RESERVATIONS),
        cl::CL_DEVICE_PIPE_MAX_PACKET_SIZE => info.value::<cl_uint>(MAX_PIPE_PACKET_BYTES),
        cl::CL_DEVICE_PARTITION_MAX_SUB_DEVICES => info.value::<cl_uint>(0),
        cl::CL_DEVICE_PARENT_DEVICE => info.value(ptr::null_mut()),
        // "If the device cannot be partitioned ... a value of 0 will be returned."
        cl::CL_DEVICE_PARTITION_PROPERTIES => info.value::<isize>(0),
        cl::CL_DEVICE_PARTITION_AFFINITY_DOMAIN => info.value::<cl_ulong>(0),
        // "... or a property value of 0 (where 0 is used to terminate the partition property list)".
        cl::CL_DEVICE_PARTITION_TYPE => info.value::<isize>(0),
        cl::CL_DEVICE_REFERENCE_COUNT => info.value::<cl_uint>(1),
        _ => return Answer::Pending(info),
    })
}

/// cl_ext_float_atomics: `CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT` and its like.
fn float_atomics(device: &Device, name: cl_device_info, info: Info) -> Answer {
    let bits = match name {
        0x4231 => 32,
        0x4232 => 64,
        0x4233 => 16,
        _ => return Answer::Pending(info),
    };
    /// Load and store, addition, minimum and maximum.
    const ALL: u64 = 7;
    const GLOBAL_BIT: u32 = 0;
    const LOCAL_BIT: u32 = 16;
    let has = atomics::float_bits(device.info()).any(|has| has == bits);
    Answer::Done(info.value::<cl_ulong>(if has {
        ALL << GLOBAL_BIT | ALL << LOCAL_BIT
    } else {
        0
    }))
}

/// Queries of extensions: cl_khr_command_buffer, cl_khr_device_uuid, cl_khr_pci_bus_info,
/// cl_intel_unified_shared_memory.
fn extended(device: &Device, name: cl_device_info, info: Info) -> Answer {
    let vulkan = device.info();
    Answer::Done(match (name, vulkan.pci) {
        (cl::CL_DEVICE_UUID_KHR, _) => info.value::<[u8; 16]>(vulkan.device_uuid),
        (cl::CL_DRIVER_UUID_KHR, _) => info.value::<[u8; 16]>(vulkan.driver_uuid),
        (cl::CL_DEVICE_LUID_VALID_KHR, _) => info.boolean(vulkan.device_luid.is_some()),
        (cl::CL_DEVICE_LUID_KHR, _) => {
            info.value::<[u8; 8]>(vulkan.device_luid.unwrap_or_default())
        }
        (cl::CL_DEVICE_NODE_MASK_KHR, _) => info.value::<cl_uint>(vulkan.device_node_mask),
        (cl::CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR, _) => {
            info.value(command_buffer::capabilities(device))
        }
        // "A device should list itself only if it has native support for synchronizing commands."
        (cl::CL_DEVICE_COMMAND_BUFFER_NUM_SYNC_DEVICES_KHR, _) => info.value::<cl_uint>(1),
        (cl::CL_DEVICE_COMMAND_BUFFER_SYNC_DEVICES_KHR, _) => info.handle(device),
        (cl::CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR, _) => {
            info.value(command_buffer::mutable::CAPABILITIES)
        }
        (cl::CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR, _) => {
            info.value(command_buffer::REQUIRED_QUEUE_PROPERTIES)
        }
        (cl::CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR, _) => {
            info.value(command_buffer::SUPPORTED_QUEUE_PROPERTIES)
        }
        (cl::CL_DEVICE_PCI_BUS_INFO_KHR, Some(pci)) => {
            info.value::<[cl_uint; 4]>([pci.domain, pci.bus, pci.device, pci.function])
        }
        (cl::CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR, _) => {
            info.slice(&external_handles::memory_imports(device))
        }
        // All images are linear.
        (cl::CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR, _) => {
            info.slice(&external_handles::memory_imports(device))
        }
        (cl::CL_DEVICE_SEMAPHORE_TYPES_KHR, _) => info.slice(&[cl::CL_SEMAPHORE_TYPE_BINARY_KHR]),
        (cl::CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR, _) => {
            info.slice(&external_handles::semaphore_imports(device))
        }
        (cl::CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, _) => {
            info.slice(&external_handles::semaphore_exports(device))
        }
        (cl::CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, _) => {
            info.value(usm::host_capabilities(device))
        }
        (cl::CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL, _) => info.value(usm::device_capabilities()),
        (cl::CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, _) => {
            info.value(usm::single_device_capabilities(device))
        }
        (
            cl::CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
            | cl::CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL,
            _,
        ) => info.value(usm::system_capabilities(device)),
        _ => return Answer::Pending(info),
    })
}

/// Queries of cl_khr_spirv_queries, cl_khr_integer_dot_product and cl_ext_cxx_for_opencl.
fn code(device: &Device, name: cl_device_info, info: Info) -> Answer {
    let spirv = device.spirv();
    let pointers = |names: &[&'static CStr]| -> Vec<*const c_char> {
        names.iter().map(|name| name.as_ptr()).collect()
    };
    let dot = device.info().dot_product;
    Answer::Done(match name {
        cl::CL_DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS_KHR => {
            info.slice(&pointers(&spirv.instruction_sets))
        }
        cl::CL_DEVICE_SPIRV_EXTENSIONS_KHR => info.slice(&pointers(&spirv.extensions)),
        cl::CL_DEVICE_SPIRV_CAPABILITIES_KHR => info.slice(&spirv.capabilities),
        // What `-cl-std=CLC++` means.
        cl::CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT => info.value(make_version((1, 0, 0))),
        cl::CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR => info.value::<cl_ulong>(
            cl::CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR
                | cl::CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR,
        ),
        // Accumulation is an addition of its own here, and as fast as the product.
        cl::CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR => {
            info.slice(&accelerated([
                dot.signed_8bit,
                dot.unsigned_8bit,
                dot.mixed_8bit,
                dot.saturating_signed_8bit,
                dot.saturating_unsigned_8bit,
                dot.saturating_mixed_8bit,
            ]))
        }
        cl::CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR => {
            info.slice(&accelerated([
                dot.signed_4x8bit_packed,
                dot.unsigned_4x8bit_packed,
                dot.mixed_4x8bit_packed,
                dot.saturating_signed_4x8bit_packed,
                dot.saturating_unsigned_4x8bit_packed,
                dot.saturating_mixed_4x8bit_packed,
            ]))
        }
        _ => return Answer::Pending(info),
    })
}

/// `cl_device_integer_dot_product_acceleration_properties_khr`: six of `cl_bool`.
fn accelerated(forms: [bool; 6]) -> [cl_uint; 6] {
    forms.map(cl_uint::from)
}

/// Full, unless the device is too small for it.
fn profile(device: &Device) -> &'static str {
    if device.limits().has_embedded_profile() {
        "EMBEDDED_PROFILE"
    } else {
        "FULL_PROFILE"
    }
}

/// "OpenCL<space><major_version.minor_version><space><vendor-specific information>". The Vulkan driver is one word of it:
/// where `Mesa` is a word, applications take the device for one of Mesa's OpenCL drivers, and leave it out (docs/devices.md).
fn device_version(device: &Device) -> String {
    let info = device.info();
    let (major, minor, patch) = info.api_version;
    let parts = [&info.driver_name, &info.driver_info].map(|part| part.trim().replace(' ', "-"));
    let driver = parts.join("/");
    format!(
        "OpenCL 3.0 Pumice {} (Vulkan {major}.{minor}.{patch}, {})",
        env!("CARGO_PKG_VERSION"),
        driver.trim_matches('/')
    )
}

fn intermediate_languages() -> String {
    let names: Vec<String> = INTERMEDIATE_LANGUAGES
        .iter()
        .map(|il| format!("{}_{}.{}", il.name, il.version.0, il.version.1))
        .collect();
    names.join(" ")
}
