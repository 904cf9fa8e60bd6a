//! The types of handles by which devices share memory and semaphores with others.

use crate::runtime::device::Device;
use opencl_sys::{
    CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR,
    CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR,
    cl_external_memory_handle_type_khr, cl_external_semaphore_handle_type_khr,
};
use std::sync::Arc;

/// `CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR`
pub fn memory_imports(device: &Device) -> Vec<cl_external_memory_handle_type_khr> {
    let fds = &device.info().memory_fds;
    let opaque = fds.opaque.import;
    let opaque = opaque.then_some(CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR);
    let dma_buf = fds.dma_buf.import;
    let dma_buf = dma_buf.then_some(CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR);
    opaque.into_iter().chain(dma_buf).collect()
}

/// `CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR`
pub fn semaphore_imports(device: &Device) -> Vec<cl_external_semaphore_handle_type_khr> {
    let fds = &device.info().semaphore_fds;
    semaphore_types(fds.opaque.import, fds.sync.import)
}

/// `CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR`
pub fn semaphore_exports(device: &Device) -> Vec<cl_external_semaphore_handle_type_khr> {
    let fds = &device.info().semaphore_fds;
    semaphore_types(fds.opaque.export, fds.sync.export)
}

fn semaphore_types(opaque: bool, sync: bool) -> Vec<cl_external_semaphore_handle_type_khr> {
    let opaque = opaque.then_some(CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR);
    let sync = sync.then_some(CL_SEMAPHORE_HANDLE_SYNC_FD_KHR);
    opaque.into_iter().chain(sync).collect()
}

/// The handle types that every one of the devices has, in the order of the first one's.
pub fn common(
    devices: &[Arc<Device>],
    of: fn(&Device) -> Vec<cl_external_semaphore_handle_type_khr>,
) -> Vec<cl_external_semaphore_handle_type_khr> {
    let first = devices.first().map(|device| of(device)).unwrap_or_default();
    first
        .into_iter()
        .filter(|kind| devices.iter().all(|device| of(device).contains(kind)))
        .collect()
}
