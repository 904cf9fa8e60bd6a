//! Every entry point. See `stub.rs` for how to read a line.

use super::stub::entry_points;
use super::{EntryPoint, lookup};
use crate::api;
use crate::api::command_buffer::SyncPointArguments;
use crate::api::entry::Entry;
use crate::api::out::{EventArguments, Info};
use crate::runtime::object::callback::{
    ContextDestructor, ContextNotify, EventNotify, MemoryDestructor, NativeKernel, ProgramNotify,
    SvmFree,
};
use opencl_sys::cl_d3d10::{
    ID3D10Buffer_ptr, ID3D10Texture2D_ptr, ID3D10Texture3D_ptr, cl_d3d10_device_set_khr,
    cl_d3d10_device_source_khr,
};
use opencl_sys::cl_d3d11::{
    ID3D11Buffer_ptr, ID3D11Texture2D_ptr, ID3D11Texture3D_ptr, cl_d3d11_device_set_khr,
    cl_d3d11_device_source_khr,
};
use opencl_sys::cl_dx9_media_sharing::{
    cl_dx9_media_adapter_set_khr, cl_dx9_media_adapter_type_khr,
};
use opencl_sys::cl_egl::{
    CLeglDisplayKHR, CLeglImageKHR, CLeglSyncKHR, cl_egl_image_properties_khr,
};
use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::{
    cl_GLenum, cl_GLint, cl_GLsync, cl_GLuint, cl_addressing_mode, cl_bool, cl_buffer_create_type,
    cl_command_buffer_info_khr, cl_command_buffer_khr, cl_command_buffer_properties_khr,
    cl_command_buffer_update_type_khr, cl_command_properties_khr, cl_command_queue,
    cl_command_queue_info, cl_command_queue_properties, cl_context, cl_context_info,
    cl_context_properties, cl_device_id, cl_device_info, cl_device_partition_property,
    cl_device_partition_property_ext, cl_device_type, cl_event, cl_event_info,
    cl_external_semaphore_handle_type_khr, cl_filter_mode, cl_gl_context_info, cl_gl_object_type,
    cl_gl_texture_info, cl_image_desc, cl_image_format, cl_image_info, cl_int, cl_kernel,
    cl_kernel_arg_info, cl_kernel_exec_info, cl_kernel_info, cl_kernel_sub_group_info,
    cl_kernel_work_group_info, cl_map_flags, cl_mem, cl_mem_advice_intel,
    cl_mem_device_address_ext, cl_mem_flags, cl_mem_info, cl_mem_info_intel,
    cl_mem_migration_flags, cl_mem_object_type, cl_mem_properties, cl_mem_properties_intel,
    cl_mutable_command_info_khr, cl_mutable_command_khr, cl_pipe_info, cl_pipe_properties,
    cl_platform_id, cl_platform_info, cl_profiling_info, cl_program, cl_program_build_info,
    cl_program_info, cl_queue_properties, cl_sampler, cl_sampler_info, cl_sampler_properties,
    cl_semaphore_info_khr, cl_semaphore_khr, cl_semaphore_payload_khr, cl_semaphore_properties_khr,
    cl_semaphore_reimport_properties_khr, cl_svm_mem_flags, cl_sync_point_khr, cl_uint, cl_ulong,
};
use std::ffi::{c_char, c_uchar, c_void};
use std::mem::offset_of;

pub(super) const fn slot_of_get_platform_ids() -> usize {
    offset_of!(cl_icd_dispatch, clGetPlatformIDs) / size_of::<usize>()
}

pub(super) const fn slot_of_unload_compiler() -> usize {
    offset_of!(cl_icd_dispatch, clUnloadCompiler) / size_of::<usize>()
}

entry_points! {
dispatch {
    core clGetPlatformIDs(
        num_entries: cl_uint, platforms: *mut cl_platform_id, num_platforms: *mut cl_uint
    ) -> cl_int = lookup::get_platform_ids;
    core clGetPlatformInfo(
        platform: cl_platform_id, param_name: cl_platform_info; info
    ) -> cl_int = api::platform::get_platform_info;
    core clGetDeviceIDs(
        platform: cl_platform_id, device_type: cl_device_type, num_entries: cl_uint,
        devices: *mut cl_device_id, num_devices: *mut cl_uint
    ) -> cl_int = api::device::get_device_ids;
    core clGetDeviceInfo(
        device: cl_device_id, param_name: cl_device_info; info
    ) -> cl_int = api::device_info::get_device_info;
    core clCreateContext(
        properties: *const cl_context_properties, num_devices: cl_uint, devices: *const cl_device_id,
        pfn_notify: ContextNotify, user_data: *mut c_void; errcode_ret
    ) -> cl_context = api::context::create_context;
    core clCreateContextFromType(
        properties: *const cl_context_properties, device_type: cl_device_type, pfn_notify: ContextNotify,
        user_data: *mut c_void; errcode_ret
    ) -> cl_context = api::context::create_context_from_type;
    core clRetainContext(context: cl_context) -> cl_int = api::context::retain_context;
    core clReleaseContext(context: cl_context) -> cl_int = api::context::release_context;
    core clGetContextInfo(
        context: cl_context, param_name: cl_context_info; info
    ) -> cl_int = api::context::get_context_info;
    core clCreateCommandQueue(
        context: cl_context, device: cl_device_id, properties: cl_command_queue_properties; errcode_ret
    ) -> cl_command_queue = api::queue::create_command_queue;
    core clRetainCommandQueue(command_queue: cl_command_queue) -> cl_int = api::queue::retain_command_queue;
    core clReleaseCommandQueue(command_queue: cl_command_queue) -> cl_int = api::queue::release_command_queue;
    core clGetCommandQueueInfo(
        command_queue: cl_command_queue, param_name: cl_command_queue_info; info
    ) -> cl_int = api::queue::get_command_queue_info;
    core clSetCommandQueueProperty(
        command_queue: cl_command_queue, properties: cl_command_queue_properties, enable: cl_bool,
        old_properties: *mut cl_command_queue_properties
    ) -> cl_int = api::queue::set_command_queue_property;
    core clCreateBuffer(
        context: cl_context, flags: cl_mem_flags, size: usize, host_ptr: *mut c_void; errcode_ret
    ) -> cl_mem = api::buffer::create_buffer;
    core clCreateImage2D(
        context: cl_context, flags: cl_mem_flags, image_format: *const cl_image_format, image_width: usize,
        image_height: usize, image_row_pitch: usize, host_ptr: *mut c_void; errcode_ret
    ) -> cl_mem = api::image::create_image_2d;
    core clCreateImage3D(
        context: cl_context, flags: cl_mem_flags, image_format: *const cl_image_format, image_width: usize,
        image_height: usize, image_depth: usize, image_row_pitch: usize, image_slice_pitch: usize,
        host_ptr: *mut c_void; errcode_ret
    ) -> cl_mem = api::image::create_image_3d;
    core clRetainMemObject(memobj: cl_mem) -> cl_int = api::memory::retain_mem_object;
    core clReleaseMemObject(memobj: cl_mem) -> cl_int = api::memory::release_mem_object;
    core clGetSupportedImageFormats(
        context: cl_context, flags: cl_mem_flags, image_type: cl_mem_object_type, num_entries: cl_uint,
        image_formats: *mut cl_image_format, num_image_formats: *mut cl_uint
    ) -> cl_int = api::image::get_supported_image_formats;
    core clGetMemObjectInfo(
        memobj: cl_mem, param_name: cl_mem_info; info
    ) -> cl_int = api::memory::get_mem_object_info;
    core clGetImageInfo(
        image: cl_mem, param_name: cl_image_info; info
    ) -> cl_int = api::image::get_image_info;
    core clCreateSampler(
        context: cl_context, normalized_coords: cl_bool, addressing_mode: cl_addressing_mode,
        filter_mode: cl_filter_mode; errcode_ret
    ) -> cl_sampler = api::sampler::create_sampler;
    core clRetainSampler(sampler: cl_sampler) -> cl_int = api::sampler::retain_sampler;
    core clReleaseSampler(sampler: cl_sampler) -> cl_int = api::sampler::release_sampler;
    core clGetSamplerInfo(
        sampler: cl_sampler, param_name: cl_sampler_info; info
    ) -> cl_int = api::sampler::get_sampler_info;
    core clCreateProgramWithSource(
        context: cl_context, count: cl_uint, strings: *mut *const c_char, lengths: *const usize;
        errcode_ret
    ) -> cl_program = api::program::create_program_with_source;
    core clCreateProgramWithBinary(
        context: cl_context, num_devices: cl_uint, device_list: *const cl_device_id, lengths: *const usize,
        binaries: *mut *const c_uchar, binary_status: *mut cl_int; errcode_ret
    ) -> cl_program = api::program::create_program_with_binary;
    core clRetainProgram(program: cl_program) -> cl_int = api::program::retain_program;
    core clReleaseProgram(program: cl_program) -> cl_int = api::program::release_program;
    core clBuildProgram(
        program: cl_program, num_devices: cl_uint, device_list: *const cl_device_id, options: *const c_char,
        pfn_notify: ProgramNotify, user_data: *mut c_void
    ) -> cl_int = api::program_build::build_program;
    core clUnloadCompiler() -> cl_int = api::platform::unload_compiler;
    core clGetProgramInfo(
        program: cl_program, param_name: cl_program_info; info
    ) -> cl_int = api::program::get_program_info;
    core clGetProgramBuildInfo(
        program: cl_program, device: cl_device_id, param_name: cl_program_build_info; info
    ) -> cl_int = api::program_build::get_program_build_info;
    core clCreateKernel(
        program: cl_program, kernel_name: *const c_char; errcode_ret
    ) -> cl_kernel = api::kernel::create_kernel;
    core clCreateKernelsInProgram(
        program: cl_program, num_kernels: cl_uint, kernels: *mut cl_kernel, num_kernels_ret: *mut cl_uint
    ) -> cl_int = api::kernel::create_kernels_in_program;
    core clRetainKernel(kernel: cl_kernel) -> cl_int = api::kernel::retain_kernel;
    core clReleaseKernel(kernel: cl_kernel) -> cl_int = api::kernel::release_kernel;
    core clSetKernelArg(
        kernel: cl_kernel, arg_index: cl_uint, arg_size: usize, arg_value: *const c_void
    ) -> cl_int = api::kernel::set_kernel_arg;
    core clGetKernelInfo(
        kernel: cl_kernel, param_name: cl_kernel_info; info
    ) -> cl_int = api::kernel_info::get_kernel_info;
    core clGetKernelWorkGroupInfo(
        kernel: cl_kernel, device: cl_device_id, param_name: cl_kernel_work_group_info; info
    ) -> cl_int = api::kernel_info::get_kernel_work_group_info;
    core clWaitForEvents(
        num_events: cl_uint, event_list: *const cl_event
    ) -> cl_int = api::event::wait_for_events;
    core clGetEventInfo(
        event: cl_event, param_name: cl_event_info; info
    ) -> cl_int = api::event::get_event_info;
    core clRetainEvent(event: cl_event) -> cl_int = api::event::retain_event;
    core clReleaseEvent(event: cl_event) -> cl_int = api::event::release_event;
    core clGetEventProfilingInfo(
        event: cl_event, param_name: cl_profiling_info; info
    ) -> cl_int = api::event::get_event_profiling_info;
    core clFlush(command_queue: cl_command_queue) -> cl_int = api::queue::flush;
    core clFinish(command_queue: cl_command_queue) -> cl_int = api::queue::finish;
    core clEnqueueReadBuffer(
        command_queue: cl_command_queue, buffer: cl_mem, blocking_read: cl_bool, offset: usize, size: usize,
        ptr: *mut c_void; events
    ) -> cl_int = api::enqueue_buffer::enqueue_read_buffer;
    core clEnqueueWriteBuffer(
        command_queue: cl_command_queue, buffer: cl_mem, blocking_write: cl_bool, offset: usize,
        size: usize, ptr: *const c_void; events
    ) -> cl_int = api::enqueue_buffer::enqueue_write_buffer;
    core clEnqueueCopyBuffer(
        command_queue: cl_command_queue, src_buffer: cl_mem, dst_buffer: cl_mem, src_offset: usize,
        dst_offset: usize, size: usize; events
    ) -> cl_int = api::enqueue_buffer::enqueue_copy_buffer;
    core clEnqueueReadImage(
        command_queue: cl_command_queue, image: cl_mem, blocking_read: cl_bool, origin: *const usize,
        region: *const usize, row_pitch: usize, slice_pitch: usize, ptr: *mut c_void; events
    ) -> cl_int = api::enqueue_image::enqueue_read_image;
    core clEnqueueWriteImage(
        command_queue: cl_command_queue, image: cl_mem, blocking_write: cl_bool, origin: *const usize,
        region: *const usize, input_row_pitch: usize, input_slice_pitch: usize, ptr: *const c_void; events
    ) -> cl_int = api::enqueue_image::enqueue_write_image;
    core clEnqueueCopyImage(
        command_queue: cl_command_queue, src_image: cl_mem, dst_image: cl_mem, src_origin: *const usize,
        dst_origin: *const usize, region: *const usize; events
    ) -> cl_int = api::enqueue_image::enqueue_copy_image;
    core clEnqueueCopyImageToBuffer(
        command_queue: cl_command_queue, src_image: cl_mem, dst_buffer: cl_mem, src_origin: *const usize,
        region: *const usize, dst_offset: usize; events
    ) -> cl_int = api::enqueue_image::enqueue_copy_image_to_buffer;
    core clEnqueueCopyBufferToImage(
        command_queue: cl_command_queue, src_buffer: cl_mem, dst_image: cl_mem, src_offset: usize,
        dst_origin: *const usize, region: *const usize; events
    ) -> cl_int = api::enqueue_image::enqueue_copy_buffer_to_image;
    core clEnqueueMapBuffer(
        command_queue: cl_command_queue, buffer: cl_mem, blocking_map: cl_bool, map_flags: cl_map_flags,
        offset: usize, size: usize; events_errcode_ret
    ) -> *mut c_void = api::enqueue_map::enqueue_map_buffer;
    core clEnqueueMapImage(
        command_queue: cl_command_queue, image: cl_mem, blocking_map: cl_bool, map_flags: cl_map_flags,
        origin: *const usize, region: *const usize, image_row_pitch: *mut usize,
        image_slice_pitch: *mut usize; events_errcode_ret
    ) -> *mut c_void = api::enqueue_image::enqueue_map_image;
    core clEnqueueUnmapMemObject(
        command_queue: cl_command_queue, memobj: cl_mem, mapped_ptr: *mut c_void; events
    ) -> cl_int = api::enqueue_map::enqueue_unmap_mem_object;
    core clEnqueueNDRangeKernel(
        command_queue: cl_command_queue, kernel: cl_kernel, work_dim: cl_uint,
        global_work_offset: *const usize, global_work_size: *const usize, local_work_size: *const usize;
        events
    ) -> cl_int = api::enqueue_kernel::enqueue_nd_range_kernel;
    core clEnqueueTask(
        command_queue: cl_command_queue, kernel: cl_kernel; events
    ) -> cl_int = api::enqueue_kernel::enqueue_task;
    core clEnqueueNativeKernel(
        command_queue: cl_command_queue, user_func: NativeKernel, args: *mut c_void, cb_args: usize,
        num_mem_objects: cl_uint, mem_list: *const cl_mem, args_mem_loc: *mut *const c_void; events
    ) -> cl_int = api::enqueue_kernel::enqueue_native_kernel;
    core clEnqueueMarker(
        command_queue: cl_command_queue, event: *mut cl_event
    ) -> cl_int = api::enqueue_sync::enqueue_marker;
    core clEnqueueWaitForEvents(
        command_queue: cl_command_queue, num_events: cl_uint, event_list: *const cl_event
    ) -> cl_int = api::enqueue_sync::enqueue_wait_for_events;
    core clEnqueueBarrier(command_queue: cl_command_queue) -> cl_int = api::enqueue_sync::enqueue_barrier;
    core clGetExtensionFunctionAddress(
        func_name: *const c_char; pointer
    ) -> *mut c_void = lookup::get_extension_function_address;
    sharing clCreateFromGLBuffer(
        context: cl_context, flags: cl_mem_flags, bufobj: cl_GLuint; unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clCreateFromGLTexture2D(
        context: cl_context, flags: cl_mem_flags, target: cl_GLenum, miplevel: cl_GLint, texture: cl_GLuint;
        unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clCreateFromGLTexture3D(
        context: cl_context, flags: cl_mem_flags, target: cl_GLenum, miplevel: cl_GLint, texture: cl_GLuint;
        unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clCreateFromGLRenderbuffer(
        context: cl_context, flags: cl_mem_flags, renderbuffer: cl_GLuint; unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clGetGLObjectInfo(
        memobj: cl_mem, gl_object_type: *mut cl_gl_object_type, gl_object_name: *mut cl_GLuint; unsupported
    ) -> cl_int = api::sharing::unsupported;
    sharing clGetGLTextureInfo(
        memobj: cl_mem, param_name: cl_gl_texture_info; unsupported_info
    ) -> cl_int = api::sharing::unsupported;
    sharing clEnqueueAcquireGLObjects(
        command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem;
        unsupported_events
    ) -> cl_int = api::sharing::unsupported;
    sharing clEnqueueReleaseGLObjects(
        command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem;
        unsupported_events
    ) -> cl_int = api::sharing::unsupported;
    sharing clGetGLContextInfoKHR(
        properties: *const cl_context_properties, param_name: cl_gl_context_info; unsupported_info
    ) -> cl_int = api::sharing::unsupported;
    sharing clGetDeviceIDsFromD3D10KHR(
        platform: cl_platform_id, d3d_device_source: cl_d3d10_device_source_khr, d3d_object: *mut c_void,
        d3d_device_set: cl_d3d10_device_set_khr, num_entries: cl_uint, devices: *mut cl_device_id,
        num_devices: *mut cl_uint; unsupported
    ) -> cl_int = api::sharing::unsupported;
    sharing clCreateFromD3D10BufferKHR(
        context: cl_context, flags: cl_mem_flags, resource: ID3D10Buffer_ptr; unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clCreateFromD3D10Texture2DKHR(
        context: cl_context, flags: cl_mem_flags, resource: ID3D10Texture2D_ptr, subresource: cl_uint;
        unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clCreateFromD3D10Texture3DKHR(
        context: cl_context, flags: cl_mem_flags, resource: ID3D10Texture3D_ptr, subresource: cl_uint;
        unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clEnqueueAcquireD3D10ObjectsKHR(
        command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem;
        unsupported_events
    ) -> cl_int = api::sharing::unsupported;
    sharing clEnqueueReleaseD3D10ObjectsKHR(
        command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem;
        unsupported_events
    ) -> cl_int = api::sharing::unsupported;
    core clSetEventCallback(
        event: cl_event, command_exec_callback_type: cl_int, pfn_notify: EventNotify,
        user_data: *mut c_void
    ) -> cl_int = api::event::set_event_callback;
    core clCreateSubBuffer(
        buffer: cl_mem, flags: cl_mem_flags, buffer_create_type: cl_buffer_create_type,
        buffer_create_info: *const c_void; errcode_ret
    ) -> cl_mem = api::buffer::create_sub_buffer;
    core clSetMemObjectDestructorCallback(
        memobj: cl_mem, pfn_notify: MemoryDestructor, user_data: *mut c_void
    ) -> cl_int = api::memory::set_mem_object_destructor_callback;
    core clCreateUserEvent(context: cl_context; errcode_ret) -> cl_event = api::event::create_user_event;
    core clSetUserEventStatus(
        event: cl_event, execution_status: cl_int
    ) -> cl_int = api::event::set_user_event_status;
    core clEnqueueReadBufferRect(
        command_queue: cl_command_queue, buffer: cl_mem, blocking_read: cl_bool,
        buffer_origin: *const usize, host_origin: *const usize, region: *const usize,
        buffer_row_pitch: usize, buffer_slice_pitch: usize, host_row_pitch: usize, host_slice_pitch: usize,
        ptr: *mut c_void; events
    ) -> cl_int = api::enqueue_rect::enqueue_read_buffer_rect;
    core clEnqueueWriteBufferRect(
        command_queue: cl_command_queue, buffer: cl_mem, blocking_write: cl_bool,
        buffer_origin: *const usize, host_origin: *const usize, region: *const usize,
        buffer_row_pitch: usize, buffer_slice_pitch: usize, host_row_pitch: usize, host_slice_pitch: usize,
        ptr: *const c_void; events
    ) -> cl_int = api::enqueue_rect::enqueue_write_buffer_rect;
    core clEnqueueCopyBufferRect(
        command_queue: cl_command_queue, src_buffer: cl_mem, dst_buffer: cl_mem, src_origin: *const usize,
        dst_origin: *const usize, region: *const usize, src_row_pitch: usize, src_slice_pitch: usize,
        dst_row_pitch: usize, dst_slice_pitch: usize; events
    ) -> cl_int = api::enqueue_rect::enqueue_copy_buffer_rect;
    sharing clCreateSubDevicesEXT(
        in_device: cl_device_id, properties: *const cl_device_partition_property_ext, num_entries: cl_uint,
        out_devices: *mut cl_device_id, num_devices: *mut cl_uint; unsupported
    ) -> cl_int = api::sharing::unsupported;
    extension clRetainDeviceEXT(device: cl_device_id) -> cl_int = api::device::retain_device;
    extension clReleaseDeviceEXT(device: cl_device_id) -> cl_int = api::device::release_device;
    sharing clCreateEventFromGLsyncKHR(
        context: cl_context, sync: cl_GLsync; unsupported_errcode_ret
    ) -> cl_event = api::sharing::unsupported;
    core clCreateSubDevices(
        in_device: cl_device_id, properties: *const cl_device_partition_property, num_devices: cl_uint,
        out_devices: *mut cl_device_id, num_devices_ret: *mut cl_uint
    ) -> cl_int = api::device::create_sub_devices;
    core clRetainDevice(device: cl_device_id) -> cl_int = api::device::retain_device;
    core clReleaseDevice(device: cl_device_id) -> cl_int = api::device::release_device;
    core clCreateImage(
        context: cl_context, flags: cl_mem_flags, image_format: *const cl_image_format,
        image_desc: *const cl_image_desc, host_ptr: *mut c_void; errcode_ret
    ) -> cl_mem = api::image::create_image;
    core clCreateProgramWithBuiltInKernels(
        context: cl_context, num_devices: cl_uint, device_list: *const cl_device_id,
        kernel_names: *const c_char; errcode_ret
    ) -> cl_program = api::program::create_program_with_built_in_kernels;
    core clCompileProgram(
        program: cl_program, num_devices: cl_uint, device_list: *const cl_device_id, options: *const c_char,
        num_input_headers: cl_uint, input_headers: *const cl_program,
        header_include_names: *mut *const c_char, pfn_notify: ProgramNotify, user_data: *mut c_void
    ) -> cl_int = api::program_build::compile_program;
    core clLinkProgram(
        context: cl_context, num_devices: cl_uint, device_list: *const cl_device_id, options: *const c_char,
        num_input_programs: cl_uint, input_programs: *const cl_program, pfn_notify: ProgramNotify,
        user_data: *mut c_void; despite_error
    ) -> cl_program = api::program_build::link_program;
    core clUnloadPlatformCompiler(
        platform: cl_platform_id
    ) -> cl_int = api::platform::unload_platform_compiler;
    core clGetKernelArgInfo(
        kernel: cl_kernel, arg_index: cl_uint, param_name: cl_kernel_arg_info; info
    ) -> cl_int = api::kernel_info::get_kernel_arg_info;
    core clEnqueueFillBuffer(
        command_queue: cl_command_queue, buffer: cl_mem, pattern: *const c_void, pattern_size: usize,
        offset: usize, size: usize; events
    ) -> cl_int = api::enqueue_buffer::enqueue_fill_buffer;
    core clEnqueueFillImage(
        command_queue: cl_command_queue, image: cl_mem, fill_color: *const c_void, origin: *const usize,
        region: *const usize; events
    ) -> cl_int = api::enqueue_image::enqueue_fill_image;
    core clEnqueueMigrateMemObjects(
        command_queue: cl_command_queue, num_mem_objects: cl_uint, mem_objects: *const cl_mem,
        flags: cl_mem_migration_flags; events
    ) -> cl_int = api::enqueue_map::enqueue_migrate_mem_objects;
    core clEnqueueMarkerWithWaitList(
        command_queue: cl_command_queue; events
    ) -> cl_int = api::enqueue_sync::enqueue_marker_with_wait_list;
    core clEnqueueBarrierWithWaitList(
        command_queue: cl_command_queue; events
    ) -> cl_int = api::enqueue_sync::enqueue_barrier_with_wait_list;
    core clGetExtensionFunctionAddressForPlatform(
        platform: cl_platform_id, func_name: *const c_char; pointer
    ) -> *mut c_void = lookup::get_extension_function_address_for_platform;
    sharing clCreateFromGLTexture(
        context: cl_context, flags: cl_mem_flags, target: cl_GLenum, miplevel: cl_GLint, texture: cl_GLuint;
        unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clGetDeviceIDsFromD3D11KHR(
        platform: cl_platform_id, d3d_device_source: cl_d3d11_device_source_khr, d3d_object: *mut c_void,
        d3d_device_set: cl_d3d11_device_set_khr, num_entries: cl_uint, devices: *mut cl_device_id,
        num_devices: *mut cl_uint; unsupported
    ) -> cl_int = api::sharing::unsupported;
    sharing clCreateFromD3D11BufferKHR(
        context: cl_context, flags: cl_mem_flags, resource: ID3D11Buffer_ptr; unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clCreateFromD3D11Texture2DKHR(
        context: cl_context, flags: cl_mem_flags, resource: ID3D11Texture2D_ptr, subresource: cl_uint;
        unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clCreateFromD3D11Texture3DKHR(
        context: cl_context, flags: cl_mem_flags, resource: ID3D11Texture3D_ptr, subresource: cl_uint;
        unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clCreateFromDX9MediaSurfaceKHR(
        context: cl_context, flags: cl_mem_flags, adapter_type: cl_dx9_media_adapter_type_khr,
        surface_info: *mut c_void, plane: cl_uint; unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clEnqueueAcquireD3D11ObjectsKHR(
        command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem;
        unsupported_events
    ) -> cl_int = api::sharing::unsupported;
    sharing clEnqueueReleaseD3D11ObjectsKHR(
        command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem;
        unsupported_events
    ) -> cl_int = api::sharing::unsupported;
    sharing clGetDeviceIDsFromDX9MediaAdapterKHR(
        platform: cl_platform_id, num_media_adapters: cl_uint,
        media_adapter_type: *mut cl_dx9_media_adapter_type_khr, media_adapters: *mut c_void,
        media_adapter_set: cl_dx9_media_adapter_set_khr, num_entries: cl_uint, devices: *mut cl_device_id,
        num_devices: *mut cl_uint; unsupported
    ) -> cl_int = api::sharing::unsupported;
    sharing clEnqueueAcquireDX9MediaSurfacesKHR(
        command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem;
        unsupported_events
    ) -> cl_int = api::sharing::unsupported;
    sharing clEnqueueReleaseDX9MediaSurfacesKHR(
        command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem;
        unsupported_events
    ) -> cl_int = api::sharing::unsupported;
    sharing clCreateFromEGLImageKHR(
        context: cl_context, egldisplay: CLeglDisplayKHR, eglimage: CLeglImageKHR, flags: cl_mem_flags,
        properties: *const cl_egl_image_properties_khr; unsupported_errcode_ret
    ) -> cl_mem = api::sharing::unsupported;
    sharing clEnqueueAcquireEGLObjectsKHR(
        command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem;
        unsupported_events
    ) -> cl_int = api::sharing::unsupported;
    sharing clEnqueueReleaseEGLObjectsKHR(
        command_queue: cl_command_queue, num_objects: cl_uint, mem_objects: *const cl_mem;
        unsupported_events
    ) -> cl_int = api::sharing::unsupported;
    sharing clCreateEventFromEGLSyncKHR(
        context: cl_context, sync: CLeglSyncKHR, display: CLeglDisplayKHR; unsupported_errcode_ret
    ) -> cl_event = api::sharing::unsupported;
    core clCreateCommandQueueWithProperties(
        context: cl_context, device: cl_device_id, properties: *const cl_queue_properties; errcode_ret
    ) -> cl_command_queue = api::queue::create_command_queue_with_properties;
    core clCreatePipe(
        context: cl_context, flags: cl_mem_flags, pipe_packet_size: cl_uint, pipe_max_packets: cl_uint,
        properties: *const cl_pipe_properties; errcode_ret
    ) -> cl_mem = api::pipe::create_pipe;
    core clGetPipeInfo(pipe: cl_mem, param_name: cl_pipe_info; info) -> cl_int = api::pipe::get_pipe_info;
    core clSVMAlloc(
        context: cl_context, flags: cl_svm_mem_flags, size: usize, alignment: cl_uint; pointer
    ) -> *mut c_void = api::svm::svm_alloc;
    core clSVMFree(context: cl_context, svm_pointer: *mut c_void; nothing) -> () = api::svm::svm_free;
    core clEnqueueSVMFree(
        command_queue: cl_command_queue, num_svm_pointers: cl_uint, svm_pointers: *mut *mut c_void,
        pfn_free_func: SvmFree, user_data: *mut c_void; events
    ) -> cl_int = api::svm::enqueue_svm_free;
    core clEnqueueSVMMemcpy(
        command_queue: cl_command_queue, blocking_copy: cl_bool, dst_ptr: *mut c_void,
        src_ptr: *const c_void, size: usize; events
    ) -> cl_int = api::svm::enqueue_svm_memcpy;
    core clEnqueueSVMMemFill(
        command_queue: cl_command_queue, svm_ptr: *mut c_void, pattern: *const c_void, pattern_size: usize,
        size: usize; events
    ) -> cl_int = api::svm::enqueue_svm_mem_fill;
    core clEnqueueSVMMap(
        command_queue: cl_command_queue, blocking_map: cl_bool, flags: cl_map_flags, svm_ptr: *mut c_void,
        size: usize; events
    ) -> cl_int = api::svm::enqueue_svm_map;
    core clEnqueueSVMUnmap(
        command_queue: cl_command_queue, svm_ptr: *mut c_void; events
    ) -> cl_int = api::svm::enqueue_svm_unmap;
    core clCreateSamplerWithProperties(
        context: cl_context, sampler_properties: *const cl_sampler_properties; errcode_ret
    ) -> cl_sampler = api::sampler::create_sampler_with_properties;
    core clSetKernelArgSVMPointer(
        kernel: cl_kernel, arg_index: cl_uint, arg_value: *const c_void
    ) -> cl_int = api::kernel::set_kernel_arg_svm_pointer;
    core clSetKernelExecInfo(
        kernel: cl_kernel, param_name: cl_kernel_exec_info, param_value_size: usize,
        param_value: *const c_void
    ) -> cl_int = api::kernel::set_kernel_exec_info;
    extension clGetKernelSubGroupInfoKHR(
        kernel: cl_kernel, device: cl_device_id, param_name: cl_kernel_sub_group_info,
        input_value_size: usize, input_value: *const c_void; info
    ) -> cl_int = api::kernel_sub_groups::get_kernel_sub_group_info;
    core clCloneKernel(source_kernel: cl_kernel; errcode_ret) -> cl_kernel = api::kernel::clone_kernel;
    core clCreateProgramWithIL(
        context: cl_context, il: *const c_void, length: usize; errcode_ret
    ) -> cl_program = api::program::create_program_with_il;
    core clEnqueueSVMMigrateMem(
        command_queue: cl_command_queue, num_svm_pointers: cl_uint, svm_pointers: *mut *const c_void,
        sizes: *const usize, flags: cl_mem_migration_flags; events
    ) -> cl_int = api::svm::enqueue_svm_migrate_mem;
    core clGetDeviceAndHostTimer(
        device: cl_device_id, device_timestamp: *mut cl_ulong, host_timestamp: *mut cl_ulong
    ) -> cl_int = api::device::get_device_and_host_timer;
    core clGetHostTimer(
        device: cl_device_id, host_timestamp: *mut cl_ulong
    ) -> cl_int = api::device::get_host_timer;
    core clGetKernelSubGroupInfo(
        kernel: cl_kernel, device: cl_device_id, param_name: cl_kernel_sub_group_info,
        input_value_size: usize, input_value: *const c_void; info
    ) -> cl_int = api::kernel_sub_groups::get_kernel_sub_group_info;
    core clSetDefaultDeviceCommandQueue(
        context: cl_context, device: cl_device_id, command_queue: cl_command_queue
    ) -> cl_int = api::queue::set_default_device_command_queue;
    core clSetProgramReleaseCallback(
        program: cl_program, pfn_notify: ProgramNotify, user_data: *mut c_void
    ) -> cl_int = api::program::set_program_release_callback;
    core clSetProgramSpecializationConstant(
        program: cl_program, spec_id: cl_uint, spec_size: usize, spec_value: *const c_void
    ) -> cl_int = api::program::set_program_specialization_constant;
    core clCreateBufferWithProperties(
        context: cl_context, properties: *const cl_mem_properties, flags: cl_mem_flags, size: usize,
        host_ptr: *mut c_void; errcode_ret
    ) -> cl_mem = api::buffer::create_buffer_with_properties;
    core clCreateImageWithProperties(
        context: cl_context, properties: *const cl_mem_properties, flags: cl_mem_flags,
        image_format: *const cl_image_format, image_desc: *const cl_image_desc, host_ptr: *mut c_void;
        errcode_ret
    ) -> cl_mem = api::image::create_image_with_properties;
    core clSetContextDestructorCallback(
        context: cl_context, pfn_notify: ContextDestructor, user_data: *mut c_void
    ) -> cl_int = api::context::set_context_destructor_callback;
    core clGetKernelSuggestedLocalWorkSize(
        command_queue: cl_command_queue, kernel: cl_kernel, work_dim: cl_uint,
        global_work_offset: *const usize, global_work_size: *const usize,
        suggested_local_work_size: *mut usize
    ) -> cl_int = api::kernel_info::get_kernel_suggested_local_work_size;
}
beyond_dispatch {
    extension clIcdGetPlatformIDsKHR(
        num_entries: cl_uint, platforms: *mut cl_platform_id, num_platforms: *mut cl_uint
    ) -> cl_int = lookup::get_platform_ids;
    extension clIcdGetFunctionAddressForPlatformKHR(
        platform: cl_platform_id, func_name: *const c_char; pointer
    ) -> *mut c_void = lookup::icd_get_function_address_for_platform;
    extension clIcdSetPlatformDispatchDataKHR(
        platform: cl_platform_id, dispatch_data: *mut c_void
    ) -> cl_int = api::platform::icd_set_platform_dispatch_data;
    extension clSetKernelArgDevicePointerEXT(
        kernel: cl_kernel, arg_index: cl_uint, arg_value: cl_mem_device_address_ext
    ) -> cl_int = api::device_address::set_kernel_arg_device_pointer;
    extension clEnqueueAcquireExternalMemObjectsKHR(
        command_queue: cl_command_queue, num_mem_objects: cl_uint, mem_objects: *const cl_mem; events
    ) -> cl_int = api::external_memory::enqueue_acquire;
    extension clEnqueueReleaseExternalMemObjectsKHR(
        command_queue: cl_command_queue, num_mem_objects: cl_uint, mem_objects: *const cl_mem; events
    ) -> cl_int = api::external_memory::enqueue_release;
    extension clCreateSemaphoreWithPropertiesKHR(
        context: cl_context, sema_props: *const cl_semaphore_properties_khr; errcode_ret
    ) -> cl_semaphore_khr = api::semaphore::create_semaphore_with_properties;
    extension clRetainSemaphoreKHR(
        sema_object: cl_semaphore_khr
    ) -> cl_int = api::semaphore::retain_semaphore;
    extension clReleaseSemaphoreKHR(
        sema_object: cl_semaphore_khr
    ) -> cl_int = api::semaphore::release_semaphore;
    extension clGetSemaphoreInfoKHR(
        sema_object: cl_semaphore_khr, param_name: cl_semaphore_info_khr; info
    ) -> cl_int = api::semaphore::get_semaphore_info;
    extension clEnqueueSignalSemaphoresKHR(
        command_queue: cl_command_queue, num_sema_objects: cl_uint, sema_objects: *const cl_semaphore_khr,
        sema_payload_list: *const cl_semaphore_payload_khr; events
    ) -> cl_int = api::semaphore::enqueue_signal_semaphores;
    extension clEnqueueWaitSemaphoresKHR(
        command_queue: cl_command_queue, num_sema_objects: cl_uint, sema_objects: *const cl_semaphore_khr,
        sema_payload_list: *const cl_semaphore_payload_khr; events
    ) -> cl_int = api::semaphore::enqueue_wait_semaphores;
    extension clGetSemaphoreHandleForTypeKHR(
        sema_object: cl_semaphore_khr, device: cl_device_id,
        handle_type: cl_external_semaphore_handle_type_khr, handle_size: usize, handle_ptr: *mut c_void,
        handle_size_ret: *mut usize
    ) -> cl_int = api::semaphore::get_semaphore_handle_for_type;
    extension clReImportSemaphoreSyncFdKHR(
        sema_object: cl_semaphore_khr, reimport_props: *mut cl_semaphore_reimport_properties_khr, fd: cl_int
    ) -> cl_int = api::semaphore::re_import_semaphore_sync_fd;
    extension clHostMemAllocINTEL(
        context: cl_context, properties: *const cl_mem_properties_intel, size: usize, alignment: cl_uint;
        errcode_ret
    ) -> *mut c_void = api::usm::host_mem_alloc;
    extension clDeviceMemAllocINTEL(
        context: cl_context, device: cl_device_id, properties: *const cl_mem_properties_intel, size: usize,
        alignment: cl_uint; errcode_ret
    ) -> *mut c_void = api::usm::device_mem_alloc;
    extension clSharedMemAllocINTEL(
        context: cl_context, device: cl_device_id, properties: *const cl_mem_properties_intel, size: usize,
        alignment: cl_uint; errcode_ret
    ) -> *mut c_void = api::usm::shared_mem_alloc;
    extension clMemFreeINTEL(context: cl_context, ptr: *mut c_void) -> cl_int = api::usm::mem_free;
    extension clMemBlockingFreeINTEL(
        context: cl_context, ptr: *mut c_void
    ) -> cl_int = api::usm::mem_blocking_free;
    extension clGetMemAllocInfoINTEL(
        context: cl_context, ptr: *const c_void, param_name: cl_mem_info_intel; info
    ) -> cl_int = api::usm::get_mem_alloc_info;
    extension clSetKernelArgMemPointerINTEL(
        kernel: cl_kernel, arg_index: cl_uint, arg_value: *const c_void
    ) -> cl_int = api::kernel::set_kernel_arg_mem_pointer;
    extension clEnqueueMemFillINTEL(
        command_queue: cl_command_queue, dst_ptr: *mut c_void, pattern: *const c_void, pattern_size: usize,
        size: usize; events
    ) -> cl_int = api::usm::enqueue_mem_fill;
    extension clEnqueueMemcpyINTEL(
        command_queue: cl_command_queue, blocking: cl_bool, dst_ptr: *mut c_void, src_ptr: *const c_void,
        size: usize; events
    ) -> cl_int = api::usm::enqueue_memcpy;
    extension clEnqueueMigrateMemINTEL(
        command_queue: cl_command_queue, ptr: *const c_void, size: usize, flags: cl_mem_migration_flags;
        events
    ) -> cl_int = api::usm::enqueue_migrate_mem;
    extension clEnqueueMemAdviseINTEL(
        command_queue: cl_command_queue, ptr: *const c_void, size: usize, advice: cl_mem_advice_intel; events
    ) -> cl_int = api::usm::enqueue_mem_advise;
    extension clCreateCommandBufferKHR(
        num_queues: cl_uint, queues: *const cl_command_queue,
        properties: *const cl_command_buffer_properties_khr; errcode_ret
    ) -> cl_command_buffer_khr = api::command_buffer::create_command_buffer;
    extension clRetainCommandBufferKHR(
        command_buffer: cl_command_buffer_khr
    ) -> cl_int = api::command_buffer::retain_command_buffer;
    extension clReleaseCommandBufferKHR(
        command_buffer: cl_command_buffer_khr
    ) -> cl_int = api::command_buffer::release_command_buffer;
    extension clFinalizeCommandBufferKHR(
        command_buffer: cl_command_buffer_khr
    ) -> cl_int = api::command_buffer::finalize_command_buffer;
    extension clEnqueueCommandBufferKHR(
        num_queues: cl_uint, queues: *mut cl_command_queue, command_buffer: cl_command_buffer_khr; events
    ) -> cl_int = api::command_buffer::enqueue_command_buffer;
    extension clGetCommandBufferInfoKHR(
        command_buffer: cl_command_buffer_khr, param_name: cl_command_buffer_info_khr; info
    ) -> cl_int = api::command_buffer::get_command_buffer_info;
    extension clRemapCommandBufferKHR(
        command_buffer: cl_command_buffer_khr, automatic: cl_bool, num_queues: cl_uint,
        queues: *const cl_command_queue, num_handles: cl_uint, handles: *const cl_mutable_command_khr,
        handles_ret: *mut cl_mutable_command_khr; errcode_ret
    ) -> cl_command_buffer_khr = api::command_buffer::remap::remap_command_buffer;
    extension clUpdateMutableCommandsKHR(
        command_buffer: cl_command_buffer_khr, num_configs: cl_uint,
        config_types: *const cl_command_buffer_update_type_khr, configs: *mut *const c_void
    ) -> cl_int = api::command_buffer::mutable::update_mutable_commands;
    extension clGetMutableCommandInfoKHR(
        command: cl_mutable_command_khr, param_name: cl_mutable_command_info_khr; info
    ) -> cl_int = api::command_buffer::mutable::get_mutable_command_info;
    extension clCommandBarrierWithWaitListKHR(
        command_buffer: cl_command_buffer_khr, command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr; sync_points
    ) -> cl_int = api::command_buffer::buffer::command_barrier_with_wait_list;
    extension clCommandCopyBufferKHR(
        command_buffer: cl_command_buffer_khr, command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr, src_buffer: cl_mem, dst_buffer: cl_mem,
        src_offset: usize, dst_offset: usize, size: usize; sync_points
    ) -> cl_int = api::command_buffer::buffer::command_copy_buffer;
    extension clCommandCopyBufferRectKHR(
        command_buffer: cl_command_buffer_khr, command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr, src_buffer: cl_mem, dst_buffer: cl_mem,
        src_origin: *const usize, dst_origin: *const usize, region: *const usize, src_row_pitch: usize,
        src_slice_pitch: usize, dst_row_pitch: usize, dst_slice_pitch: usize; sync_points
    ) -> cl_int = api::command_buffer::buffer::command_copy_buffer_rect;
    extension clCommandFillBufferKHR(
        command_buffer: cl_command_buffer_khr, command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr, buffer: cl_mem, pattern: *const c_void,
        pattern_size: usize, offset: usize, size: usize; sync_points
    ) -> cl_int = api::command_buffer::buffer::command_fill_buffer;
    extension clCommandNDRangeKernelKHR(
        command_buffer: cl_command_buffer_khr, command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr, kernel: cl_kernel, work_dim: cl_uint,
        global_work_offset: *const usize, global_work_size: *const usize, local_work_size: *const usize;
        sync_points
    ) -> cl_int = api::command_buffer::kernel::command_nd_range_kernel;
    extension clCommandCopyBufferToImageKHR(
        command_buffer: cl_command_buffer_khr, command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr, src_buffer: cl_mem, dst_image: cl_mem,
        src_offset: usize, dst_origin: *const usize, region: *const usize; sync_points
    ) -> cl_int = api::command_buffer::image::command_copy_buffer_to_image;
    extension clCommandCopyImageKHR(
        command_buffer: cl_command_buffer_khr, command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr, src_image: cl_mem, dst_image: cl_mem,
        src_origin: *const usize, dst_origin: *const usize, region: *const usize; sync_points
    ) -> cl_int = api::command_buffer::image::command_copy_image;
    extension clCommandCopyImageToBufferKHR(
        command_buffer: cl_command_buffer_khr, command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr, src_image: cl_mem, dst_buffer: cl_mem,
        src_origin: *const usize, region: *const usize, dst_offset: usize; sync_points
    ) -> cl_int = api::command_buffer::image::command_copy_image_to_buffer;
    extension clCommandFillImageKHR(
        command_buffer: cl_command_buffer_khr, command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr, image: cl_mem, fill_color: *const c_void,
        origin: *const usize, region: *const usize; sync_points
    ) -> cl_int = api::command_buffer::image::command_fill_image;
    extension clCommandSVMMemcpyKHR(
        command_buffer: cl_command_buffer_khr, command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr, dst_ptr: *mut c_void, src_ptr: *const c_void,
        size: usize; sync_points
    ) -> cl_int = api::command_buffer::svm::command_svm_memcpy;
    extension clCommandSVMMemFillKHR(
        command_buffer: cl_command_buffer_khr, command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr, svm_ptr: *mut c_void, pattern: *const c_void,
        pattern_size: usize, size: usize; sync_points
    ) -> cl_int = api::command_buffer::svm::command_svm_mem_fill;
}
aliases {
    clCreateCommandQueueWithPropertiesKHR = clCreateCommandQueueWithProperties;
    clCreateProgramWithILKHR = clCreateProgramWithIL;
    clGetKernelSuggestedLocalWorkSizeKHR = clGetKernelSuggestedLocalWorkSize;
}
}
