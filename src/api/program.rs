//! Programs: creation and queries.

use super::error::{Error, Result};
use super::out::{Info, Written};
use super::{context, handle};
use crate::compiler::PackedModule;
use crate::compiler::spirv::{shape, words};
use crate::runtime::code::binary::Binary;
use crate::runtime::device::Device;
use crate::runtime::host_memory;
use crate::runtime::object::callback::ProgramNotify;
use crate::runtime::program::source::Source;
use crate::runtime::program::{Origin, Program, specialization};
use opencl_sys::{
    CL_INVALID_BINARY, CL_INVALID_DEVICE, CL_INVALID_PROGRAM, CL_INVALID_PROGRAM_EXECUTABLE,
    CL_INVALID_SPEC_ID, CL_INVALID_VALUE, CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES,
    CL_PROGRAM_CONTEXT, CL_PROGRAM_DEVICES, CL_PROGRAM_IL, CL_PROGRAM_KERNEL_NAMES,
    CL_PROGRAM_NUM_DEVICES, CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_REFERENCE_COUNT,
    CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT,
    CL_PROGRAM_SOURCE, CL_SUCCESS, cl_context, cl_device_id, cl_int, cl_program, cl_program_info,
    cl_uint,
};
use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::sync::Arc;

/// The program behind a handle: "CL_INVALID_PROGRAM if program is not a valid program object."
pub fn get(program: cl_program) -> Result<Arc<Program>> {
    handle::get(program)
}

/// `clCreateProgramWithSource`
///
/// # Safety
/// `strings` and `lengths` are NULL or have `count` entries; a string is as long as its length, or ends with a null.
pub unsafe fn create_program_with_source(
    context: cl_context,
    count: cl_uint,
    strings: *mut *const c_char,
    lengths: *const usize,
) -> Result<cl_program> {
    let context = context::get(context)?;
    // "CL_INVALID_VALUE if count is zero or strings is NULL or any entry in strings is NULL."
    if count == 0 || strings.is_null() {
        return Err(Error::invalid_value("count is 0 or strings is NULL"));
    }
    let mut source = Source::default();
    for index in 0..count as usize {
        // SAFETY: `strings` has `count` entries.
        let string = unsafe { strings.add(index).read() };
        if string.is_null() {
            return Err(Error::invalid_value(format!("strings[{index}] is NULL")));
        }
        // "If an element in lengths is zero, its accompanying string is null-terminated. If lengths is NULL,
        // all strings in the strings argument are considered null-terminated."
        let length = if lengths.is_null() {
            0
        } else {
            // SAFETY: `lengths` has `count` entries.
            unsafe { lengths.add(index).read() }
        };
        let bytes = match length {
            // SAFETY: a terminated string.
            0 => unsafe { CStr::from_ptr(string) }.to_bytes(),
            // SAFETY: the string has `length` bytes.
            _ => unsafe { std::slice::from_raw_parts(string.cast(), length) },
        };
        let no_room = |_| Error::out_of_host_memory("no room for the source");
        source.push(bytes).map_err(no_room)?;
    }
    Ok(handle::create(Program::new(
        &context,
        Origin::Source(source),
    )))
}

/// `clCreateProgramWithIL`
///
/// # Safety
/// `il` is NULL or has `length` bytes.
pub unsafe fn create_program_with_il(
    context: cl_context,
    il: *const c_void,
    length: usize,
) -> Result<cl_program> {
    let context = context::get(context)?;
    // "CL_INVALID_VALUE if il is NULL or if length is zero."
    if il.is_null() || length == 0 {
        return Err(Error::invalid_value("il is NULL or length is 0"));
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(il.cast::<u8>(), length) };
    // "CL_INVALID_VALUE if the length-byte memory pointed to by il does not contain well-formed intermediate
    // language input that can be consumed by the OpenCL runtime."
    let read = || words::read(bytes).ok_or_else(|| Error::invalid_value("il is no SPIR-V module"));
    shape::check(read()?).map_err(|fault| match fault {
        shape::Fault::Malformed(reason) => {
            Error::invalid_value(format!("il is no whole SPIR-V module: {reason}"))
        }
        shape::Fault::NoMemory => Error::out_of_host_memory("no room to look at the module"),
    })?;
    let words = read()?;
    let mut little_endian = Vec::new();
    host_memory::reserve(&mut little_endian, bytes.len())?;
    little_endian.extend(words.flat_map(u32::to_le_bytes));
    let no_room = |_| Error::out_of_host_memory("no room for the module");
    let module = PackedModule::of_bytes(&little_endian).map_err(no_room)?;
    let origin = Origin::Il {
        bytes: host_memory::copy(bytes)?,
        module,
    };
    Ok(handle::create(Program::new(&context, origin)))
}

/// The devices of a list that may not be empty.
unsafe fn required_devices(
    num_devices: cl_uint,
    device_list: *const cl_device_id,
) -> Result<Vec<Arc<Device>>> {
    // "CL_INVALID_VALUE if device_list is NULL or num_devices is zero."
    if device_list.is_null() || num_devices == 0 {
        return Err(Error::invalid_value(
            "device_list is NULL or num_devices is 0",
        ));
    }
    // SAFETY: the caller's promise.
    unsafe { handle::get_list(num_devices, device_list, "device_list") }
}

/// `clCreateProgramWithBinary`
///
/// # Safety
/// The arrays are NULL or have `num_devices` entries; a binary is as long as its length.
pub unsafe fn create_program_with_binary(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    lengths: *const usize,
    binaries: *mut *const c_uchar,
    binary_status: *mut cl_int,
) -> Result<cl_program> {
    let context = context::get(context)?;
    // SAFETY: the caller's promise.
    let devices = unsafe { required_devices(num_devices, device_list) }?;
    // "CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with context."
    if devices
        .iter()
        .any(|device| context.device_index(device).is_none())
    {
        return Err(Error::new(
            CL_INVALID_DEVICE,
            "a device of device_list is not in the context",
        ));
    }
    // "CL_INVALID_VALUE if lengths or binaries is NULL or if any entry in lengths[i] is zero or binaries[i] is
    // NULL."
    if lengths.is_null() || binaries.is_null() {
        return Err(Error::invalid_value("lengths or binaries is NULL"));
    }
    let mut loaded = Vec::new();
    let mut failure: Option<Error> = None;
    for (index, device) in devices.iter().enumerate() {
        // SAFETY: both arrays have an entry for each device.
        let (length, bytes) = unsafe { (lengths.add(index).read(), binaries.add(index).read()) };
        let result = if length == 0 || bytes.is_null() {
            Err(Error::invalid_value(format!(
                "lengths[{index}] is 0 or binaries[{index}] is NULL"
            )))
        } else {
            // SAFETY: the binary has `length` bytes.
            let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
            // "CL_INVALID_BINARY if an invalid program binary was encountered for any device."
            Binary::from_bytes(bytes, device.capabilities())
                .map_err(|error| Error::new(CL_INVALID_BINARY, error.reason()))
        };
        let status = match &result {
            Ok(_) => CL_SUCCESS,
            Err(error) if error.code() == CL_INVALID_VALUE => CL_INVALID_VALUE,
            Err(_) => CL_INVALID_BINARY,
        };
        if !binary_status.is_null() {
            // SAFETY: the array has an entry for each device.
            unsafe { binary_status.add(index).write(status) };
        }
        match result {
            Ok(binary) => loaded.push(binary),
            Err(error) => {
                failure.get_or_insert(error);
            }
        }
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(handle::create(Program::from_binaries(
            &context, devices, loaded,
        ))),
    }
}

/// `clCreateProgramWithBuiltInKernels`
///
/// # Safety
/// `device_list` is NULL or holds `num_devices` handles.
pub unsafe fn create_program_with_built_in_kernels(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    kernel_names: *const c_char,
) -> Result<cl_program> {
    let context = context::get(context)?;
    // SAFETY: the caller's promise.
    let devices = unsafe { required_devices(num_devices, device_list) };
    // "CL_INVALID_VALUE if kernel_names is NULL or kernel_names contains a kernel name that is not supported by
    // any of the devices in device_list.": no device has any.
    let unsupported = Error::invalid_value("kernel_names: no device has built-in kernels");
    if kernel_names.is_null() {
        return Err(unsupported);
    }
    // "CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with context."
    for device in devices? {
        if context.device_index(&device).is_none() {
            return Err(Error::new(
                CL_INVALID_DEVICE,
                "a device of device_list is not in the context",
            ));
        }
    }
    Err(unsupported)
}

/// `clRetainProgram`
pub fn retain_program(program: cl_program) -> Result<()> {
    handle::retain::<Program>(program)
}

/// `clReleaseProgram`
pub fn release_program(program: cl_program) -> Result<()> {
    handle::release::<Program>(program)
}

/// `clGetProgramInfo`
///
/// # Safety
/// For `CL_PROGRAM_BINARIES`, the value is an array of pointers to room for each binary, or NULL.
pub unsafe fn get_program_info(
    program: cl_program,
    param_name: cl_program_info,
    info: Info,
) -> Result<Written> {
    let program = get(program)?;
    // "CL_INVALID_PROGRAM_EXECUTABLE if param_name is CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_KERNEL_NAMES, … and a
    // successful program executable has not been built for at least one device in the list of devices
    // associated with program."
    let executable = || {
        program.kernel_names().ok_or_else(|| {
            Error::new(
                CL_INVALID_PROGRAM_EXECUTABLE,
                "program has no executable for any device",
            )
        })
    };
    let count = program.devices().len();
    match param_name {
        CL_PROGRAM_REFERENCE_COUNT => info.value(reference_count(&program)),
        CL_PROGRAM_CONTEXT => info.handle(&**program.context()),
        CL_PROGRAM_NUM_DEVICES => info.value(count as cl_uint),
        CL_PROGRAM_DEVICES => {
            let devices: Vec<*mut c_void> = program
                .devices()
                .iter()
                .map(|device| handle::existing(&**device))
                .collect();
            info.slice(&devices)
        }
        CL_PROGRAM_SOURCE => match program.origin() {
            Origin::Source(source) => info.text(source.text()),
            // "… a null string … is returned".
            _ => info.string(""),
        },
        CL_PROGRAM_IL => match program.origin() {
            Origin::Il { bytes, .. } => info.slice(bytes),
            // "… the memory pointed to by param_value will be unchanged and param_value_size_ret will be set
            // to zero."
            _ => info.slice::<u8>(&[]),
        },
        CL_PROGRAM_BINARY_SIZES => {
            let sizes: Vec<usize> = (0..count)
                .map(|index| program.binary(index).len())
                .collect();
            info.slice(&sizes)
        }
        CL_PROGRAM_BINARIES => {
            let (value, size_bytes) = info.buffer();
            let needed = count * size_of::<*mut u8>();
            if !value.is_null() && size_bytes >= needed {
                for index in 0..count {
                    // SAFETY: the array has room for a pointer for each device.
                    let target = unsafe { value.cast::<*mut u8>().add(index).read() };
                    let binary = program.binary(index);
                    if !target.is_null() {
                        // SAFETY: "param_value points to an array of n pointers allocated by the caller", each
                        // to the size that CL_PROGRAM_BINARY_SIZES told.
                        unsafe {
                            std::ptr::copy_nonoverlapping(binary.as_ptr(), target, binary.len())
                        };
                    }
                }
            }
            info.filled(needed)
        }
        CL_PROGRAM_NUM_KERNELS => info.value(executable()?.len()),
        CL_PROGRAM_KERNEL_NAMES => info.string(&executable()?.join(";")),
        CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => {
            // Neither exists in what is supported.
            info.boolean(false)
        }
        _ => Err(Error::unknown_query(param_name)),
    }
}

fn reference_count(program: &Program) -> cl_uint {
    use crate::runtime::object::registry::Object;
    program.handle().references()
}

/// `clSetProgramReleaseCallback`
pub fn set_program_release_callback(
    program: cl_program,
    pfn_notify: ProgramNotify,
    _user_data: *mut c_void,
) -> Result<()> {
    get(program)?;
    // "CL_INVALID_VALUE if pfn_notify is NULL."
    if pfn_notify.is_none() {
        return Err(Error::invalid_value("pfn_notify is NULL"));
    }
    // "CL_INVALID_OPERATION if no devices in the context associated with program support destructors for
    // program scope global variables."
    Err(Error::invalid_operation(
        "no device supports destructors of program scope variables",
    ))
}

/// `clSetProgramSpecializationConstant`
///
/// # Safety
/// `spec_value` is NULL or has `spec_size` bytes.
pub unsafe fn set_program_specialization_constant(
    program: cl_program,
    spec_id: cl_uint,
    spec_size: usize,
    spec_value: *const c_void,
) -> Result<()> {
    let program = get(program)?;
    // "CL_INVALID_PROGRAM if program is not a valid program object created from an intermediate language".
    let Origin::Il { module, .. } = program.origin() else {
        return Err(Error::new(
            CL_INVALID_PROGRAM,
            "program was not created with clCreateProgramWithIL",
        ));
    };
    // "CL_INVALID_SPEC_ID if spec_id is not a valid specialization constant identifier."
    let Some(size_bytes) = specialization::constant_size(&module.words()?, spec_id) else {
        return Err(Error::new(
            CL_INVALID_SPEC_ID,
            format!("the module has no specialization constant {spec_id}"),
        ));
    };
    // "CL_INVALID_VALUE if spec_size does not match the size of the specialization constant in the module, or
    // if spec_value is NULL."
    if spec_value.is_null() || spec_size != size_bytes {
        return Err(Error::invalid_value(format!(
            "spec_value is NULL, or spec_size {spec_size} is not {size_bytes}"
        )));
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(spec_value.cast::<u8>(), spec_size) };
    program.specialize(spec_id, bytes.to_vec());
    Ok(())
}

/// A C string argument that may be NULL, which is the empty string. Bytes that are no UTF-8 are replaced.
///
/// # Safety
/// NULL or a terminated string.
pub(super) unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        String::new()
    } else {
        // SAFETY: the caller's promise.
        unsafe { CStr::from_ptr(string) }
            .to_string_lossy()
            .into_owned()
    }
}
