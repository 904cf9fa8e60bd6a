//! Building, compiling and linking programs.

use super::error::{Error, Result};
use super::out::{Info, Written};
use super::program::{get, text};
use super::{context, device, handle};
use crate::runtime::code::front_end::FrontEnd;
use crate::runtime::device::Device;
use crate::runtime::object::callback::{ProgramNotify, UserData};
use crate::runtime::program::build::{self, Notify};
use crate::runtime::program::{BuildStatus, Origin, Product, Program};
use crate::toolchain::{BuildOptions, LinkOptions};
use opencl_sys::{
    CL_BUILD_ERROR, CL_BUILD_IN_PROGRESS, CL_BUILD_NONE, CL_BUILD_SUCCESS,
    CL_COMPILER_NOT_AVAILABLE, CL_INVALID_BINARY, CL_INVALID_BUILD_OPTIONS,
    CL_INVALID_COMPILER_OPTIONS, CL_INVALID_DEVICE, CL_INVALID_LINKER_OPTIONS,
    CL_PROGRAM_BINARY_TYPE, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
    CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_PROGRAM_BINARY_TYPE_LIBRARY, CL_PROGRAM_BINARY_TYPE_NONE,
    CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_BUILD_OPTIONS,
    CL_PROGRAM_BUILD_STATUS, cl_context, cl_device_id, cl_int, cl_program, cl_program_build_info,
    cl_uint,
};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// The devices of `device_list`, or all of `all` when it is NULL.
///
/// # Safety
/// `device_list` is NULL or has `num_devices` handles.
unsafe fn devices_or_all(
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    all: &[Arc<Device>],
) -> Result<Vec<cl_device_id>> {
    // "CL_INVALID_VALUE if device_list is NULL and num_devices is greater than zero, or if device_list is not
    // NULL and num_devices is zero."
    // SAFETY: the caller's promise.
    let list = unsafe { handle::slice(device_list, num_devices as usize, "device_list") }?;
    Ok(match list {
        [] => all
            .iter()
            .map(|device| handle::existing(&**device))
            .collect(),
        list => list.to_vec(),
    })
}

/// Places in the program's list of devices. "CL_INVALID_DEVICE if any device in device_list is not in the list
/// of devices associated with program."
fn places(program: &Program, devices: &[cl_device_id]) -> Result<Vec<usize>> {
    let mut places = Vec::with_capacity(devices.len());
    for device in devices {
        let device = device::get(*device)?;
        let place = program.device_index(&device).ok_or_else(|| {
            Error::new(
                CL_INVALID_DEVICE,
                "a device of device_list is not the program's",
            )
        })?;
        if !places.contains(&place) {
            places.push(place);
        }
    }
    Ok(places)
}

fn check_notify(pfn_notify: ProgramNotify, user_data: *mut c_void) -> Result<Notify> {
    // "CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL."
    if pfn_notify.is_none() && !user_data.is_null() {
        return Err(Error::invalid_value("pfn_notify is NULL, user_data is not"));
    }
    Ok(Notify {
        function: pfn_notify,
        user_data: Some(UserData(user_data)),
    })
}

/// `clBuildProgram`
///
/// # Safety
/// The pointers are as the specification of `clBuildProgram` says.
pub unsafe fn build_program(
    program: cl_program,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    options: *const c_char,
    pfn_notify: ProgramNotify,
    user_data: *mut c_void,
) -> Result<()> {
    let program = get(program)?;
    // SAFETY: the caller's promise.
    let devices = unsafe { devices_or_all(num_devices, device_list, program.devices()) }?;
    let notify = check_notify(pfn_notify, user_data)?;
    let places = places(&program, &devices)?;
    // "CL_INVALID_BINARY if program is created with clCreateProgramWithBinary and devices listed in device_list
    // do not have a valid program binary loaded."
    let unloaded = |place: &usize| matches!(program.build(*place).product, Product::None);
    if matches!(program.origin(), Origin::Binary) && places.iter().any(unloaded) {
        return Err(Error::new(
            CL_INVALID_BINARY,
            "no binary for a device of device_list",
        ));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { text(options) };
    // "CL_INVALID_BUILD_OPTIONS if the build options specified by options are invalid."
    let options = BuildOptions::parse(&text)
        .map_err(|error| Error::new(CL_INVALID_BUILD_OPTIONS, error.to_string()))?;
    check_compiler(&program)?;
    // "CL_INVALID_OPERATION if program was not created with clCreateProgramWithSource, clCreateProgramWithIL,
    // or clCreateProgramWithBinary."
    if matches!(program.origin(), Origin::Linked) {
        return Err(Error::invalid_operation(
            "program was made by clLinkProgram",
        ));
    }
    build::build(&program, places, &text, options, notify)
}

/// "CL_COMPILER_NOT_AVAILABLE if program is created with clCreateProgramWithSource and a compiler is not available, i.e.
/// CL_DEVICE_COMPILER_AVAILABLE … is set to CL_FALSE."
fn check_compiler(program: &Program) -> Result<()> {
    match (program.origin(), FrontEnd::instance().clang()) {
        (Origin::Source(_), Err(missing)) => {
            Err(Error::new(CL_COMPILER_NOT_AVAILABLE, missing.to_string()))
        }
        _ => Ok(()),
    }
}

/// `clCompileProgram`
///
/// # Safety
/// The pointers are as the specification of `clCompileProgram` says.
pub unsafe fn compile_program(
    program: cl_program,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    options: *const c_char,
    num_input_headers: cl_uint,
    input_headers: *const cl_program,
    header_include_names: *mut *const c_char,
    pfn_notify: ProgramNotify,
    user_data: *mut c_void,
) -> Result<()> {
    let program = get(program)?;
    // SAFETY: the caller's promise.
    let devices = unsafe { devices_or_all(num_devices, device_list, program.devices()) }?;
    // "CL_INVALID_VALUE if num_input_headers is zero and header_include_names or input_headers are not NULL or
    // if num_input_headers is not zero and header_include_names or input_headers are NULL."
    let count = num_input_headers as usize;
    // SAFETY: the caller's promise.
    let (programs, names) = unsafe {
        (
            handle::slice(input_headers, count, "input_headers")?,
            handle::slice(
                header_include_names.cast_const(),
                count,
                "header_include_names",
            )?,
        )
    };
    let notify = check_notify(pfn_notify, user_data)?;
    let places = places(&program, &devices)?;
    // SAFETY: the caller's promise.
    let build_text = unsafe { text(options) };
    // "CL_INVALID_COMPILER_OPTIONS if the compiler options specified by options are invalid."
    let options = BuildOptions::parse(&build_text)
        .map_err(|error| Error::new(CL_INVALID_COMPILER_OPTIONS, error.to_string()))?;
    check_compiler(&program)?;
    // "CL_INVALID_OPERATION if program has no source or IL available, i.e. it has not been created with
    // clCreateProgramWithSource or clCreateProgramWithIL."
    if matches!(program.origin(), Origin::Binary | Origin::Linked) {
        return Err(Error::invalid_operation("program has no source or IL"));
    }
    let mut headers = Vec::new();
    for (header, name) in programs.iter().zip(names) {
        let header = get(*header)?;
        let Origin::Source(source) = header.origin() else {
            return Err(Error::invalid_value(
                "a program of input_headers was not created with clCreateProgramWithSource",
            ));
        };
        if name.is_null() {
            return Err(Error::invalid_value(
                "an entry of header_include_names is NULL",
            ));
        }
        // SAFETY: a terminated string.
        let name = unsafe { text(*name) };
        headers.push((name, source.for_compiler().into_owned()));
    }
    build::compile(&program, places, &build_text, options, headers, notify)
}

/// Whether an input program has something to link for a device.
fn has_module(program: &Program, device: &Arc<Device>) -> bool {
    program.device_index(device).is_some_and(|place| {
        matches!(
            program.build(place).product,
            Product::Object(_) | Product::Library(_)
        )
    })
}

/// `clLinkProgram`: the program, and the error if linking it failed. "If the linking operation can begin,
/// clLinkProgram returns a valid non-zero program object."
///
/// # Safety
/// The pointers are as the specification of `clLinkProgram` says.
pub unsafe fn link_program(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    options: *const c_char,
    num_input_programs: cl_uint,
    input_programs: *const cl_program,
    pfn_notify: ProgramNotify,
    user_data: *mut c_void,
) -> Result<(cl_program, Option<Error>)> {
    let context = context::get(context)?;
    // SAFETY: the caller's promise.
    let devices = unsafe { devices_or_all(num_devices, device_list, context.devices()) }?;
    // "CL_INVALID_VALUE if num_input_programs is zero and input_programs is NULL or if num_input_programs is
    // zero and input_programs is not NULL or if num_input_programs is not zero and input_programs is NULL."
    if num_input_programs == 0 || input_programs.is_null() {
        return Err(Error::invalid_value(
            "num_input_programs is 0 or input_programs is NULL",
        ));
    }
    // "CL_INVALID_PROGRAM if programs specified in input_programs are not valid program objects."
    // SAFETY: the caller's promise.
    let inputs: Vec<Arc<Program>> =
        unsafe { handle::get_list(num_input_programs, input_programs, "input_programs") }?;
    let notify = check_notify(pfn_notify, user_data)?;
    // "CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with context."
    let mut linked = Vec::with_capacity(devices.len());
    for device in devices {
        let device = device::get(device)?;
        if context.device_index(&device).is_none() {
            return Err(Error::new(
                CL_INVALID_DEVICE,
                "a device of device_list is not in the context",
            ));
        }
        if !linked.iter().any(|other| Arc::ptr_eq(other, &device)) {
            linked.push(device);
        }
    }
    // SAFETY: the caller's promise.
    let text = unsafe { text(options) };
    // "CL_INVALID_LINKER_OPTIONS if the linker options specified by options are invalid."
    let options = LinkOptions::parse(&text)
        .map_err(|error| Error::new(CL_INVALID_LINKER_OPTIONS, error.to_string()))?;
    // "CL_INVALID_OPERATION if the compilation or build of a program executable for any of the devices listed in
    // device_list by a previous call to clCompileProgram or clBuildProgram for program has not completed."
    let busy = inputs.iter().any(|input| {
        input
            .builds()
            .iter()
            .any(|build| build.status == BuildStatus::InProgress)
    });
    if busy {
        return Err(Error::invalid_operation(
            "an input program is still being compiled",
        ));
    }
    // "CL_INVALID_OPERATION if the rules for devices containing compiled binaries or libraries as described in
    // input_programs argument above are not followed.": all inputs have one for a device, or none has.
    let mut places = Vec::new();
    for (place, device) in linked.iter().enumerate() {
        let count = inputs
            .iter()
            .filter(|input| has_module(input, device))
            .count();
        if count == inputs.len() {
            places.push(place);
        } else if count > 0 {
            return Err(Error::invalid_operation(
                "some input programs have a compiled object or library for a device, some have none",
            ));
        }
    }
    if places.is_empty() {
        return Err(Error::invalid_operation(
            "no input program has a compiled object or library",
        ));
    }
    // "If device_list is a NULL value, the link is performed and a valid program object returned … for all devices
    // associated with the context": for others than those with objects "no link is performed".
    let program = Program::for_devices(&context, linked, Origin::Linked);
    // Before linking: a callback may come first.
    let created = handle::create(Arc::clone(&program));
    let failure = build::link(&program, places, &text, options, inputs, notify).err();
    Ok((created, failure))
}

/// `clGetProgramBuildInfo`
pub fn get_program_build_info(
    program: cl_program,
    device: cl_device_id,
    param_name: cl_program_build_info,
    info: Info,
) -> Result<Written> {
    let program = get(program)?;
    // "CL_INVALID_DEVICE if device is not in the list of devices associated with program."
    let device = device::get(device)?;
    let place = program
        .device_index(&device)
        .ok_or_else(|| Error::new(CL_INVALID_DEVICE, "device is not the program's"))?;
    let build = program.build(place);
    match param_name {
        CL_PROGRAM_BUILD_STATUS => info.value::<cl_int>(match build.status {
            BuildStatus::None => CL_BUILD_NONE,
            BuildStatus::InProgress => CL_BUILD_IN_PROGRESS,
            BuildStatus::Success => CL_BUILD_SUCCESS,
            BuildStatus::Error => CL_BUILD_ERROR,
        }),
        CL_PROGRAM_BUILD_OPTIONS => info.string(&build.options),
        CL_PROGRAM_BUILD_LOG => info.string(&build.log),
        CL_PROGRAM_BINARY_TYPE => info.value::<cl_uint>(match build.product {
            Product::None => CL_PROGRAM_BINARY_TYPE_NONE,
            Product::Object(_) => CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
            Product::Library(_) => CL_PROGRAM_BINARY_TYPE_LIBRARY,
            Product::Loaded(_) | Product::Executable(_) => CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
        }),
        CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => info.value::<usize>(match build.product {
            Product::Executable(executable) => {
                executable.program().data.global_variable_bytes as usize
            }
            _ => 0,
        }),
        _ => Err(Error::unknown_query(param_name)),
    }
}
